//! `--probe`: lists the splats that contribute to a pixel.

use serde_json::{Value, json};

use crate::cli::console::{joined, print, print_json};
use crate::cli::inputs::warn_if_unseen;
use crate::cli::session::Session;
use crate::cli::view_page::view_json;
use quadrille_base::error::Result;
use quadrille_base::parse::numbers;
use quadrille_render::cpu::{PixelProbe, RenderSettings, Renderer};
use quadrille_scene::{Camera, Scene};
use quadrille_suite::report::table::{TextTable, shortened};

const LISTED: usize = 16;

/// Flag for the splats of single pixels.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ProbeFlags {
    /// Print the splats that contribute to the pixel in column X and row Y, from 0 at the top left, instead of
    /// drawing; may be repeated. A table lists the 16 splats with the largest weights, --json all
    #[arg(long = "probe", value_name = "X,Y", value_parser = parse_pixel, conflicts_with_all =
        ["output", "repeat", "list_views", "layers", "exposures", "background"])]
    pixels: Vec<[u32; 2]>,
}

fn parse_pixel(text: &str) -> std::result::Result<[u32; 2], String> {
    numbers(text).ok_or_else(|| "expected a column and a row such as 320,180".to_owned())
}

pub(super) struct ProbedView {
    camera: Camera,
    probes: Vec<PixelProbe>,
}

impl ProbeFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    pub(super) fn probed(
        &self,
        scene: &Scene,
        cameras: Vec<Camera>,
        settings: &RenderSettings,
        session: &Session,
    ) -> Result<Vec<ProbedView>> {
        let progress = session.progress("views");
        let steps = progress.task.steps(cameras.len() as u64);
        let mut renderer = Renderer::default();
        let views = cameras.into_iter().map(|camera| {
            warn_if_unseen(scene, &camera, &settings.profile, session);
            let probes = self.pixels.iter().map(|pixel| {
                let probe = renderer.probe(&scene.splats, &camera, settings, *pixel);
                probe.map_err(|error| error.about("--probe"))
            });
            let probes = probes.collect::<Result<_>>()?;
            steps.advance(1)?;
            Ok(ProbedView { camera, probes })
        });
        views.collect()
    }
}

pub(super) fn report(views: &[ProbedView], facts: Option<Value>) -> Result<()> {
    match facts {
        Some(facts) => {
            let views: Vec<_> = views.iter().map(ProbedView::json).collect();
            print_json(joined([facts, json!({ "views": views })]))
        }
        None => print(views.iter().map(ProbedView::text).collect::<String>()),
    }
}

impl ProbedView {
    fn text(&self) -> String {
        let name = shortened(&self.camera.name);
        self.probes.iter().map(|probe| format!("view {name}, {}", table(probe))).collect()
    }

    fn json(&self) -> Value {
        let probes: Vec<_> = self.probes.iter().map(probe_json).collect();
        joined([view_json(&self.camera), json!({ "probes": probes })])
    }
}

fn table(probe: &PixelProbe) -> String {
    let PixelProbe {
        pixel: [x, y],
        rgb: [red, green, blue],
        alpha,
        depth,
        depth_median,
        fragments,
    } = probe;
    let title = format!(
        "pixel {x},{y}: rgb {red:.4},{green:.4},{blue:.4}, alpha {alpha:.4}, depth {depth:.4}, median depth \
         {depth_median:.4}, {} splats\n",
        fragments.len()
    );
    if fragments.is_empty() {
        return title;
    }
    let mut table = TextTable::new(&["splat", "weight", "alpha", "depth", "red", "green", "blue"]);
    let (largest, rest, rest_weight) = probe.largest(LISTED);
    for fragment in largest {
        let [red, green, blue] = fragment.rgb;
        let numbers = [fragment.weight, fragment.alpha, fragment.depth, red, green, blue];
        let numbers = numbers.map(|number| format!("{number:.4}"));
        table.row([fragment.index.to_string()].into_iter().chain(numbers));
    }
    let more = match rest {
        0 => String::new(),
        rest => format!("{rest} more with a summed weight of {rest_weight:.4}\n"),
    };
    format!("{title}{table}{more}")
}

fn probe_json(probe: &PixelProbe) -> Value {
    let (largest, ..) = probe.largest(usize::MAX);
    json!({
        "x": probe.pixel[0],
        "y": probe.pixel[1],
        "rgb": probe.rgb,
        "alpha": probe.alpha,
        "depth": probe.depth,
        "depth_median": probe.depth_median,
        "count": probe.fragments.len(),
        "splats": largest,
    })
}
