//! Flags of `mesh` for choices that the papers leave open.

use super::super::outputs::parse_numbers;
use crate::cli::choice::one_of;
use quadrille_mesh::reorder::TriangleOrder;
use quadrille_mesh::surface::{Bumps, HAIRS, HairOrder, HeightFilter, MAX_HAIRS, ProceduralScene};
use quadrille_mesh::tessellate::GridOrder;

/// Assumptions that decide results and that the papers do not state.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Assumptions")]
pub(in crate::cli) struct AssumptionFlags {
    /// Order of the triangles inside a tessellated grid
    #[arg(long, value_name = "ORDER", value_parser = one_of::<GridOrder>())]
    pub(super) grid_order: Option<GridOrder>,
    /// Order of the triangles of a mesh that is drawn as it is, within each draw and material
    #[arg(long, value_name = "ORDER", value_parser = one_of::<TriangleOrder>())]
    pub(super) reorder: Option<TriangleOrder>,
    /// Interpolation between the texels of --displace
    #[arg(long, value_name = "FILTER", value_parser = one_of::<HeightFilter>(), requires = "displace")]
    displace_filter: Option<HeightFilter>,
    /// Displacement of the frog: cells of noise per world unit, and their height in world units
    /// [default: 120,0.02]
    #[arg(long, value_name = "CELLS,HEIGHT", value_parser = parse_bumps)]
    pub(super) bumps: Option<Bumps>,
    /// Number of hairs of the furball [default: 6000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_HAIRS)))]
    hairs: Option<u32>,
    /// Order of the hairs of the furball
    #[arg(long, value_name = "ORDER", value_parser = one_of::<HairOrder>())]
    hair_order: Option<HairOrder>,
    /// Seed of procedural meshes, armies and random orders [default: 1]
    #[arg(long)]
    seed: Option<u64>,
}

/// What a command draws, for warnings of flags without effect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) scene: Option<ProceduralScene>,
    pub(super) is_army: bool,
    pub(super) is_tessellated: bool,
}

impl AssumptionFlags {
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    pub(super) fn hairs(&self) -> (u32, HairOrder) {
        let order = self.hair_order.unwrap_or_default();
        (self.hairs.unwrap_or(HAIRS), order)
    }

    pub(super) fn height_filter(&self) -> HeightFilter {
        self.displace_filter.unwrap_or_default()
    }

    /// Flags that are given and have no effect, and what they are for.
    pub(super) fn idle(&self, drawn: Drawn) -> Vec<(&'static str, &'static str)> {
        let grid_is_random = drawn.is_tessellated && self.grid_order == Some(GridOrder::Random);
        let mesh_is_random = self.reorder == Some(TriangleOrder::Random);
        let scene_is_random = drawn.is_army || drawn.scene.is_some();
        let is_random = scene_is_random || grid_is_random || mesh_is_random;
        let is_fur = drawn.scene == Some(ProceduralScene::FurBall);
        let is_frog = drawn.scene == Some(ProceduralScene::Frog);
        let random = "procedural meshes, armies and random orders";
        let polygons = "polygons that are drawn as they are, without --tessellate";
        let surfaces = "tessellated surfaces";
        [
            ("--hairs", self.hairs.is_some() && !is_fur, "the furball"),
            (
                "--hair-order",
                self.hair_order.is_some() && !is_fur,
                "the furball",
            ),
            ("--bumps", self.bumps.is_some() && !is_frog, "the frog"),
            ("--seed", self.seed.is_some() && !is_random, random),
            (
                "--reorder",
                self.reorder.is_some() && drawn.is_tessellated,
                polygons,
            ),
            (
                "--grid-order",
                self.grid_order.is_some() && !drawn.is_tessellated,
                surfaces,
            ),
        ]
        .into_iter()
        .filter(|(_, is_idle, _)| *is_idle)
        .map(|(flag, _, needed)| (flag, needed))
        .collect()
    }
}

fn parse_bumps(text: &str) -> Result<Bumps, String> {
    let [frequency, height] = parse_numbers(text).ok_or("expected two numbers as in 120,0.02")?;
    let fits = |x: f32, most: f32| (0.0..=most).contains(&x);
    match fits(frequency, 1e4) && fits(height, 10.0) {
        true => Ok(Bumps { frequency, height }),
        false => Err("expected 0 to 10000 cells and a height from 0 to 10".to_owned()),
    }
}
