//! Memory traffic: buffers of depths, headers, colours and identifiers, caches, and block compression (sections 4.2, 5.3).
//!
//! ```text
//! depth test --headers cache--> answered | --depth cache--> depth blocks  --codec--> bus
//! colours, identifiers ------------------ --colour cache--> blocks        --codec--> bus
//! ```
//!
//! A block has 256 bytes: 64 samples of 32 bits or 32 samples of 64 bits. It is raw in a cache, and takes 64, 128, 192 or
//! 256 bytes in memory by default. Access is sequential, as in the paper.

pub mod bits;
pub mod cache;
pub mod codec;
pub mod colour_offset;
pub mod depth_buffer;
pub mod depth_offset;
pub mod headers;
pub mod min_max;
pub mod palette;
pub mod spec;
pub mod traffic;
pub mod word_buffer;

use quadrille_base::error::{Error, Result};

fn blocks_of(words: usize) -> Result<u32> {
    let blocks = words.div_ceil(bits::BLOCK_WORDS);
    let found = u64::try_from(blocks).unwrap_or(u64::MAX);
    Error::check_limit("blocks of 256 bytes", (u32::MAX - 1).into(), found)?;
    Ok(u32::try_from(blocks).unwrap_or(u32::MAX))
}
