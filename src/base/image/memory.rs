//! The memory that pictures take.

use crate::error::{Error, Result};
use crate::math::buffer::Buffer;

/// Refuses pictures of a size (width, height) whose pixels do not fit in the available memory; a
/// renderer would abort.
pub fn check_memory(size: [u32; 2]) -> Result<()> {
    check_memory_of(size, available_bytes())
}

fn check_memory_of([width, height]: [u32; 2], available: Option<u64>) -> Result<()> {
    let needed = u64::from(width) * u64::from(height) * size_of::<[f32; 4]>() as u64;
    let is_mappable = usize::try_from(needed).is_ok_and(Buffer::<u8>::can_hold);
    if is_mappable && available.is_none_or(|available| needed <= available) {
        return Ok(());
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let of = available.map_or(String::new(), |bytes| {
        format!(" ({} available)", gigabytes(bytes))
    });
    Err(Error::argument(
        "picture size",
        format!("a picture that fits in memory{of}"),
        format!(
            "{width} x {height} pixels, which take {}",
            gigabytes(needed)
        ),
    ))
}

/// Memory available to this process; `None` where the system does not say.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_beyond_memory_are_refused_with_their_size() {
        check_memory([640, 480]).unwrap();
        check_memory_of([1024, 1024], Some(16 << 20)).unwrap();
        let error = check_memory_of([32768, 32768], Some(8_100_000_000)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("17.2 GB") && text.contains("(8.1 GB available)"),
            "{text}"
        );
        assert!(check_memory_of([u32::MAX; 2], None).is_err());
    }
}
