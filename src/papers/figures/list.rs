//! The list of figures and tables, in the order of the page.

use super::results::{DESKTOP, ORIN, PAPER_PRESET};
use super::{
    Basis, Need, Spec, Views, alternatives, configuration, diagrams, frames, further,
    microbenchmarks, motivation, speedups, termination,
};

const fn first(methods: &'static [&'static str]) -> Need {
    Need {
        views: Views::First,
        preset: PAPER_PRESET,
        methods,
    }
}

const fn first_on(preset: &'static str, methods: &'static [&'static str]) -> Need {
    Need {
        preset,
        ..first(methods)
    }
}

const fn all(methods: &'static [&'static str]) -> Need {
    Need {
        views: Views::All,
        ..first(methods)
    }
}

const VARIANTS: &[&str] = &["baseline", "qm", "het", "het+qm"];

const MOTIVATION: &str = "Motivation";
const ALTERNATIVES: &str = "Software on graphics hardware";
const DIAGRAMS: &str = "Diagrams and timelines";
const SETUP: &str = "Configuration and scenes";
const RESULTS: &str = "Results";
const ANALYSIS: &str = "Hardware analysis";
const DISCUSSION: &str = "Discussion";

/// All figures and tables of the paper.
pub const ALL: [Spec; 26] = [
    Spec {
        id: "fig1",
        number: "Figure 1",
        title: "Shader cores and render output units of desktop GPUs",
        part: MOTIVATION,
        basis: Basis::Specifications,
        needs: &[],
        assumptions: &["cores.cores", "crop.bytes_per_cycle"],
        draw: motivation::figure_1,
    },
    Spec {
        id: "fig5",
        number: "Figure 5",
        title: "Frame times of software and hardware rendering",
        part: MOTIVATION,
        basis: Basis::Modelled,
        needs: &[
            first_on(ORIN, &["baseline", "compute"]),
            first_on(DESKTOP, &["baseline", "compute"]),
            first(&["compute", "compute-aabb"]),
        ],
        assumptions: &[
            "kernels.bandwidth_share",
            "kernels.sort_bandwidth_share",
            "kernels.readback_ns",
            "compute.registers_per_thread",
        ],
        draw: motivation::figure_5,
    },
    Spec {
        id: "fig6",
        number: "Figure 6",
        title: "Throughput utilisation of the units in a draw",
        part: MOTIVATION,
        basis: Basis::Emulated,
        needs: &[first(&["baseline"]), first_on(ORIN, &["baseline"])],
        assumptions: &[
            "cores.fragment_instructions",
            "prop.quads_out_per_cycle",
            "crop.blend_cycles",
        ],
        draw: motivation::figure_6,
    },
    Spec {
        id: "fig7",
        number: "Figure 7",
        title: "Fragments per pixel with and without early termination",
        part: MOTIVATION,
        basis: Basis::Emulated,
        needs: &[first(&["baseline", "het"])],
        assumptions: &["zrop.update_cycles"],
        draw: termination::figure_7,
    },
    Spec {
        id: "fig8",
        number: "Figure 8",
        title: "Speedup of software rendering by early termination",
        part: MOTIVATION,
        basis: Basis::Emulated,
        needs: &[first(&["compute", "compute:none"])],
        assumptions: &["compute.stop_instructions", "compute.blend_instructions"],
        draw: termination::figure_8,
    },
    Spec {
        id: "fig9",
        number: "Figure 9",
        title: "Lanes of a warp that blend in software rendering",
        part: MOTIVATION,
        basis: Basis::Emulated,
        needs: &[first(&["compute"])],
        assumptions: &[],
        draw: termination::figure_9,
    },
    Spec {
        id: "fig10",
        number: "Figure 10",
        title: "Blending in the shader instead of the ROPs",
        part: ALTERNATIVES,
        basis: Basis::Emulated,
        needs: &[first(&["baseline", "shader-blend", "interlock"])],
        assumptions: &[
            "interlock.regions",
            "shader_blend.instructions",
            "l2.latency_ns",
        ],
        draw: alternatives::figure_10,
    },
    Spec {
        id: "fig11",
        number: "Figure 11",
        title: "Early termination in software, by number of passes",
        part: ALTERNATIVES,
        basis: Basis::Emulated,
        needs: &[first(&[
            "baseline",
            "het",
            "multipass:2",
            "multipass:4",
            "multipass:8",
            "multipass:16",
            "multipass:32",
            "multipass:64",
        ])],
        assumptions: &["passes.draw_gap_cycles", "passes.update_instructions"],
        draw: alternatives::figure_11,
    },
    Spec {
        id: "fig2",
        number: "Figure 2",
        title: "The rendering pipeline",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["baseline"])],
        assumptions: &[],
        draw: diagrams::figure_2,
    },
    Spec {
        id: "fig3",
        number: "Figure 3",
        title: "The GPU and its graphics units",
        part: DIAGRAMS,
        basis: Basis::Configuration,
        needs: &[],
        assumptions: &["gpu.tile_mapping", "cores.warps_per_core"],
        draw: diagrams::figure_3,
    },
    Spec {
        id: "fig4",
        number: "Figure 4",
        title: "Steps of rendering splats with a graphics API",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["baseline"])],
        assumptions: &[],
        draw: diagrams::figure_4,
    },
    Spec {
        id: "fig12",
        number: "Figure 12",
        title: "The units of VR-Pipe",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["baseline", "het+qm"])],
        assumptions: &[
            "coarse.tiles_per_cycle",
            "tc.tiles_in_per_cycle",
            "qru.quads_per_cycle",
        ],
        draw: diagrams::figure_12,
    },
    Spec {
        id: "fig13",
        number: "Figure 13",
        title: "Early termination in ZROP and CROP",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["baseline", "het"])],
        assumptions: &["zrop.update_cycles", "zrop.update_queue"],
        draw: diagrams::figure_13,
    },
    Spec {
        id: "fig14",
        number: "Figure 14",
        title: "The pipeline of quad merging",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["qm"])],
        assumptions: &["qru.quads_per_cycle", "qru.buffers", "tc.timeout_cycles"],
        draw: diagrams::figure_14,
    },
    Spec {
        id: "fig15",
        number: "Figure 15",
        title: "Timelines of a draw",
        part: DIAGRAMS,
        basis: Basis::Emulated,
        needs: &[first(&["baseline", "het+qm"])],
        assumptions: &["cores.merge_instructions", "cores.merge_latency_cycles"],
        draw: diagrams::figure_15,
    },
    Spec {
        id: "table1",
        number: "Table I",
        title: "Configuration of the simulated GPU",
        part: SETUP,
        basis: Basis::Configuration,
        needs: &[],
        assumptions: &[],
        draw: configuration::table_1,
    },
    Spec {
        id: "table2",
        number: "Table II",
        title: "Scenes",
        part: SETUP,
        basis: Basis::Emulated,
        needs: &[first(&["baseline"])],
        assumptions: &[],
        draw: configuration::table_2,
    },
    Spec {
        id: "fig16",
        number: "Figure 16",
        title: "Speedup of VR-Pipe over the baseline GPU",
        part: RESULTS,
        basis: Basis::Emulated,
        needs: &[all(VARIANTS)],
        assumptions: &[
            "qru.quads_per_cycle",
            "prop.quads_out_per_cycle",
            "crop.blend_cycles",
            "tc.quads_out_per_cycle",
            "tc.tiles_in_per_cycle",
            "coarse.tiles_per_cycle",
        ],
        draw: speedups::figure_16,
    },
    Spec {
        id: "fig18",
        number: "Figure 18",
        title: "Reduction of the quads and fragments that the ROPs blend",
        part: RESULTS,
        basis: Basis::Emulated,
        needs: &[all(VARIANTS)],
        assumptions: &["tc.timeout_cycles", "zrop.update_cycles"],
        draw: speedups::figure_18,
    },
    Spec {
        id: "fig17",
        number: "Figure 17",
        title: "Whole frames against software and hardware rendering",
        part: RESULTS,
        basis: Basis::Modelled,
        needs: &[first(&["baseline", "het+qm", "compute"])],
        assumptions: &[
            "kernels.bandwidth_share",
            "kernels.sort_bandwidth_share",
            "kernels.gap_ns",
            "kernels.readback_ns",
            "frame.key_bytes",
        ],
        draw: frames::figure_17,
    },
    Spec {
        id: "fig19",
        number: "Figure 19",
        title: "Energy of a draw",
        part: RESULTS,
        basis: Basis::Modelled,
        needs: &[first(VARIANTS)],
        assumptions: &[
            "energy.static_share",
            "energy.rail_w",
            "energy.dram_pj_per_bit",
            "energy.register_words",
            "energy.wire_mm",
        ],
        draw: frames::figure_19,
    },
    Spec {
        id: "table3",
        number: "Table III",
        title: "Storage that VR-Pipe adds",
        part: RESULTS,
        basis: Basis::Configuration,
        needs: &[first(&["het+qm"])],
        assumptions: &["qru.buffers", "tgc.fetch_queue", "zrop.update_queue"],
        draw: configuration::table_3,
    },
    Spec {
        id: "fig20",
        number: "Figure 20",
        title: "Microbenchmarks of the ROPs and tile bins",
        part: ANALYSIS,
        basis: Basis::Emulated,
        needs: &[],
        assumptions: &["crop.cache_ways", "crop.wait_queue", "tc.timeout_cycles"],
        draw: microbenchmarks::figure_20,
    },
    Spec {
        id: "fig21",
        number: "Figure 21",
        title: "Early termination ratio by viewpoint",
        part: DISCUSSION,
        basis: Basis::Emulated,
        needs: &[all(&["baseline", "het"])],
        assumptions: &["zrop.update_cycles"],
        draw: termination::figure_21,
    },
    Spec {
        id: "fig22",
        number: "Figure 22",
        title: "VR-Pipe beside the accelerator GSCore",
        part: DISCUSSION,
        basis: Basis::Modelled,
        needs: &[first(&["het+qm", "gscore"])],
        assumptions: &[
            "gscore.cores",
            "gscore.units_per_core",
            "gscore.culling_cycles",
            "gscore.chunk",
        ],
        draw: further::figure_22,
    },
    Spec {
        id: "fig23",
        number: "Figure 23",
        title: "Large scenes",
        part: DISCUSSION,
        basis: Basis::Emulated,
        needs: &[Need {
            views: Views::Large,
            preset: PAPER_PRESET,
            methods: VARIANTS,
        }],
        assumptions: &[
            "coarse.tiles_per_cycle",
            "tc.tiles_in_per_cycle",
            "crop.blend_cycles",
        ],
        draw: further::figure_23,
    },
];

#[cfg(test)]
mod tests {
    use super::alternatives::PASSES;
    use super::*;
    use quadrille_gpu::config::{Config, PRESETS};

    #[test]
    fn all_figures_and_tables_are_listed_once() {
        for number in 1..=23 {
            let id = format!("fig{number}");
            assert_eq!(ALL.iter().filter(|spec| spec.id == id).count(), 1, "{id}");
        }
        let tables = ALL.iter().filter(|spec| spec.id.starts_with("table"));
        assert_eq!(tables.count(), 3);
    }

    #[test]
    fn presets_and_passes_exist() {
        for need in ALL.iter().flat_map(|spec| spec.needs) {
            assert!(PRESETS.iter().any(|p| p.name == need.preset), "{need:?}");
        }
        let passes = PASSES.map(|n| format!("multipass:{n}"));
        let fig11 = ALL.iter().find(|spec| spec.id == "fig11").unwrap();
        assert_eq!(fig11.needs[0].methods[2..], passes);
    }

    #[test]
    fn assumptions_are_fields() {
        let fields: Vec<String> = Config::default()
            .fields()
            .into_iter()
            .map(|f| f.name)
            .collect();
        for spec in ALL {
            for assumption in spec.assumptions {
                let is_known = fields.iter().any(|f| f == assumption);
                assert!(is_known, "{}: {assumption}", spec.id);
            }
        }
    }
}
