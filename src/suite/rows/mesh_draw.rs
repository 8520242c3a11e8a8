use quadrille_base::units::cycles_to_ms;
use serde::{Deserialize, Serialize};

use super::mesh::TimedMeshRow;

/// Draws of meshes before the splats, one after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeshDrawRow {
    /// Sum of the cycles of all draws.
    pub cycles: u64,
    /// Duration of `cycles` at the emulated clock in milliseconds.
    pub frame_ms: f64,
    /// The draw of each mesh, in order.
    pub meshes: Vec<DrawnMeshRow>,
}

/// The draw of a mesh before the splats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnMeshRow {
    /// Mesh as the command names it.
    pub mesh: String,
    /// Cycles and counters of the draw.
    #[serde(flatten)]
    pub timed: TimedMeshRow,
}

/// Cycles of the draws of meshes and of splats together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CyclesWithMeshes {
    /// Sum of the cycles of all draws.
    pub cycles_with_meshes: u64,
    /// Duration of the sum at the emulated clock in milliseconds.
    pub frame_ms_with_meshes: f64,
}

impl MeshDrawRow {
    /// Sums the draws up, for a clock of `clock_mhz`.
    pub fn new(meshes: Vec<DrawnMeshRow>, clock_mhz: f64) -> Self {
        let cycles = meshes.iter().map(|mesh| mesh.timed.cycles).sum();
        Self { cycles, frame_ms: cycles_to_ms(cycles, clock_mhz), meshes }
    }

    /// The draws of the meshes, and the draw of the splats in `cycles` and `frame_ms` behind them.
    pub fn with_splats(&self, cycles: u64, frame_ms: f64) -> CyclesWithMeshes {
        CyclesWithMeshes {
            cycles_with_meshes: self.cycles + cycles,
            frame_ms_with_meshes: self.frame_ms + frame_ms,
        }
    }

    /// Counters of the draws that do not add up, each with its mesh; empty unless the simulator has a bug.
    pub fn discrepancies(&self) -> impl Iterator<Item = String> {
        self.meshes.iter().flat_map(|DrawnMeshRow { mesh, timed }| {
            timed.discrepancies.iter().map(move |text| format!("{mesh}: {text}"))
        })
    }
}
