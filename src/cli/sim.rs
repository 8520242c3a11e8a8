//! `sim`: the emulated graphics pipeline.

mod files;
mod meshes;
mod printed;
mod sensitivity_runs;
mod sequence;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::console::{Exit, fail, print, print_json};
use super::convert::actions::Filters;
use super::film::PathFlags;
use super::inputs::{load_filtered, warn_if_few};
use super::options::{DepthFlags, DrawFlags, EmulationFlags, GpuFlags, named_methods};
use super::outputs::{METHOD, Output, Outputs, VIEW, first_given};
use super::placed_meshes::PlacedMeshFlags;
use super::session::{Progress, Session};
use files::{FileFlags, Files};
use printed::{Printed, row, scene_name};
use quadrille_base::image::metrics::{self, Protocol};
use quadrille_base::image::{FRAME_BYTES, Frame};
use quadrille_base::shading::{Profile, StopRule};
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::estimates;
use quadrille_gpu::host_memory::HostMemory;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::view::PreparedView;
use quadrille_render::cpu::{RenderSettings, reference};
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::{Camera, LoadOptions, Scene};
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_suite::report::json::SimulationDocument;
use quadrille_suite::report::simulated::{
    AgainstReference, SceneFacts, Simulated, VariantRun, ViewFacts,
};
use quadrille_suite::report::{self, screen};
use quadrille_suite::{Configuration, csv, runnable, sweep_table, swept};
use sequence::{Sequence, SequenceFlags};

/// Emulate a GPU's graphics pipeline, with and without VR-Pipe, on a scene
///
/// Every method draws the view through all units of the pipeline, cycle by cycle. The page shows
/// the cycles of each method, the unit that limits it, and how busy every unit was. In the bar of a
/// unit, the solid part is time at work, the shaded part is time held up (blocked by the next unit,
/// waiting for data, storage full, port taken), and the rest is time without work. Factors ("x") are
/// the value of the baseline divided by the value of the method.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Args {
    /// Scene file of any format that the README lists; "-" reads standard input
    #[arg(required_unless_present = "config_dump")]
    scene: Option<PathBuf>,
    /// Write the colour buffer as a picture: .png, .exr or .npy, as `render` writes them; "{view}" and "{method}" in
    /// the path are replaced by the names of view and method; "-" writes a PNG to standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    files: FileFlags,
    /// Arithmetic for fragments too close to the alpha cut to be decided in f32 reliably: exact,
    /// as in the reference renderer, or f32, as in a shader core; short for --set cores.near_cut=RULE
    #[arg(long, value_name = "RULE", value_parser = ["exact", "f32"])]
    alpha_cut: Option<String>,
    /// Print the PSNR of each picture against the reference renderer without a stop rule, in dB
    #[arg(long)]
    reference: bool,
    /// Print modelled times of the whole frame: preprocess and sort, as kernels with bytes and
    /// instructions, then the draw. The software renderer sorts by tile and depth, the pipeline by depth
    #[arg(long)]
    frame: bool,
    /// Print an estimate of the energy of the draw, from counters and assumed constants (energy.* in
    /// --config-dump), with a lower and an upper bound
    #[arg(long)]
    energy: bool,
    /// Print changes of the speedups over the first method, or of the cycles of a single method, instead of pages: each
    /// number of the configuration without a published source is set to a quarter, half, twice and four times its value,
    /// and each such switch to its other value, one at a time
    #[arg(long, conflicts_with_all = ["warm", "stereo", "output", "maps", "trace", "stats", "dram_trace", "reference", "frame", "energy"])]
    sensitivity: bool,
    /// Print the share of the cycles that each unit saves at twice its rates, each storage at twice its size and each
    /// latency at half, one at a time, beside the ports that limit each method, instead of pages
    #[arg(long, conflicts_with_all = ["sensitivity", "warm", "stereo", "output", "maps", "trace", "stats", "dram_trace", "reference", "frame", "energy"])]
    relief: bool,
    /// Print the whole configuration as TOML with an explanation of each field, and draw nothing
    #[arg(long)]
    config_dump: bool,
    /// Print a JSON document, {"views": [...]}, instead of pages; in a sweep with one element per view and
    /// configuration
    #[arg(long)]
    json: bool,
    /// Print comma-separated values instead of pages, as `bench --csv` does: one line per view, configuration and
    /// method, one column per number
    #[arg(long, conflicts_with_all = ["json", "sensitivity", "relief"])]
    csv: bool,
    #[command(flatten)]
    reading: LoadOptions,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    views: ViewSpec,
    #[command(flatten)]
    path: PathFlags,
    #[command(flatten)]
    sequence: SequenceFlags,
    #[command(flatten)]
    meshes: PlacedMeshFlags,
    #[command(flatten)]
    emulation: EmulationFlags,
    #[command(flatten)]
    depth: DepthFlags,
    #[command(flatten)]
    pub(super) flags: DrawFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille sim scene.ply
  quadrille sim scene.ply --cameras cameras.json --view 3 --width 800 \\
    --maps maps --trace trace.json
  quadrille sim scene.ply --method baseline,het+qm -o '{method}.png' --json
  quadrille sim scene.ply --method het+qm --stats stats.txt --stats-every 100000
  quadrille sim scene.ply --method baseline,het+qm,compute,compute:none
  quadrille sim scene.ply --method compute,baseline,het+qm --frame --energy
  quadrille sim scene.ply --preset orin --set tc.bins=64 --set crop.format=rgba8
  quadrille sim scene.ply --set tc.bins=8,16,32 --set crop.format=rgba8,rgba16f
  quadrille sim scene.ply --preset vr-pipe,orin --method baseline,het+qm
  quadrille sim scene.ply --cameras cameras.json --view all --method het --warm
  quadrille sim --preset ampere-gpc --config-dump > my.toml";

/// Memory above which a call tells how much it takes: machines of users have 4 GB and more.
const TOLD_BYTES: u64 = 2_000_000_000;

struct SimJob<'a> {
    args: &'a Args,
    scene: &'a Scene,
    facts: SceneFacts,
    profile: Profile,
    configurations: &'a [Configuration],
    methods: &'a [Method],
    output: Option<&'a Output>,
    session: &'a Session,
    /// Meshes whose depths are in the depth buffer before the splats are drawn.
    meshes: Option<PlacedMeshes>,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    args.views.check()?;
    let mut configurations = args.emulation.gpu.configurations(session)?;
    if let Some(rule) = &args.alpha_cut {
        configurations = swept(&configurations, &format!("cores.near_cut={rule}"))?;
    }
    args.refuse_for_sweep(configurations.len())?;
    if args.config_dump {
        for one in &configurations {
            print(report::config::toml(&one.config, &one.preset))?;
        }
        return Ok(Exit::Done);
    }
    let methods = named_methods(&args.emulation.methods, session)?;
    args.sequence.check(&methods)?;
    let configurations = runnable(configurations, &methods, &mut |text| session.warn(&text))?;
    args.check_methods(&methods, session)?;
    GpuFlags::warn_of_unused(&configurations, &methods, &args.estimated_units(), session)?;
    let output = Output::parse(args.output.as_deref(), &[VIEW, METHOD], args.json || args.csv)?;
    if let Some(output) = &output {
        output.template.require(METHOD, methods.len(), "methods (or choose one with --method)")?;
        output.require_values()?;
    }
    if args.flags.background.is_some() && output.is_none() {
        session.warn("--background has no effect: it is for pictures (-o)");
    }
    let mut files = args.files.parse(&methods)?;
    // clap requires a scene unless the configuration is dumped.
    let path = args.scene.as_deref().unwrap_or(Path::new("-"));
    let scene = load_filtered(path, args.reading, &args.filters, session)?;
    let views = (args.path).views(&args.views, path, &scene.splats, session)?;
    let cameras = args.sequence.draws(views.cameras);
    let config_file = args.emulation.gpu.files();
    args.check_memory(&cameras, &methods, (output.as_ref(), scene.splats.len()), session)?;
    let inputs = args.views.files().chain(args.path.files()).chain(args.meshes.files());
    let mut outputs = Outputs::beside(inputs.chain(config_file).chain([path]));
    let names: Vec<_> = methods.iter().map(|m| file_name(*m)).collect();
    if let Some(output) = &output {
        output.template.prepare(&mut outputs, &cameras, &names)?;
    }
    files.prepare(&mut outputs, &cameras, &names)?;
    let own = args.flags.profile_of_ellipsoids(scene.profile_hint, session)?;
    let (meshes, profile) = meshes::load(&args.meshes, &cameras, args.depth.applied(own), session)?;
    let job = SimJob {
        args,
        scene: &scene,
        facts: SceneFacts {
            path: path.display().to_string(),
            splats: scene.splats.len(),
            sh_degree: scene.splats.sh_degree(),
        },
        profile,
        configurations: &configurations,
        methods: &methods,
        output: output.as_ref(),
        session,
        meshes,
    };
    session.install(|| job.run_all(&cameras, &mut files))
}

impl Args {
    /// Configuration tables that `--frame` and `--energy` read in addition to the tables of the simulated units.
    fn estimated_units(&self) -> Vec<&'static str> {
        let frame: &[_] = if self.frame { &["frame", "kernels"] } else { &[] };
        let energy: &[_] = if self.energy { &["energy"] } else { &[] };
        [frame, energy].concat()
    }

    /// Refuses flags without a result for any of `methods`, and warns of the methods that a flag leaves out.
    fn check_methods(&self, methods: &[Method], session: &Session) -> Result<()> {
        let of_pipelines = self.files.of_pipelines().map(|(flag, given)| {
            (flag, given, Method::is_pipeline as fn(Method) -> bool, "has no pipeline")
        });
        let is_gpu = |method| method != Method::Gscore;
        let estimates = "has its own estimates in every output";
        let of_gpu = [
            ("--frame", self.frame, is_gpu as fn(Method) -> bool, estimates),
            ("--energy", self.energy, is_gpu, estimates),
            ("--relief", self.relief, is_gpu, "has no units of the GPU"),
        ];
        let unseen = [
            ("--reference", self.reference),
            ("--sensitivity", self.sensitivity),
            ("--relief", self.relief),
        ];
        meshes::check(&self.meshes, methods, unseen)?;
        for (flag, given, applies, lacks) in of_pipelines.into_iter().chain(of_gpu) {
            for other in methods.iter().filter(|method| given && !applies(**method)) {
                if !methods.iter().any(|method| applies(*method)) {
                    let other = format!("--method {other}, which {lacks}");
                    return Err(Error::conflict(flag, other));
                }
                session.warn(&format!("{flag} leaves out {other}, which {lacks}"));
            }
        }
        Ok(())
    }

    /// Refuses runs that do not fit in memory, and tells the memory that large ones take.
    fn check_memory(
        &self,
        cameras: &[Camera],
        methods: &[Method],
        (output, splats): (Option<&Output>, usize),
        session: &Session,
    ) -> Result<()> {
        // A picture is written as in `render`, beside the picture of the reference renderer.
        let written = output.map_or(0, Output::bytes_per_pixel);
        let compared = if self.reference { 2 * FRAME_BYTES } else { 0 };
        let memory = HostMemory {
            threads: session.threads(),
            pictures: written.max(compared),
            maps: self.files.watch().maps,
            sequence: self.sequence.is_sequence(),
        };
        let mut most = 0;
        for camera in cameras {
            most = most.max(memory.check(methods, [camera.width, camera.height], splats)?);
        }
        if most >= TOLD_BYTES {
            let gb = most as f64 / 1e9;
            session.note(&format!(
                "the runs take up to {gb:.1} GB of memory; fewer methods, maps, pixels or --threads take less"
            ));
        }
        Ok(())
    }

    /// Whether changed configurations run instead of the given one alone.
    fn varies(&self) -> bool {
        self.sensitivity || self.relief
    }

    fn refuse_for_sweep(&self, configurations: usize) -> Result<()> {
        let others = [
            ("--warm or --stereo", self.sequence.is_sequence()),
            ("-o", self.output.is_some()),
            ("--sensitivity", self.sensitivity),
            ("--relief", self.relief),
            ("--frame without --json or --csv", self.frame && !self.json && !self.csv),
            ("--energy without --json or --csv", self.energy && !self.json && !self.csv),
            ("--config-dump", self.config_dump),
        ];
        match first_given(self.files.given().into_iter().chain(others)) {
            Some(flag) if configurations > 1 => {
                let others = format!(
                    "{configurations} configurations (give one preset, one file and one value per --set)"
                );
                Err(Error::conflict(flag, others))
            }
            _ => Ok(()),
        }
    }
}

impl SimJob<'_> {
    fn run_all(&self, cameras: &[Camera], files: &mut Files<'_>) -> Result<Exit> {
        let steps = cameras.len() * self.configurations.len();
        let unit = if self.is_single(steps) { "splats" } else { "views" };
        let progress = self.session.progress(unit);
        let (mut printed, mut sequence) = (Printed::default(), Sequence::default());
        let drawn = self.draw_views(cameras, files, &progress, &mut printed, &mut sequence);
        drop(progress);
        if matches!(drawn, Err(Error::Cancelled)) && !printed.rows.is_empty() {
            self.print_rows(&printed)?;
            self.session.note(&format!(
                "{} of {steps} runs are done and printed; `bench` keeps the rows of a suite and continues",
                printed.rows.len()
            ));
        }
        let exit = drawn?;
        files.finish()?;
        let is_sequence = self.args.sequence.is_sequence();
        if self.args.json {
            let mut document = json!({"views": printed.documents});
            if is_sequence {
                document["sequence"] = sequence.document();
            }
            print_json(document)?;
        } else if is_sequence && !self.args.csv {
            print(format!("\n{}", sequence.table()))?;
        } else if self.args.csv || !printed.rows.is_empty() {
            self.print_rows(&printed)?;
        } else if printed.has_bars() {
            self.session.note(&printed.legend());
        }
        Ok(exit)
    }

    fn print_rows(&self, printed: &Printed) -> Result<()> {
        print(match self.args.csv {
            true => csv::text(&printed.rows, &[]),
            false => sweep_table::table(&printed.rows, "view"),
        })
    }

    /// Whether the progress bar counts the splats of a single run instead of views.
    fn is_single(&self, runs: usize) -> bool {
        runs == 1 && !self.args.varies()
    }

    /// Draws all views in all configurations. After an error, `printed` holds the complete runs.
    fn draw_views(
        &self,
        cameras: &[Camera],
        files: &mut Files<'_>,
        progress: &Progress,
        printed: &mut Printed,
        sequence: &mut Sequence,
    ) -> Result<Exit> {
        let steps = cameras.len() * self.configurations.len();
        let of_run = match self.is_single(steps) {
            true => progress.task.clone(),
            false => progress.task.without_progress(),
        };
        let steps = progress.task.steps(steps as u64);
        let mut exit = Exit::Done;
        let mut warned = Vec::new();
        for camera in cameras {
            let (splats, Session { level, task, .. }) = (&self.scene.splats, self.session);
            let mut prepared = PreparedView::new(splats, camera, &self.profile, *level, task)?;
            if let Some(meshes) = &self.meshes {
                prepared = prepared.before(meshes.depths(camera, *level, task)?)?;
            }
            let in_view = prepared.splats_in_view;
            warn_if_few(Some(self.scene), camera, &self.profile, in_view, self.session);
            if self.args.varies() {
                self.vary(&prepared, camera, cameras, printed, progress)?;
                steps.advance(1)?;
                continue;
            }
            for configuration in self.configurations {
                let simulated =
                    self.simulate(camera, &prepared, &of_run, configuration, sequence, files)?;
                for run in &simulated.runs {
                    for text in run.outcome.discrepancies() {
                        let (view, variant) = (&camera.name, run.name());
                        fail(&format!("{view}: {variant}: counters do not add up: {text}"));
                        exit = Exit::CheckFailed;
                    }
                }
                let mut once = |text: Option<String>, tell: fn(&Session, &str)| {
                    if let Some(text) = text.filter(|text| !warned.contains(text)) {
                        tell(self.session, &text);
                        warned.push(text);
                    }
                };
                for VariantRun { outcome, energy, .. } in &simulated.runs {
                    let warning = |energy| estimates::energy_warning(outcome.method(), energy);
                    once(energy.as_ref().and_then(warning), Session::warn);
                }
                for VariantRun { outcome, .. } in &simulated.runs {
                    let remark = estimates::placement_remark(outcome, &configuration.config);
                    once(remark, Session::note);
                }
                if self.args.json {
                    printed.documents.push(json!(SimulationDocument::of(&simulated)));
                } else if self.args.csv {
                    printed.rows.push(row(scene_name(&self.facts.path), &simulated, configuration));
                } else if self.configurations.len() > 1 {
                    printed.rows.push(row(simulated.view.name.clone(), &simulated, configuration));
                } else {
                    printed.add_limits(&simulated);
                    printed.page(progress, &screen::pages(&simulated))?;
                }
                if self.args.sequence.is_sequence() {
                    sequence.push(simulated, self.args.sequence.draws_per_frame());
                }
                steps.advance(1)?;
            }
        }
        Ok(exit)
    }

    fn simulate<'a>(
        &'a self,
        camera: &Camera,
        prepared: &PreparedView<'_>,
        task: &Task,
        configuration: &'a Configuration,
        sequence: &Sequence,
        files: &mut Files<'_>,
    ) -> Result<Simulated<'a>> {
        let mut machines =
            Machine::all(&configuration.config, self.methods, self.args.files.watch())?;
        if self.args.sequence.warm {
            machines = sequence.warmed(machines);
        }
        let start = Instant::now();
        let runs = Machine::run_all(&machines, prepared, task)?;
        let host = [prepared.prepared_in, start.elapsed()];
        let reference = self.reference(camera);
        let config = &configuration.config;
        let work = self.args.frame.then(|| prepared.workload());
        let runs = runs.into_iter().map(|run| {
            let is_seen = self.output.is_some() || reference.is_some();
            let frame = is_seen.then(|| run.outcome.frame());
            let names = [camera.name.as_str(), &file_name(run.outcome.method())];
            let save = |(output, frame): (&Output, &Frame)| {
                output.save(frame, names, self.args.flags.background)
            };
            let compared = frame.as_ref().zip(reference.as_ref());
            Ok(VariantRun {
                output: self.output.zip(frame.as_ref()).map(save).transpose()?,
                against_reference: compared.map(|(a, b)| against(a, b)).transpose()?,
                frame: work.and_then(|work| estimates::frame_times(&run.outcome, &work, config)),
                energy: (self.args.energy.then(|| estimates::energy(&run.outcome, config)))
                    .flatten(),
                outcome: run.outcome,
                host: run.host,
            })
        });
        let simulated = Simulated {
            scene: &self.facts,
            view: ViewFacts {
                name: camera.name.clone(),
                width: camera.width,
                height: camera.height,
                splats_in_frustum: prepared.splats_in_view,
            },
            profile: self.profile.name,
            config: &configuration.config,
            preset: &configuration.preset,
            host,
            runs: runs.collect::<Result<_>>()?,
        };
        files.write(&simulated, file_name)?;
        Ok(simulated)
    }

    fn reference(&self, camera: &Camera) -> Option<Frame> {
        let settings = RenderSettings {
            profile: Profile { stop: StopRule::Never, ..self.profile },
            level: self.session.level,
        };
        let render = || reference::render(&self.scene.splats, camera, &settings).0;
        self.args.reference.then(render)
    }
}

/// Name of a method in file names; some systems do not allow colons in them.
fn file_name(method: Method) -> String {
    method.to_string().replace(':', "-")
}

fn against(frame: &Frame, reference: &Frame) -> Result<AgainstReference> {
    let comparison = metrics::compare(frame, reference, Protocol::Float)?;
    let is_blank = reference.pixels().iter().all(|pixel| pixel[3] == 0.0);
    Ok(AgainstReference { psnr_db: comparison.psnr_db, max_abs: comparison.max_abs, is_blank })
}
