use std::sync::Arc;

use serde_json::{Map, Value};

use super::message::{ProbeRequest, Shot};
use quadrille_base::image::Frame;
use quadrille_base::math::low;
use quadrille_gpu::variant::Variant;
use quadrille_suite::report::maps::{self, PixelMap};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunKey {
    pub(crate) generation: u32,
    /// The shot of [`Shot::of_scene`].
    pub(crate) shot: Shot,
    pub(crate) variant: Variant,
}

/// Counts per pixel in the narrowest sufficient integers, since several runs are kept.
#[derive(Debug, PartialEq)]
pub(crate) enum Counts {
    Bytes(Vec<u8>),
    Halves(Vec<u16>),
    Words(Vec<u32>),
}

impl Counts {
    pub(crate) fn new(counts: Vec<u32>) -> Self {
        match counts.iter().copied().max().unwrap_or(0) {
            0..=0xff => Self::Bytes(counts.into_iter().map(low).collect()),
            0x100..=0xffff => Self::Halves(counts.into_iter().map(low).collect()),
            _ => Self::Words(counts),
        }
    }

    fn get(&self, pixel: usize) -> u32 {
        match self {
            Self::Bytes(counts) => counts[pixel].into(),
            Self::Halves(counts) => counts[pixel].into(),
            Self::Words(counts) => counts[pixel],
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<u32> {
        match self {
            Self::Bytes(counts) => counts.iter().copied().map(u32::from).collect(),
            Self::Halves(counts) => counts.iter().copied().map(u32::from).collect(),
            Self::Words(counts) => counts.clone(),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Self::Bytes(counts) => counts.len(),
            Self::Halves(counts) => 2 * counts.len(),
            Self::Words(counts) => 4 * counts.len(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct RunMaps {
    pub(crate) cycles: u64,
    pub(crate) maps: Vec<(PixelMap, Counts)>,
}

impl RunMaps {
    pub(crate) fn size_bytes(&self) -> usize {
        self.maps.iter().map(|(_, counts)| counts.size_bytes()).sum()
    }
}

#[derive(Debug)]
pub(crate) struct ShownMap {
    pub(crate) map: PixelMap,
    pub(crate) key: RunKey,
    pub(crate) run: Arc<RunMaps>,
}

impl ShownMap {
    /// The picture that `sim --maps` writes, with its scale.
    pub(crate) fn picture(&self) -> Option<Frame> {
        let (_, counts) = self.run.maps.iter().find(|(map, _)| *map == self.map)?;
        let (counts, method) = (counts.to_vec(), self.key.variant.to_string());
        let scale = self.map.scale(&counts);
        Some(maps::picture(&self.map, &method, self.key.shot.size(), &counts, scale))
    }

    /// Counts of all maps at a pixel, if the run belongs to the same picture.
    pub(crate) fn values(&self, probe: &ProbeRequest) -> Map<String, Value> {
        if self.key.shot != probe.shot.of_scene() {
            return Map::new();
        }
        let pixel = probe.y as usize * probe.shot.w as usize + probe.x as usize;
        let values = self.run.maps.iter();
        values.map(|(map, counts)| (map.name.to_owned(), counts.get(pixel).into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_in_the_narrowest_integers() {
        for (largest, bytes) in
            [(0, 3), (255, 3), (256, 6), (65_535, 6), (65_536, 12), (u32::MAX, 12)]
        {
            let counts = Counts::new(vec![1, largest, 0]);
            assert_eq!((counts.size_bytes(), counts.get(1)), (bytes, largest));
            assert_eq!(counts.to_vec(), [1, largest, 0]);
        }
    }
}
