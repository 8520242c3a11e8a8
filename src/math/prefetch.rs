//! Asking for a cache line before it is needed.

/// Asks for the cache line of `values[index]`; does nothing when there is no such value or the
/// machine has no such instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(index) {
        #[allow(unsafe_code, reason = "a hint without architectural effect")]
        // SAFETY: prefetching reads nothing, and the address is that of a live value.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
