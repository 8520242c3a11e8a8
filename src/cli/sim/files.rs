//! Files of `sim` beside pictures: maps, traces, statistics.

use std::path::{Path, PathBuf};

use crate::cli::outputs::{METHOD, Outputs, Template, VIEW};
use quadrille_base::output::{STDOUT, write_bytes, write_whole};
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::method::Method;
use quadrille_gpu::wiring::Watch;
use quadrille_scene::Camera;
use quadrille_suite::report::simulated::Simulated;
use quadrille_suite::report::{dram_trace, maps, stats, trace};

const CYCLES: &str = ".cycles.csv";

/// Flags for output files that describe the runs.
#[derive(Debug, clap::Args)]
pub(super) struct FileFlags {
    /// Write counts per pixel of methods on the pipeline into this folder, as VIEW.METHOD.MAP.png (with a legend; all variants
    /// of a view share one scale) and .npy (u32, height x width; 0 where nothing was counted). The
    /// maps are shaded and blended; with quad merging also merged; with early termination also late,
    /// blends_until_termination and termination_cycle. Counters per screen tile of 16x16 pixels go to
    /// VIEW.METHOD.tiles.csv, and their maps to tile_cycles (busy cycles of CROP), tile_quads,
    /// tile_flushes, tile_terminated_quads, tile_terminated_fragments, tile_l2_bytes and tile_dram_bytes
    #[arg(long, value_name = "DIR")]
    pub(super) maps: Option<PathBuf>,
    /// Write a trace for Perfetto (ui.perfetto.dev): one process per method and one track per unit,
    /// with the percentage of time in each state in up to 512 windows (at most 8 MB; of identical
    /// units, the mean); of the software renderer a bar per kernel, of the accelerator a bar per stage;
    /// "{view}" is replaced by the name of the view
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Write all counters as flat text in the form of gem5's stats.txt: a line of name, value, and "#"
    /// with meaning and unit for each, in a block for each view and method; "-" writes to standard output
    #[arg(long, value_name = "FILE")]
    pub(super) stats: Option<PathBuf>,
    /// Write a block for each N cycles before the block of the totals: the cycles of each port by
    /// state, counts of Hi-Z, fine raster, tile coalescing, PROP, ZROP, launch, shader cores and CROP by the
    /// cycle of the work, and bytes by the cycle of the request. N doubles until 4096 blocks suffice
    #[arg(long, value_name = "N", requires = "stats", conflicts_with = "sensitivity", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    stats_every: Option<u64>,
    /// Write the requests to DRAM, in the order of their cycles, as a trace that Ramulator 2 replays
    /// (its front end LoadStoreTrace: "LD address" or "ST address" for each sector of 32 bytes), and the
    /// cycle, bytes and client of each line to FILE.cycles.csv; "{view}" and "{method}" are replaced
    #[arg(long, value_name = "FILE")]
    pub(super) dram_trace: Option<PathBuf>,
}

pub(super) struct Files<'a> {
    flags: &'a FileFlags,
    trace: Option<Template>,
    dram_trace: Option<[Template; 2]>,
    stats: String,
}

impl FileFlags {
    pub(super) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--maps", self.maps.is_some()),
            ("--trace", self.trace.is_some()),
            ("--stats", self.stats.is_some()),
            ("--dram-trace", self.dram_trace.is_some()),
        ]
    }

    /// Flags whose files hold records of the pipeline only, and whether each is given.
    pub(super) fn of_pipelines(&self) -> [(&'static str, bool); 3] {
        [
            ("--maps", self.maps.is_some()),
            ("--stats-every", self.stats_every.is_some()),
            ("--dram-trace", self.dram_trace.is_some()),
        ]
    }

    pub(super) fn watch(&self) -> Watch {
        let has_maps = self.maps.is_some();
        Watch {
            maps: has_maps,
            tiles: has_maps,
            timelines: self.trace.is_some(),
            interval: self.stats_every.unwrap_or(0),
            dram: self.dram_trace.is_some(),
        }
    }

    /// Checks the names of the files of runs by `methods`.
    pub(super) fn parse(&self, methods: &[Method]) -> Result<Files<'_>> {
        let trace = self.trace.as_deref();
        let parsed = trace.map(|path| Template::parse("--trace", path, &[VIEW]));
        let with_cycles = |path: &Path| {
            let mut cycles = path.as_os_str().to_owned();
            cycles.push(CYCLES);
            Error::refuse_if(
                path == Path::new(STDOUT),
                "--dram-trace",
                "a file",
                "standard output",
            )?;
            let parse = |path: &Path| Template::parse("--dram-trace", path, &[VIEW, METHOD]);
            Ok([parse(path)?, parse(Path::new(&cycles))?])
        };
        let dram_trace = self.dram_trace.as_deref().map(with_cycles).transpose()?;
        if let Some([dram_trace, _]) = &dram_trace {
            dram_trace.require(METHOD, methods.len(), "methods (or choose one with --method)")?;
        }
        Ok(Files { flags: self, trace: parsed.transpose()?, dram_trace, stats: String::new() })
    }
}

impl Files<'_> {
    pub(super) fn prepare(
        &self,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
        variants: &[String],
    ) -> Result<()> {
        if let Some(trace) = &self.trace {
            trace.prepare(outputs, cameras, &["all".to_owned()])?;
        }
        for template in self.dram_trace.iter().flatten() {
            template.prepare(outputs, cameras, variants)?;
        }
        if let Some(stats) = &self.flags.stats {
            outputs.add("--stats", stats)?;
        }
        if let Some(folder) = &self.flags.maps {
            outputs.add_folder("--maps", folder)?;
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        simulated: &Simulated<'_>,
        file_name: impl Fn(Method) -> String,
    ) -> Result<()> {
        let view = &simulated.view.name;
        if let Some(folder) = &self.flags.maps {
            maps::write(folder, simulated)?;
        }
        if let Some(template) = &self.trace {
            let path = template.path(view, "all");
            write_whole(&path, &Task::NEVER, |out| trace::write(out, simulated))?;
        }
        if let Some([trace, cycles]) = &self.dram_trace {
            for (run, result) in simulated.pipelines() {
                let variant = file_name(run.outcome.method());
                let requests = &result.dram_requests;
                write_whole(&trace.path(view, &variant), &Task::NEVER, |out| {
                    dram_trace::write(out, requests)
                })?;
                write_whole(&cycles.path(view, &variant), &Task::NEVER, |out| {
                    dram_trace::write_cycles(out, requests)
                })?;
            }
        }
        if self.flags.stats.is_some() {
            self.stats += &stats::text(simulated);
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<()> {
        match &self.flags.stats {
            Some(path) => write_bytes(path, &self.stats),
            None => Ok(()),
        }
    }
}

/// Name of a method in file names; some systems do not allow colons in them.
pub(super) fn file_name(method: Method) -> String {
    method.to_string().replace(':', "-")
}
