//! Large arrays on huge pages, and atomic access for threads that fill them.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

use bytemuck::{Pod, Zeroable};
use memmap2::MmapMut;

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Arrays of at least this size get a mapping: touching fresh 4 KiB pages costs more than decoding splats into them.
const MAPPED_BYTES: usize = HUGE_PAGE_BYTES / 2;

/// Maps `bytes` zeros, rounded up to whole huge pages, since Linux aligns such a mapping to a huge page.
fn map_zeros(bytes: usize) -> std::io::Result<MmapMut> {
    MmapMut::map_anon(bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).unwrap_or(bytes))
}

/// A zero-initialised array of fixed length, on huge pages if it is large and the system has them.
pub enum Buffer<T> {
    /// A small array on the heap.
    Heap(Vec<T>),
    /// An anonymous mapping; pages are touched on the first write.
    Mapped {
        /// Memory mapping that holds the elements.
        map: MmapMut,
        /// Number of elements.
        len: usize,
    },
}

impl<T: Pod> Buffer<T> {
    /// Creates an array of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        let mapped = len
            .checked_mul(size_of::<T>())
            .filter(|bytes| *bytes >= MAPPED_BYTES)
            .and_then(|bytes| map_zeros(bytes).ok());
        match mapped {
            Some(map) => {
                // Without huge pages, access is slower but correct.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Self::Mapped { map, len }
            }
            None => Self::Heap(vec![T::zeroed(); len]),
        }
    }

    /// Whether the process has enough address space left for `len` items.
    pub(crate) fn can_hold(len: usize) -> bool {
        let bytes = len.checked_mul(size_of::<T>());
        bytes.is_some_and(|bytes| bytes < MAPPED_BYTES || map_zeros(bytes).is_ok())
    }

    /// Grows to at least `len` items. If it has to grow, all items are zero afterwards.
    pub fn reserve_zeroed(&mut self, len: usize) {
        if self.len() < len {
            // The old array is freed first, so that memory never holds both.
            *self = Self::default();
            *self = Self::zeroed(len);
        }
    }

    /// Keeps the first `len` items; has no effect if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        match self {
            Self::Heap(items) => items.truncate(len),
            Self::Mapped { len: mapped, .. } => *mapped = len.min(*mapped),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Heap(items)
    }
}

impl<T: Pod> Default for Buffer<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Heap(items) => items,
            Self::Mapped { map, len } => bytemuck::cast_slice(&map[..len * size_of::<T>()]),
        }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Heap(items) => items,
            Self::Mapped { map, len } => {
                bytemuck::cast_slice_mut(&mut map[..*len * size_of::<T>()])
            }
        }
    }
}

impl<T: Pod> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).finish()
    }
}

/// Views words as atomics, for threads that fill disjoint parts of an array; relaxed accesses cost as much as plain ones.
pub fn as_atomic_u64(words: &mut [u64]) -> &[AtomicU64] {
    #[allow(unsafe_code, reason = "the standard library's cast is unstable")]
    // SAFETY: the types have one layout and, on every 64-bit target, one alignment; the exclusive
    // borrow lasts as long as the shared one.
    unsafe {
        const { assert!(align_of::<u64>() == align_of::<AtomicU64>()) };
        &*(std::ptr::from_mut(words) as *const [AtomicU64])
    }
}

/// A cache line of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [f32; 16]);

/// Lines written past the caches, since an ordinary store to uncached memory reads the line first. They pay off if lines
/// are written whole, and would have left the caches before they are read.
#[derive(Debug)]
pub struct StreamedLines<'a>(&'a mut [Line]);

/// Calls `write` with write-only lines. Afterwards, all threads see the values.
pub fn stream_lines<R>(lines: &mut [Line], write: impl FnOnce(&mut StreamedLines<'_>) -> R) -> R {
    // The lines are borrowed until the fence of `drop`, which also follows a panic.
    write(&mut StreamedLines(lines))
}

impl StreamedLines<'_> {
    /// Number of lines.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes a whole line past the caches.
    ///
    /// # Panics
    /// When there is no line of that index.
    #[inline(always)]
    pub fn store(&mut self, index: usize, values: Line) {
        let line = &mut self.0[index];
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "no safe store goes past the caches")]
        // SAFETY: SSE is part of x86-64; the quarters of a line lie in it and are aligned to their size; nothing else
        // reads or writes the line until `drop` has made it visible.
        unsafe {
            use std::arch::x86_64::{_mm_loadu_ps, _mm_stream_ps};
            for quarter in (0..16).step_by(4) {
                let part = _mm_loadu_ps(values.0.as_ptr().add(quarter));
                _mm_stream_ps(line.0.as_mut_ptr().add(quarter), part);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            *line = values;
        }
    }
}

impl Drop for StreamedLines<'_> {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "orders the stores past the caches before all later ones")]
        // SAFETY: SSE is part of x86-64, and a fence accesses no memory.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Cache level that a prefetch fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLevel {
    /// For lines that are needed soon.
    First,
    /// For lines that are needed later: more of them may be in flight than to the first level.
    Second,
}

/// Prefetches the cache line of `values[index]`, even beyond its end, if the machine has such an instruction.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    prefetch_to(CacheLevel::First, values, index);
}

/// As [`prefetch`], for each line of `len` values from `first` on.
#[inline(always)]
pub fn prefetch_range<T>(values: &[T], first: usize, len: usize) {
    for at in (0..len).step_by(size_of::<Line>() / size_of::<T>()) {
        prefetch(values, first.wrapping_add(at));
    }
}

/// As [`prefetch`], into a chosen cache level.
#[inline(always)]
pub fn prefetch_to<T>(level: CacheLevel, values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "a hint without architectural effect")]
    // SAFETY: prefetching reads nothing and traps at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = values.as_ptr().wrapping_add(index).cast();
        match level {
            CacheLevel::First => _mm_prefetch::<_MM_HINT_T0>(line),
            CacheLevel::Second => _mm_prefetch::<_MM_HINT_T1>(line),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (level, values, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_lines_are_seen_by_other_threads() {
        let mut lines = vec![Line::zeroed(); 1000];
        let line = |index: usize| Line(std::array::from_fn(|i| (index * 16 + i) as f32));
        for _ in 0..100 {
            lines.fill(Line::zeroed());
            stream_lines(&mut lines, |streamed| {
                assert_eq!(streamed.len(), 1000);
                (0..1000).rev().for_each(|i| streamed.store(i, line(i)));
            });
            std::thread::scope(|scope| {
                let reader = || assert!((0..1000).all(|i| lines[i] == line(i)));
                scope.spawn(reader);
            });
        }
    }

    #[test]
    fn small_and_large_arrays_behave_alike() {
        for len in [0, 3, MAPPED_BYTES / 4, HUGE_PAGE_BYTES / 4 + 1, HUGE_PAGE_BYTES] {
            let mut buffer = Buffer::<f32>::zeroed(len);
            assert!(buffer.iter().all(|v| *v == 0.0));
            buffer.iter_mut().for_each(|v| *v = 1.0);
            assert!(buffer.clone() == buffer);
            buffer.truncate(2);
            assert!(buffer.iter().all(|v| *v == 1.0));
            assert_eq!(buffer.len(), len.min(2));
        }
    }
}
