//! Splats' quads through a merging unit.

use super::picture::Blending;
use super::{SPLATS_A_GRID, SplatQuads, topology};
use crate::gpu::draw::Draw;
use crate::gpu::warp::fragment::FragmentShader;
use crate::image::Frame;
use crate::mesh::merge::MergeUnitKind;
use crate::mesh::merge::{DisjointSet, MergeDriver, MergeStream, QfmCounters};

/// What a unit made of a draw's splats.
#[derive(Debug, Clone)]
pub struct SplatsMerged {
    /// Quads in that cover a sample.
    pub quads: u64,
    /// Quads out.
    pub shaded: u64,
    /// Quads in, also those without coverage, of which any cell is shaded with a quad of another
    /// splat.
    pub between_splats: u64,
    /// The unit's own counters, where it is quad-fragment merging.
    pub qfm: Option<QfmCounters>,
    /// The picture when quads are blended in the order in which they leave the unit.
    pub picture: Frame,
}

impl SplatsMerged {
    /// Quads that are not shaded any more.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.quads - self.shaded
    }
}

/// Sends the quads of a draw through a unit, whatever the unit's own rules say of their shader.
///
/// The unit is not emptied between grids, as hardware would not: quads that are fully covered leave
/// it at once and overtake those of earlier splats.
#[must_use]
pub fn merged(
    quads: &SplatQuads,
    draw: &Draw,
    shader: FragmentShader<'_>,
    unit: MergeUnitKind,
) -> SplatsMerged {
    let mut blending = Blending::new(quads, draw, shader);
    let mut driver = MergeDriver::new(unit.unit(), quads.pattern);
    let boxes = topology();
    let mut grid = None;
    let mut shaded = 0;
    let mut blend = |stream: &mut MergeStream| {
        for quad in stream.out.drain(..) {
            shaded += 1;
            blending.blend(&quad);
        }
    };
    for quad in &quads.quads {
        let of = quad.splat / SPLATS_A_GRID;
        if grid != Some(of) {
            grid = Some(of);
            driver.unit.begin_grid(&boxes);
        }
        driver.push(&quad.fragment(), false);
        blend(&mut driver.stream);
    }
    driver.flush();
    blend(&mut driver.stream);
    SplatsMerged {
        quads: quads.covered(),
        shaded,
        between_splats: between_splats(quads, &driver.stream.fragments),
        qfm: driver.counters().qfm,
        picture: blending.resolve(),
    }
}

/// Quads with a cell that is shaded with a quad of another splat: looked up one by one.
fn between_splats(quads: &SplatQuads, merged: &DisjointSet) -> u64 {
    let all = quads.quads.iter().zip(0..);
    let is_between = |&(quad, number): &(&super::SplatQuad, u32)| {
        (0..4).any(|cell| {
            let root = merged.find(number, cell);
            quads.quads[root as usize].splat != quad.splat
        })
    };
    all.filter(is_between).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::splats::SplatQuad;
    use crate::raster::samples::SamplePattern;

    /// The counter counts: merges are made by hand, for no unit makes them.
    #[test]
    fn merges_between_splats_are_seen() {
        let quad = |splat, half| SplatQuad {
            coverage: 1,
            splat,
            position: [3, 4],
            centres: 1,
            half,
            is_front: true,
        };
        let quads = SplatQuads {
            quads: vec![quad(0, 0), quad(0, 1), quad(1, 0), quad(1, 1)],
            pattern: SamplePattern::standard(1).unwrap().shared(),
            size: [16, 16],
        };
        let mut merges = DisjointSet::default();
        (0..4).for_each(|k| assert_eq!(merges.push(), k));
        assert_eq!(between_splats(&quads, &merges), 0);
        merges.merge(1, 0);
        assert_eq!(between_splats(&quads, &merges), 0);
        merges.merge_cell(3, 0, 2);
        assert_eq!(between_splats(&quads, &merges), 1);
        merges.merge(2, 1);
        assert_eq!(between_splats(&quads, &merges), 2);
    }
}
