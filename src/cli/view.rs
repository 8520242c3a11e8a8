//! `view`: a scene in a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::console::{Exit, print, print_json};
use super::convert::actions::Filters;
use super::exposures::ExposureFlags;
use super::film::PathFlags;
use super::inputs::load_filtered;
use super::options::{DrawFlags, RuleFlags};
use super::outputs::{colour_behind, refuse_given};
use super::render::meshes::MeshFlags;
use super::scene_sequence::SceneSequence;
use super::session::Session;
use super::view_mesh::{MeshSettings, is_mesh};
use super::view_open::{Opener, ShowScene};
use super::view_token::token_of;
use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result};
use quadrille_base::parse::whole_number;
use quadrille_base::shading::Profile;
use quadrille_evaluation::picture_folder::PictureFolder;
use quadrille_gpu::config::Config;
use quadrille_render::convert::Step;
use quadrille_scene::cameras::{
    CameraTransform, Framing, FramingTarget, ViewSpec, Views, common_up,
};
use quadrille_scene::{LoadOptions, Scene, Splats};
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_view::{
    Access, Commands, Control, ListedView, OpenScene, SceneContent, Sequence, Show, ShownScene,
    new_token, return_large_blocks, serve,
};

/// Show a scene in a browser, with the exact picture as soon as the camera rests
///
/// Prints an address to open, and serves it until it is interrupted. On a server, the address is opened on the user's own
/// machine through ssh, with the printed command. Only users with the address can see the scene.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Scene or mesh of any format that the README lists, a sequence of scenes (a folder of numbered scenes, or a quoted pattern
    /// with a * for the number), or the name of a procedural mesh
    scene: PathBuf,
    /// Second scene or mesh, to compare with the first
    #[arg(long, value_name = "SCENE")]
    with: Option<PathBuf>,
    /// Folder of photos with the names of the views, to compare with the scene
    #[arg(long, value_name = "DIR")]
    photos: Option<PathBuf>,
    /// Read the scenes again when their files change, as during training
    #[arg(long)]
    watch: bool,
    /// Show no scenes but the given ones: pages can neither list their folder nor send files
    #[arg(long)]
    no_open: bool,
    /// Print a JSON document with the address instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerFlags,
    #[command(flatten)]
    reading: LoadOptions,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    views: ViewSpec,
    #[command(flatten)]
    path: PathFlags,
    #[command(flatten)]
    meshes: MeshFlags,
    #[command(flatten)]
    rules: RuleFlags,
    #[command(flatten)]
    exposures: ExposureFlags,
    // Last, since it ends with the heading of the host's flags.
    #[command(flatten)]
    pub(super) draw: DrawFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille view scene.ply
  quadrille view scene.ply --cameras cameras.json --photos images
  quadrille view scene.ply --with compressed.sog
  quadrille view point_cloud.ply --watch";

/// Flags for the server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Server")]
struct ServerFlags {
    /// Port; one of the next nine if it is taken; 0 lets the system choose
    #[arg(long, value_name = "PORT", default_value_t = 8490, value_parser = whole_number::<u16>)]
    port: u16,
    /// Address to listen on; any but the loopback needs --host-name, and is not encrypted
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Name of this machine in the address that browsers open; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_host_name)]
    host_name: Vec<String>,
    /// File with the token of the address, so that links stay valid; it is created if it is missing
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Maximum number of pages open at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = |text: &str| within(text, 1, 16))]
    viewers: u32,
    /// Maximum number of pixels per exact picture; larger windows are drawn smaller
    #[arg(long, value_name = "N", default_value_t = 8_300_000, value_parser = |text: &str| within(text, 65_536, 67_108_864))]
    max_pixels: u32,
    /// Exit after this many minutes without an open page
    #[arg(long, value_name = "MINUTES", value_parser = |text: &str| within(text, 1, 100_000))]
    idle_exit: Option<u32>,
}

fn within(text: &str, least: u32, most: u32) -> std::result::Result<u32, String> {
    let number = whole_number(text).ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
}

fn parse_host_name(text: &str) -> std::result::Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let is_name = !text.is_empty() && text.chars().all(is_part);
    let has_port = text.contains(':') && !text.ends_with(']');
    match is_name && !has_port {
        true => Ok(text.to_owned()),
        false => Err("expected a name such as render.lab, without a port".to_owned()),
    }
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let access = args.server.access(session)?;
    let show = args.show(session, args.opener(session))?;
    let pool = session.new_pool()?;
    let token = access.token.clone();
    let name = args.server.name();
    let announce = |control: Control| args.announce(control.address().port(), &name, &token);
    return_large_blocks();
    match serve(show, &access, &PROGRAM, pool, session.task, announce) {
        Ok(()) => Ok(Exit::Done),
        // An interrupt is how users end it.
        Err(Error::Cancelled) => Ok(Exit::Interrupted),
        Err(error) => Err(error),
    }
}

/// An opened scene. Views of splats are searched later and for the first scene only, since the search is slow.
enum Opened {
    Splats(Arc<Scene>),
    Mesh(Box<Placing>),
}

struct Placing {
    views: Views,
    subject: FramingTarget,
    up: [f64; 3],
}

impl Args {
    /// The scenes with their views, read.
    fn show(&self, session: &Session, opener: Option<Arc<dyn OpenScene>>) -> Result<Show> {
        self.views.check()?;
        let Some(background) = colour_behind(self.draw.background, None) else {
            let expected = "a colour, since pages show opaque pictures";
            return Err(Error::argument("--background", expected, "transparent"));
        };
        let exposures = self.exposures.load(self.draw.background, false)?;
        self.meshes.check()?;
        let sequence = SceneSequence::find(&self.scene)?;
        let path = sequence.as_ref().map_or(&self.scene, |sequence| &sequence.paths()[0]);
        let watched = self.watch && sequence.is_some();
        refuse_given([("--watch", watched)], |flag| Error::conflict(flag, "a sequence"))?;
        let (first, opened) = self.shown(path, session)?;
        let mut commands = vec![self.commands(&first)];
        let placing = match opened {
            Opened::Splats(scene) => self.placing(path, &scene.splats, session)?,
            Opened::Mesh(placing) => *placing,
        };
        let views = placing.views;
        if self.meshes.is_given() && matches!(first.content, SceneContent::Mesh(_)) {
            return Err(Error::conflict("--mesh", "a mesh as the scene (--with shows two)"));
        }
        let meshes = self.meshes.load(session)?;
        if meshes.is_some() {
            views.cameras.iter().try_for_each(PlacedMeshes::check)?;
        }
        commands[0].camera_file = views.file.clone();
        let mut scenes = vec![first];
        if let Some(path) = &self.with {
            let (second, _) = self.shown(path, session)?;
            let camera_file =
                views.file.clone().filter(|file| self.are_read_for(path, file, &views));
            commands.push(Commands { camera_file, ..self.commands(&second) });
            scenes.push(second);
        }
        let completed = views.completed.as_ref();
        let target = completed.and_then(|view| view.target);
        let up = completed.and_then(|view| view.up);
        let up = up.or_else(|| common_up(&views.cameras)).unwrap_or(placing.up);
        let listed = with_photos(&views, self.photos.as_deref(), session)?;
        let size = self.views.size();
        let has_size = size.width.is_some() || size.height.is_some() || size.scale.is_some();
        let first_size = views.cameras.first().map(|camera| [camera.width, camera.height]);
        Ok(Show {
            scenes,
            sequence: sequence.map(|sequence| self.sequence(sequence, session)),
            views: listed,
            target: target.unwrap_or(placing.subject.centre.into()),
            up,
            radius: placing.subject.radius,
            size: first_size.filter(|_| has_size),
            background,
            stop: self.rules.stop,
            near: self.rules.depth.near.near,
            order: self.rules.depth.order,
            exposures: exposures.map(super::exposures::ViewExposures::into_exposures),
            level: session.level,
            config: Config::default(),
            watch: self.watch,
            commands,
            meshes,
            opener,
        })
    }

    /// The same call for another scene: without the flags that describe the given one and its views.
    fn of_scene(&self, scene: &Path) -> Self {
        let size = self.views.size();
        Self {
            scene: scene.to_owned(),
            with: None,
            photos: None,
            reading: LoadOptions::default(),
            filters: Filters::default(),
            views: ViewSpec::default().with_size(size),
            path: PathFlags::default(),
            meshes: MeshFlags::default(),
            exposures: ExposureFlags::default(),
            ..self.clone()
        }
    }

    fn opener(&self, session: &Session) -> Option<Arc<dyn OpenScene>> {
        match self.no_open {
            true => None,
            false => {
                let (args, session) = (self.clone(), session.clone());
                let show: Arc<ShowScene> = Arc::new(move |scene, next| match scene {
                    None => args.show(&session, next),
                    Some(scene) => args.of_scene(scene).show(&session, next),
                });
                Some(Arc::new(Opener { given: self.scene.clone(), show }))
            }
        }
    }

    fn shown(&self, path: &Path, session: &Session) -> Result<(ShownScene, Opened)> {
        let expected = "a file, which the server names and reads again when it changes";
        Error::refuse_if(path == Path::new("-"), "SCENE", expected, "standard input (-)")?;
        let mesh =
            MeshSettings { views: self.views.with_all_unless_selected(), session: session.clone() };
        if is_mesh(path) {
            return shown_mesh(path, mesh);
        }
        let scene = match load_filtered(path, self.reading, &self.filters, session) {
            Ok(scene) => Arc::new(scene),
            // It may be a mesh: PLY and glTF files can hold either.
            Err(error @ Error::Malformed { .. }) => {
                return shown_mesh(path, mesh).map_err(|_| error);
            }
            Err(error) => return Err(error),
        };
        let (file, options, filters) = (path.to_owned(), self.reading, self.filters.clone());
        let task = session.task;
        let reader = move |steps: &[Step]| {
            let scene = filters.with(steps).load(&file, options, task)?;
            Ok(SceneContent::Splats(Arc::new(scene)))
        };
        let profile = self.draw.profile(scene.profile_hint, session)?;
        if profile.is_disc {
            let text = "maps and pictures of the emulated pipeline show the discs (2DGS) as flat 3D Gaussians";
            session.warn(text);
        }
        let shown = ShownScene {
            path: path.to_owned(),
            profile,
            content: SceneContent::Splats(Arc::clone(&scene)),
            reader: Arc::new(reader),
        };
        Ok((shown, Opened::Splats(scene)))
    }

    fn sequence(&self, scenes: SceneSequence, session: &Session) -> Sequence {
        let name = |path: &PathBuf| {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        let names = scenes.paths().iter().map(name).collect();
        let (args, session) = (self.clone(), session.clone());
        let reader = move |number: usize| {
            let read = args.shown(&scenes.paths()[number], &session);
            read.map(|(shown, _)| shown).map_err(|error| scenes.about(number, error))
        };
        Sequence { names, path: self.scene.clone(), reader: Arc::new(reader) }
    }

    fn placing(&self, path: &Path, splats: &Splats, session: &Session) -> Result<Placing> {
        let views = self.views.with_all_unless_selected();
        let framing = Framing::of(splats);
        Ok(Placing {
            views: self.path.views(&views, path, splats, session)?,
            subject: framing.subject,
            up: framing.up,
        })
    }

    fn commands(&self, scene: &ShownScene) -> Commands {
        let is_mesh = matches!(scene.content, SceneContent::Mesh(_));
        let of_splats = |words: Vec<String>| if is_mesh { Vec::new() } else { words };
        let exposures = self.exposures.file();
        let exposures = exposures.map(|file| format!("--exposures={}", file.display()));
        let rules = self.rules.words().into_iter().chain(exposures).collect();
        Commands {
            scene: scene.path.display().to_string(),
            filmed: None,
            is_mesh,
            is_in_memory: false,
            profile: scene.profile,
            shared: of_splats([reading_words(self.reading), self.filters.words()].concat()),
            profile_flag: of_splats(self.draw.profile_words()),
            render: of_splats([self.meshes.words(), rules].concat()),
            sim: of_splats(self.meshes.placed.words()),
            background: self.draw.background_words(),
            cameras: lens_words(&self.views),
            camera_file: None,
        }
    }

    /// Whether the camera file gives the same cameras for another scene, beside which a transform may lie.
    fn are_read_for(&self, scene: &Path, file: &Path, views: &Views) -> bool {
        let spec = self.views.with_all_unless_selected().with_file(file);
        let nothing = || Ok(Framing::of(&Splats::from_splats(0, [])));
        spec.views(Some(scene), nothing).is_ok_and(|other| other.cameras == views.cameras)
    }

    fn announce(&self, port: u16, name: &str, token: &str) -> Result<()> {
        let url = format!("http://{name}:{port}/#t={token}");
        if self.json {
            return print_json(json!({"url": url, "port": port}));
        }
        let mut page = format!("{} is at {url}\n", self.scene.display());
        if let (Some(host), true) = (ssh_host(), self.server.bind.is_loopback()) {
            let user = std::env::var("USER").unwrap_or_else(|_| "USER".to_owned());
            page += &format!(
                "on your own machine first: ssh -L {port}:localhost:{port} {user}@{host}\n"
            );
        }
        page += "Ctrl-C ends\n";
        print(page)
    }
}

fn shown_mesh(path: &Path, settings: MeshSettings) -> Result<(ShownScene, Opened)> {
    let (file, opened) = (path.to_owned(), settings.open(path)?);
    let reader = move |_: &[Step]| Ok(SceneContent::Mesh(settings.open(&file)?.drawer));
    let shown = ShownScene {
        path: path.to_owned(),
        // The profile has no effect on meshes.
        profile: Profile::default(),
        content: SceneContent::Mesh(opened.drawer),
        reader: Arc::new(reader),
    };
    let placing = Placing { views: opened.views, subject: opened.subject, up: opened.up };
    Ok((shown, Opened::Mesh(Box::new(placing))))
}

fn reading_words(reading: LoadOptions) -> Vec<String> {
    let axes = reading.axes.map(|axes| format!("--axes={axes}"));
    axes.into_iter().chain((reading.lod > 0).then(|| format!("--lod={}", reading.lod))).collect()
}

fn lens_words(views: &ViewSpec) -> Vec<String> {
    let transform = views.transform.as_ref().and_then(|transform| match transform {
        CameraTransform::Found => None,
        CameraTransform::Identity => Some("none".to_owned()),
        CameraTransform::Undo => Some("undo".to_owned()),
        CameraTransform::File(path) => Some(path.display().to_string()),
    });
    let transform = transform.map(|transform| format!("--transform={transform}"));
    let fov = views.fov_degrees.map(|fov| format!("--fov={fov}"));
    let model = views.camera_model.map(|model| format!("--camera-model={model}"));
    [transform, fov, model].into_iter().flatten().collect()
}

fn ssh_host() -> Option<String> {
    std::env::var("SSH_CONNECTION").ok()?.split(' ').nth(2).map(str::to_owned)
}

impl ServerFlags {
    fn access(&self, session: &Session) -> Result<Access> {
        if !self.bind.is_loopback() {
            if self.host_name.is_empty() {
                let needed = "--host-name NAME, the name that browsers open";
                return Err(Error::needs(format!("--bind {}", self.bind), needed));
            }
            session.warn(
                "pictures and the token cross the network without encryption; ssh -L or a proxy with TLS encrypts them",
            );
        }
        let token = match &self.token_file {
            Some(path) => token_of(path)?,
            None => new_token(),
        };
        Ok(Access {
            bind: self.bind,
            port: self.port,
            host_names: self.host_name.clone(),
            token,
            viewers: self.viewers as usize,
            max_pixels: self.max_pixels.into(),
            idle_exit: self.idle_exit.map(|minutes| Duration::from_secs(60 * u64::from(minutes))),
        })
    }

    fn name(&self) -> String {
        match (self.host_name.first(), self.bind) {
            (Some(name), _) => name.clone(),
            (None, IpAddr::V4(Ipv4Addr::LOCALHOST)) => "localhost".to_owned(),
            (None, IpAddr::V4(address)) => address.to_string(),
            (None, IpAddr::V6(address)) => format!("[{address}]"),
        }
    }
}

fn with_photos(views: &Views, folder: Option<&Path>, session: &Session) -> Result<Vec<ListedView>> {
    let photos = folder.map(PictureFolder::open).transpose()?.unwrap_or_default();
    let listed: Vec<_> = (views.cameras.iter().zip(photos.of_views(views)?).enumerate())
        .map(|(index, (camera, photo))| {
            let name_in_file = views.names_in_file.get(index).cloned();
            let selector = views.indices_in_file.get(index).map(|index| match &camera.name {
                // Another meaning of `--view` comes before these names.
                name if name == "all" || name.parse::<usize>().is_ok() => index.to_string(),
                name => name.clone(),
            });
            ListedView { camera: camera.clone(), name_in_file, selector, photo }
        })
        .collect();
    if let Some(folder) = folder {
        let missing = listed.iter().filter(|view| view.photo.is_none()).count();
        if missing > 0 {
            session.warn(&format!(
                "{}: {missing} of {} views have no photo of their name",
                folder.display(),
                listed.len()
            ));
        }
    }
    Ok(listed)
}
