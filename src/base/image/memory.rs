//! Memory limits of pictures.

use crate::error::{Error, Result};
use crate::math::buffer::Buffer;

/// Bytes per pixel of a [`Frame`](super::Frame).
pub const FRAME_BYTES: u64 = size_of::<[f32; 4]>() as u64;

/// Refuses a picture size (width, height) that does not fit in the available memory at `bytes_per_pixel`, since a renderer
/// would abort or the system would swap.
pub fn check_memory(size: [u32; 2], bytes_per_pixel: u64) -> Result<()> {
    check_memory_beside(size, bytes_per_pixel, 0).map(drop)
}

/// Like [`check_memory`], with other data of `more` bytes; returns the bytes of both.
pub fn check_memory_beside(size: [u32; 2], bytes_per_pixel: u64, more: u64) -> Result<u64> {
    check_memory_of(size, bytes_per_pixel, more, available_bytes())
}

fn check_memory_of(
    [width, height]: [u32; 2],
    bytes_per_pixel: u64,
    more: u64,
    available: Option<u64>,
) -> Result<u64> {
    let pixels = u64::from(width) * u64::from(height);
    let needed = pixels.saturating_mul(bytes_per_pixel).saturating_add(more);
    let is_mappable = usize::try_from(needed).is_ok_and(Buffer::<u8>::can_hold);
    if is_mappable && available.is_none_or(|available| needed <= available) {
        return Ok(needed);
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let of = match available {
        // The system refuses a mapping of this size: a process can be limited below the memory of the machine.
        Some(available) if needed <= available => {
            " and in the memory that the system lets this process map".to_owned()
        }
        Some(available) => format!(" ({} available)", gigabytes(available)),
        None => String::new(),
    };
    Err(Error::argument(
        "picture size",
        format!("a picture that fits in memory{of}"),
        format!("{width} x {height} pixels, which take {}", gigabytes(needed)),
    ))
}

/// Memory available to this process, of the machine or of its control group; `None` where the system does not say.
pub fn available_bytes() -> Option<u64> {
    machine_bytes().into_iter().chain(group_bytes()).min()
}

/// Larger limits count as none: version 1 of control groups writes the greatest whole number of pages for "unlimited".
const NO_LIMIT_BYTES: u64 = 1 << 60;

fn group_bytes() -> Option<u64> {
    // Files of control groups, versions 2 and 1, where a container finds its own group.
    [
        ["/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "],
        [
            "/sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ],
    ]
    .into_iter()
    .find_map(|[folder, limit, used, cached]| {
        let text = |name| std::fs::read_to_string(format!("{folder}/{name}")).ok();
        let number = |name| text(name)?.trim().parse::<u64>().ok();
        // Usage matters only below a limit, and takes longer to read than everything else.
        let limit = number(limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
        let used = number(used)?;
        let statistics = text("memory.stat").unwrap_or_default();
        let cached = statistics.lines().find_map(|line| line.strip_prefix(cached)?.parse().ok());
        Some(limit.saturating_sub(used).saturating_add(cached.unwrap_or(0)))
    })
}

fn machine_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_beyond_memory_are_refused_with_their_size() {
        check_memory([640, 480], FRAME_BYTES).unwrap();
        check_memory_of([1024, 1024], 16, 0, Some(16 << 20)).unwrap();
        assert!(check_memory_of([1024, 1024], 17, 0, Some(16 << 20)).is_err());
        assert!(check_memory_of([1024, 1024], 16, 1, Some(16 << 20)).is_err());
        let error = check_memory_of([32768, 32768], 16, 0, Some(8_100_000_000)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("17.2 GB") && text.contains("(8.1 GB available)"), "{text}");
        assert!(check_memory_of([u32::MAX; 2], 16, 0, None).is_err());
    }
}
