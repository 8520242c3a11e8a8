//! Scan of the sorted identifiers of a tile: a state machine that finds primitives and shading quads (section 4.3).

use super::radix::SortEntry;

/// A shading quad, and the sorted entries of the samples that take its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadingQuad {
    /// Primitive id: position in submission order, from 1.
    pub primitive: u32,
    /// Morton position of the quad in the primitive's grid.
    pub quad: u32,
    /// Index of the quad's first sorted entry.
    pub first: u32,
    /// Number of sorted entries of the quad.
    pub count: u32,
}

impl ShadingQuad {
    /// Returns the entries of the quad from the sorted entries of the tile.
    #[inline]
    pub fn entries<'a>(&self, sorted: &'a [SortEntry]) -> &'a [SortEntry] {
        &sorted[self.first as usize..][..self.count as usize]
    }

    /// Mask of the points of the quad that samples use: bit `k` for point `k`.
    #[inline]
    pub fn wanted(&self, sorted: &[SortEntry]) -> u8 {
        self.entries(sorted).iter().fold(0, |wanted, entry| wanted | 1 << entry.spid.corner())
    }
}

/// Iterates over the shading quads of sorted entries, by primitive and Morton position; skips the background.
pub fn quads(sorted: &[SortEntry]) -> impl Iterator<Item = ShadingQuad> + '_ {
    let mut first = sorted.partition_point(|entry| entry.spid.is_background());
    std::iter::from_fn(move || {
        let (primitive, quad) = sorted.get(first)?.spid.quad();
        let rest = &sorted[first..];
        let count = rest.iter().take_while(|entry| entry.spid.quad() == (primitive, quad)).count();
        let narrow = |v: usize| u32::try_from(v).unwrap_or(u32::MAX);
        let found = ShadingQuad { primitive, quad, first: narrow(first), count: narrow(count) };
        first += count;
        Some(found)
    })
}
