//! `info`: describes scene and mesh files.

mod lines;
mod mesh;
mod overdraw;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use serde_json::{Value, json};

use super::console::{self, Exit, fail, print, print_value};
use super::inputs::load_scene;
use super::session::Session;
use lines::{push_line, range, short};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;
use quadrille_base::units::milliseconds;
use quadrille_render::{Distribution, SceneStatistics};
use quadrille_scene::cameras::{ViewSpec, find_camera_file};
use quadrille_scene::{LoadOptions, Scene, SceneInput, load_table};
use quadrille_suite::report::table::TextTable;

/// Print what scene and mesh files contain
///
/// Of a scene, prints the format, its compression, axes and losses, the number of splats and the degree of
/// their spherical harmonics, the number of dropped rows by reason, the bounds, and quantiles of opacity,
/// scale and anisotropy. Of a mesh, prints the triangles and vertices, the bounds, the materials and
/// textures, the parts that are left out, and the default view.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  quadrille info scene.ply\n  quadrille info scene.spz --json\n  quadrille info scenes/*.ply\n  \
                  quadrille info mesh.glb\n  quadrille info scene.ply --overdraw --cameras cameras.json --view all"
)]
pub(super) struct Args {
    /// Scene files (.ply, .compressed.ply, .splat, .spz, .sog, .ksplat, .glb, .usdz, .lcc), folders of SOGs and LCCs, or mesh
    /// files (.obj, .ply, .gltf, .glb, .bpt); "-" reads a scene from standard input
    #[arg(required = true, value_name = "SCENE")]
    scenes: Vec<PathBuf>,
    /// Print a JSON document instead of a page; for several scenes an array, in which the entry of an
    /// unreadable file has a path and an error
    #[arg(long)]
    json: bool,
    /// Also draw views of a scene, and print for each the share of the picture that splats fill and the fragments per
    /// pixel
    #[arg(long)]
    overdraw: bool,
    #[command(flatten)]
    reading: LoadOptions,
    #[command(flatten)]
    views: ViewSpec,
}

const COMMENTS_SHOWN: usize = 4;
const COMMENT_CHARS: usize = 100;

const BAR_CHARS: f64 = 40.0;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    args.views.check()?;
    if !args.overdraw && args.views != ViewSpec::default() {
        return Err(Error::needs("a flag about views", "--overdraw"));
    }
    let mut documents = Vec::new();
    // The last error; the others have been printed.
    let mut failed: Option<Error> = None;
    for (nth, path) in args.scenes.iter().enumerate() {
        let start = Instant::now();
        let between = if nth == 0 { "" } else { "\n" };
        let scene = match load_scene(path, args.reading, session) {
            Ok(scene) => scene,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => {
                let error = match mesh::facts(path, error) {
                    Ok(facts) if args.json => {
                        documents.push(mesh::document(path, &facts));
                        continue;
                    }
                    Ok(facts) => {
                        print(format!("{between}{}", mesh::page(path, &facts)))?;
                        continue;
                    }
                    Err(error) => error,
                };
                failed.iter().for_each(|error| fail(&error.to_string()));
                let path = path.display().to_string();
                documents.push(json!({"path": path, "error": error.to_string()}));
                failed = Some(error);
                continue;
            }
        };
        let load_ms = milliseconds(start.elapsed());
        let statistics = SceneStatistics::of(&scene.splats);
        let levels = levels(path, &scene, args.reading, session)?;
        let overdraw = match args.overdraw {
            true => overdraw::overdraw(path, &scene, &args.views, session)?,
            false => Vec::new(),
        };
        if args.json {
            let mut document = document(path, &scene, &statistics, load_ms);
            if !levels.is_empty() {
                document["levels_of_detail"] = json!(levels);
            }
            if args.overdraw {
                document["overdraw"] = json!(overdraw);
            }
            documents.push(console::document(document));
            continue;
        }
        let page = page(path, &scene, &statistics, load_ms);
        print(format!("{between}{page}{}{}", levels_table(&levels), overdraw::table(&overdraw)))?;
    }
    if args.json && args.scenes.len() > 1 {
        print_value(&Value::Array(documents))?;
    } else if let (true, None, Some(document)) = (args.json, &failed, documents.pop()) {
        print_value(&document)?;
    }
    failed.map_or(Ok(Exit::Done), Err)
}

/// A level of detail of a streamed scene.
#[derive(Debug, Serialize)]
struct LevelFacts {
    level_of_detail: u32,
    splats: usize,
    /// Bytes of the files that hold the level, with their description.
    bytes: u64,
}

/// Levels of detail of a scene; empty if it has only one.
fn levels(
    path: &Path,
    scene: &Scene,
    reading: LoadOptions,
    session: &Session,
) -> Result<Vec<LevelFacts>> {
    let count = scene.encoding.lod_levels;
    // Standard input is read only once.
    if count < 2 || path == Path::new("-") {
        return Ok(Vec::new());
    }
    let level = |level_of_detail| {
        let options = LoadOptions::new(reading.axes, level_of_detail);
        let input = SceneInput::file(path).options(options).task(session.task);
        let table = load_table(input)?;
        let bytes = table.encoding.level_bytes;
        Ok(LevelFacts { level_of_detail, splats: table.rows(), bytes })
    };
    (0..count).map(level).collect()
}

fn levels_table(levels: &[LevelFacts]) -> String {
    if levels.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(&["level of detail", "splats", "size"]);
    for LevelFacts { level_of_detail, splats, bytes } in levels {
        table.row([
            level_of_detail.to_string(),
            splats.to_string(),
            HumanBytes(*bytes).to_string(),
        ]);
    }
    format!("\n{table}")
}

/// Builds the JSON document of a scene; infinite numbers become null.
fn document(
    path: &Path,
    scene: &Scene,
    statistics: &SceneStatistics,
    load_ms: f64,
) -> serde_json::Value {
    let (dropped, encoding) = (scene.dropped, &scene.encoding);
    // Values that fit in f32 are printed as f32, which gives fewer digits.
    let coordinate = |v: f64| if f64::from(narrow(v)) == v { json!(narrow(v)) } else { json!(v) };
    let range = |corners: [[f64; 3]; 2]| {
        let [min, max] = corners.map(|corner| corner.map(coordinate));
        json!({"min": min, "max": max})
    };
    let distribution = |d: &Distribution| {
        json!({
            "quantiles": d.quantiles,
            "histogram": {"edges": d.edges, "counts": d.counts},
        })
    };
    json!({
        "path": path.display().to_string(),
        "format": scene.format.name(),
        "encoding": {
            "compression": encoding.compression,
            "axes": encoding.axes.to_string(),
            "axes_stated": encoding.axes_stated,
            "antialiased": encoding.antialiased(),
            "model": encoding.model,
            "order": encoding.order,
            "losses": encoding.losses,
            "unused_columns": encoding.unused_columns,
            "notes": encoding.notes,
            "warnings": encoding.warnings,
        },
        "file_bytes": scene.file_bytes,
        "memory_bytes": scene.splats.size_bytes(),
        "load_ms": load_ms,
        "cameras_beside": find_camera_file(path).map(|path| path.display().to_string()),
        "splats": scene.splats.len(),
        "sh_degree": scene.splats.sh_degree(),
        "dropped": {
            "total": dropped.total(),
            "nan": dropped.nan,
            "infinite": dropped.infinite,
            "zero_rotation": dropped.zero_rotation,
            "scale_overflow": dropped.scale_overflow,
            "opacity_range": dropped.opacity_range,
        },
        "profile_hint": scene.profile_hint,
        "comments": scene.comments,
        "bounds": statistics.bounds.map(range),
        "bounds_1_99": statistics.central_bounds.map(range),
        "quantile_probabilities": SceneStatistics::PROBABILITIES,
        "opacity": statistics.opacity.as_ref().map(distribution),
        "scale": statistics.scale.as_ref().map(distribution),
        "anisotropy": statistics.anisotropy.as_ref().map(distribution),
    })
}

/// Formats the page. Writing to a `String` cannot fail, so results of `writeln!` are ignored.
fn page(path: &Path, scene: &Scene, statistics: &SceneStatistics, load_ms: f64) -> String {
    let mut page = String::new();
    let mut line = |label: &str, text: String| push_line(&mut page, label, &text);
    line("scene", path.display().to_string());
    line(
        "format",
        format!(
            "{}, {}; {} in memory, loaded in {load_ms:.1} ms",
            scene.format.name(),
            HumanBytes(scene.file_bytes),
            HumanBytes(scene.splats.size_bytes() as u64),
        ),
    );
    let encoding = &scene.encoding;
    line("packing", encoding.compression.clone());
    line("losses", encoding.losses.to_owned());
    let stated = match encoding.axes_stated {
        true => "",
        false => ", which the file does not state (--axes changes them)",
    };
    line("axes", format!("{}{stated}", encoding.axes));
    let flag = match encoding.antialiased() {
        None => "not stated",
        Some(true) => "yes",
        Some(false) => "no",
    };
    line("antialias", flag.to_owned());
    if !encoding.unused_columns.is_empty() {
        line("not drawn", encoding.unused_columns.join(", "));
    }
    for note in &encoding.notes {
        line("note", note.clone());
    }
    for warning in &encoding.warnings {
        line("warning", warning.clone());
    }
    let degree = scene.splats.sh_degree();
    let splats = HumanCount(scene.splats.len() as u64);
    line("splats", format!("{splats}, SH degree {degree}"));
    line("dropped", scene.dropped.to_string());
    let profile = scene.profile_hint.map_or_else(
        || "inria, the default, since the file names none".to_owned(),
        |name| format!("{name}, which the file names"),
    );
    line("profile", profile);
    if let Some(cameras) = find_camera_file(path) {
        let cameras = cameras.display();
        line("cameras", format!("{cameras}, beside the scene (render --view all draws them)"));
    }
    for comment in scene.comments.iter().take(COMMENTS_SHOWN) {
        line("comment", comment.chars().take(COMMENT_CHARS).collect());
    }
    if scene.comments.len() > COMMENTS_SHOWN {
        let more = scene.comments.len() - COMMENTS_SHOWN;
        line("", format!("and {more} more comments"));
    }
    for (label, bounds) in [("bounds", statistics.bounds), ("1 - 99 %", statistics.central_bounds)]
    {
        if let Some([min, max]) = bounds {
            let [x, y, z] = [0, 1, 2].map(|i| range(min[i], max[i]));
            line(label, format!("x {x}   y {y}   z {z}"));
        }
    }
    if statistics.opacity.is_some() {
        page.push_str(&distributions(statistics));
    }
    page
}

fn distributions(statistics: &SceneStatistics) -> String {
    let shares = SceneStatistics::PROBABILITIES.map(|p| format!("{} %", p * 100.0));
    let headings: Vec<_> =
        std::iter::once("<quantiles").chain(shares.iter().map(String::as_str)).collect();
    let mut table = TextTable::new(&headings);
    let distributions = [
        ("opacity", &statistics.opacity),
        ("scale", &statistics.scale),
        ("anisotropy", &statistics.anisotropy),
    ];
    for (label, distribution) in distributions {
        let values = distribution.iter().flat_map(|d| d.quantiles).map(short);
        table.row(std::iter::once(label.to_owned()).chain(values));
    }
    let mut text = format!(
        "\n{table}(scale: longest axis, in world units; anisotropy: longest axis over shortest)\n"
    );
    for (label, distribution) in &distributions[..2] {
        if let Some(distribution) = distribution {
            let _ = write!(text, "\n{label}\n{}", histogram(distribution));
        }
    }
    text
}

fn histogram(distribution: &Distribution) -> String {
    let most = distribution.counts.iter().copied().max().unwrap_or(0);
    let total = distribution.counts.iter().sum::<u64>();
    let ranges = distribution.edges.windows(2);
    let mut text = String::new();
    for (count, edges) in distribution.counts.iter().zip(ranges) {
        let share = |whole: u64| *count as f64 / whole.max(1) as f64;
        let length = (share(most) * BAR_CHARS).round();
        let bar: String = (0..40).filter(|i| f64::from(*i) < length).map(|_| '#').collect();
        let _ = writeln!(
            text,
            "{:>10} .. {:<10}{:>6.1} %  {bar}",
            short(edges[0]),
            short(edges[1]),
            share(total) * 100.0,
        );
    }
    text
}
