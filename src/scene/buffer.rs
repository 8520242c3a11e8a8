//! Large zeroed arrays on huge pages.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// From this size on an array gets a mapping of its own, in bytes: a huge page of x86-64. Touching
/// fresh 4 KiB pages costs more than decoding the splats that go into them.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A fixed array, zeroed at birth, on huge pages where it is large and the system has them.
pub(super) struct Buffer<T> {
    storage: Storage<T>,
}

enum Storage<T> {
    Heap(Vec<T>),
    Mapped { map: MmapMut, len: usize },
}

impl<T: Pod> Buffer<T> {
    /// `len` zeroed items.
    pub(super) fn zeroed(len: usize) -> Self {
        let mapped = len
            .checked_mul(size_of::<T>())
            .filter(|bytes| *bytes >= HUGE_PAGE_BYTES)
            .and_then(|bytes| MmapMut::map_anon(bytes).ok());
        let storage = match mapped {
            Some(map) => {
                // Without huge pages it is only slower.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Storage::Mapped { map, len }
            }
            None => Storage::Heap(vec![T::zeroed(); len]),
        };
        Self { storage }
    }

    /// Keeps the first `len` items; no effect if there are fewer.
    pub(super) fn truncate(&mut self, len: usize) {
        match &mut self.storage {
            Storage::Heap(items) => items.truncate(len),
            Storage::Mapped { len: mapped, .. } => *mapped = len.min(*mapped),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(items: Vec<T>) -> Self {
        Self {
            storage: Storage::Heap(items),
        }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.storage {
            Storage::Heap(items) => items,
            Storage::Mapped { map, len } => bytemuck::cast_slice(&map[..len * size_of::<T>()]),
        }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.storage {
            Storage::Heap(items) => items,
            Storage::Mapped { map, len } => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_arrays_behave_alike() {
        for len in [0, 3, HUGE_PAGE_BYTES / 4, HUGE_PAGE_BYTES] {
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
