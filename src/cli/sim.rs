//! `sim`: the emulated graphics pipeline.

mod files;
mod meshes;
mod printed;
mod rolling;
mod run;
mod sensitivity_runs;
mod sequence;

use std::path::{Path, PathBuf};

use serde_json::json;

use super::console::{Exit, fail, print, print_json};
use super::convert::actions::Filters;
use super::film::PathFlags;
use super::inputs::warn_if_few;
use super::options::{DepthFlags, DrawFlags, EmulationFlags, GpuFlags, named_methods};
use super::outputs::{METHOD, Output, Outputs, VIEW, first_given, refuse_given};
use super::placed_meshes::PlacedMeshFlags;
use super::scene_sequence::{SceneSequence, ShownScenes};
use super::session::{Progress, Session};
use files::{FileFlags, Files, file_name};
use printed::{Printed, row, scene_name};
use quadrille_base::image::FRAME_BYTES;
use quadrille_base::shading::Profile;
use quadrille_base::{Error, Result};
use quadrille_gpu::estimates;
use quadrille_gpu::frame_sequence::FrameSequence;
use quadrille_gpu::host_memory::HostMemory;
use quadrille_gpu::method::Method;
use quadrille_gpu::view::PreparedView;
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::{Camera, LoadOptions, Scene};
use quadrille_suite::blur::RollingShutterSettings;
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_suite::report::json::SimulationDocument;
use quadrille_suite::report::simulated::{SceneFacts, VariantRun};
use quadrille_suite::report::{self, screen};
use quadrille_suite::rows::MeshDrawRow;
use quadrille_suite::stencil::StencilSettings;
use quadrille_suite::{Configuration, csv, runnable, sweep_table, swept};
use sequence::{Sequence, SequenceFlags};

/// Emulate a GPU's graphics pipeline, with and without VR-Pipe, on a scene
///
/// Every method draws the view through all units of the pipeline, cycle by cycle. The page shows
/// the cycles of each method, the unit that limits it, and how busy every unit was. In the bar of a
/// unit, the solid part is time at work, the shaded part is time held up (blocked by the next unit,
/// waiting for data, storage full, port taken), and the rest is time without work. Factors ("x") are
/// the value of the baseline divided by the value of the method.
///
/// The scene is a file or, as in `render`, a sequence: each view is a frame, which shows one of the scenes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Args {
    /// Scene file of any format that the README lists, or a sequence; "-" reads standard input
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
    rolling: RollingShutterSettings,
    #[command(flatten)]
    meshes: PlacedMeshFlags,
    #[command(flatten)]
    stencil: StencilSettings,
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
    configurations: &'a [Configuration],
    methods: &'a [Method],
    output: Option<&'a Output>,
    session: &'a Session,
    /// Meshes whose depths are in the depth buffer before the splats are drawn.
    meshes: Option<PlacedMeshes>,
}

/// The scene of a frame: its description, and the profile that it is drawn by.
struct Shown {
    facts: SceneFacts,
    profile: Profile,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    args.views.check()?;
    args.check_rolling()?;
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
    GpuFlags::warn_of_unused(&configurations, &methods, &args.read_besides(), session)?;
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
    let files_of_scenes = SceneSequence::find_or_one(path)?;
    let first = files_of_scenes.paths()[0].clone();
    let mut scenes =
        ShownScenes::open(files_of_scenes.clone(), args.reading, &args.filters, session)?;
    let splats = &scenes.of_frame(0)?.0.splats;
    let mut views = (args.path).views(&args.views, &first, splats, session)?;
    let splats = splats.len();
    let shown = files_of_scenes.frames(&mut views, None)?;
    let is_sequence = files_of_scenes.paths().len() > 1;
    let scene = (scenes.of_frame(0)?.0, first.as_path());
    let rolled = args.rolled(views.cameras, scene, is_sequence, session)?;
    let cameras = args.sequence.draws(rolled);
    let draws = args.sequence.draws_per_frame();
    scenes.show(shown.into_iter().flat_map(|scene| std::iter::repeat_n(scene, draws)).collect());
    let config_file = args.emulation.gpu.files();
    args.check_memory(&cameras, &methods, (output.as_ref(), splats), session)?;
    let inputs = args.views.files().chain(args.path.files()).chain(args.meshes.files());
    let inputs = inputs.chain(args.stencil.files());
    let inputs =
        inputs.chain(config_file).chain(files_of_scenes.paths().iter().map(PathBuf::as_path));
    let mut outputs = Outputs::beside(inputs);
    let names: Vec<_> = methods.iter().map(|m| file_name(*m)).collect();
    if let Some(output) = &output {
        output.template.prepare(&mut outputs, &cameras, &names)?;
    }
    files.prepare(&mut outputs, &cameras, &names)?;
    let meshes = meshes::load(&args.meshes, &cameras, session)?;
    let job = SimJob {
        args,
        configurations: &configurations,
        methods: &methods,
        output: output.as_ref(),
        session,
        meshes,
    };
    job.run_all(&cameras, &mut scenes, &mut files)
}

impl Args {
    /// Units and fields that estimates and the order of a sequence read.
    fn read_besides(&self) -> Vec<&'static str> {
        let frame: &[_] = if self.frame { &["frame", "kernels"] } else { &[] };
        let energy: &[_] = if self.energy { &["energy"] } else { &[] };
        let order: &[_] = if self.sequence.warm { &FrameSequence::READS } else { &[] };
        [frame, energy, order].concat()
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
        if self.stencil.test(methods)?.is_some() {
            refuse_given(unseen, |flag| Error::conflict("--stencil-test", flag))?;
        }
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
    fn run_all(
        &self,
        cameras: &[Camera],
        scenes: &mut ShownScenes,
        files: &mut Files<'_>,
    ) -> Result<Exit> {
        let steps = cameras.len() * self.configurations.len();
        let unit = if self.is_single(steps) { "splats" } else { "views" };
        let progress = self.session.progress(unit);
        let (mut printed, mut sequence) = (Printed::default(), Sequence::default());
        let drawn =
            self.draw_views((cameras, scenes), files, &progress, &mut printed, &mut sequence);
        drop(progress);
        if matches!(drawn, Err(Error::Cancelled)) && !printed.rows.is_empty() {
            self.print_rows(&printed)?;
            self.session.note(&format!(
                "{} of {steps} runs are done and printed; `bench` keeps the rows of a suite and continues",
                printed.rows.len()
            ));
        }
        let exit = drawn?;
        self.session.install(|| files.finish())?;
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

    /// Returns the description and the profile of a scene: `known`, if it is of the same file.
    fn shown<'s>(
        &self,
        known: &'s mut Option<Shown>,
        scene: &Scene,
        path: &Path,
    ) -> Result<&'s Shown> {
        let path = path.display().to_string();
        if let Some(other) = known.take_if(|shown| shown.facts.path == path) {
            return Ok(known.insert(other));
        }
        let own = self.args.flags.profile_of_ellipsoids(scene.profile_hint, self.session)?;
        let profile = self.args.depth.applied(own);
        let profile = match self.meshes {
            Some(_) => profile.among_surfaces()?,
            None => profile,
        };
        let (splats, sh_degree) = (scene.splats.len(), scene.splats.sh_degree());
        Ok(known.insert(Shown { facts: SceneFacts { path, splats, sh_degree }, profile }))
    }

    /// Draws all views in all configurations. After an error, `printed` holds the complete runs.
    fn draw_views(
        &self,
        (cameras, scenes): (&[Camera], &mut ShownScenes),
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
        let mut shown = None;
        for (frame, camera) in cameras.iter().enumerate() {
            let (scene, path) = scenes.of_frame(frame)?;
            let shown = self.shown(&mut shown, scene, path)?;
            self.session.install(|| {
                let (splats, Session { level, task, .. }) = (&scene.splats, self.session);
                let mut prepared = PreparedView::new(splats, camera, &shown.profile, *level, task)?;
                if let Some(meshes) = &self.meshes {
                    prepared = prepared.before(meshes.depths(camera, *level, task)?)?;
                }
                let prepared = self.args.stencil.applied(prepared, self.methods)?;
                let in_view = prepared.splats_in_view;
                warn_if_few(Some(scene), camera, &shown.profile, in_view, self.session);
                if self.args.varies() {
                    self.vary(&prepared, camera, cameras, printed, progress)?;
                    steps.advance(1)?;
                    return Ok(());
                }
                for configuration in self.configurations {
                    let view = (camera, splats);
                    let simulated = self.simulate(
                        shown,
                        view,
                        &prepared,
                        &of_run,
                        configuration,
                        sequence,
                        files,
                    )?;
                    for run in &simulated.runs {
                        for text in run.outcome.discrepancies() {
                            let (view, variant) = (&camera.name, run.name());
                            fail(&format!("{view}: {variant}: counters do not add up: {text}"));
                            exit = Exit::CheckFailed;
                        }
                    }
                    for text in simulated.mesh_draw.iter().flat_map(MeshDrawRow::discrepancies) {
                        fail(&format!("{}: counters do not add up: {text}", camera.name));
                        exit = Exit::CheckFailed;
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
                        printed.rows.push(row(
                            scene_name(&shown.facts.path),
                            &simulated,
                            configuration,
                        ));
                    } else if self.configurations.len() > 1 {
                        printed.rows.push(row(
                            simulated.view.name.clone(),
                            &simulated,
                            configuration,
                        ));
                    } else {
                        printed.add_limits(&simulated);
                        printed.page(progress, &screen::pages(&simulated))?;
                    }
                    if self.args.sequence.is_sequence() {
                        sequence.push(simulated, self.args.sequence.draws_per_frame());
                    }
                    steps.advance(1)?;
                }
                Ok(())
            })?;
        }
        Ok(exit)
    }
}
