//! `mesh --versus` and `--to-splats`: one subject as a mesh and as splats.

use std::io::Write;
use std::path::Path;

use super::args::Args;
use crate::cli::inputs::load_scene;
use crate::cli::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_whole;
use quadrille_base::shading::Profile;
use quadrille_geometry::camera::MeshCamera;
use quadrille_mesh::shade::Textures;
use quadrille_scene::LoadOptions;
use quadrille_scene::formats::ply::PlyWriter;
use quadrille_scene::formats::{OutputFormat, SceneInput, WriteOptions, load_table, write_table};
use quadrille_suite::merging_runs::MergingSettings;
use quadrille_suite::mesh_input::PreparedMesh;
use quadrille_suite::report::table::TextTable;
use quadrille_suite::versus::{MeshComparison, SplatVersion, Versus, splats_of};

pub(super) fn run(
    args: &Args,
    merging: &MergingSettings,
    prepared: &PreparedMesh<'_, MergingSettings>,
    session: &Session,
) -> Result<Option<Versus>> {
    let flags = &args.versus;
    if flags.versus.is_none() && flags.to_splats.is_none() {
        return Ok(None);
    }
    let (input, cameras) = (&prepared.input, &prepared.views.cameras);
    let [camera] = cameras.as_slice() else {
        return Err(one("views (choose one with --view)", cameras.len()));
    };
    let look = prepared.look(session)?;
    let areas = args.input.tessellate.len();
    let mut sources = input.sources()?;
    let (Some(source), true) = (sources.next(), areas <= 1) else {
        return Err(one("areas of --tessellate", areas));
    };
    let (_, source) = source?;
    let source = source.as_ref();
    let view = MeshCamera::new(camera.clone(), input.near(camera)).relative_to(source.origin());
    let textures = Textures::new(source.textures(), source.materials());
    let shader = look.shader(source, &textures, &view);
    if let Some(path) = &flags.to_splats {
        let version = splats_of(source, &view, &shader, session.task)?;
        write_splats(path, &version, source.origin(), session)?;
    }
    let Some(path) = &flags.versus else { return Ok(None) };
    let scene = load_scene(path, LoadOptions::default(), session)?;
    if let (_, Some(warning)) = Profile::for_ellipsoids(None, scene.profile_hint)? {
        session.warn(warning);
    }
    let mut samples = merging.msaa.clone();
    samples.push(1);
    samples.sort_unstable();
    samples.dedup();
    let patterns = samples.iter().map(|&count| merging.pattern(count));
    let comparison = MeshComparison {
        source,
        view: &view,
        shader: &shader,
        sampling: merging.sampling,
        settings: merging.frame(camera, samples[0], input.memory(), session.level)?,
        patterns: patterns.collect::<Result<_>>()?,
        task: session.task,
    };
    comparison.with(&scene).map(Some)
}

pub(super) fn page(versus: &Versus) -> String {
    let mut table = TextTable::new(&Versus::HEADINGS);
    versus.cells().for_each(|cells| table.row(cells));
    let sentences: String = versus.explanation().into_iter().map(|s| format!("\n{s}\n")).collect();
    format!("{table}{sentences}")
}

fn one(what: &str, found: usize) -> Error {
    Error::argument(format!("--versus, --to-splats: {what}"), "one", found)
}

/// Writes splats whose centres are relative to `origin`; far from zero, as doubles.
fn write_splats(
    path: &Path,
    version: &SplatVersion,
    origin: [f64; 3],
    session: &Session,
) -> Result<()> {
    let count = version.splats.len();
    let write = |out: &mut dyn Write| {
        let comment = "quadrille mesh --to-splats: one flat splat per triangle";
        let mut writer = PlyWriter::new(out, count as u64, 0, &[comment])?;
        for splat in &version.splats {
            writer.push(splat)?;
        }
        writer.finish().map(drop)
    };
    if origin == [0.0; 3] {
        write_whole(path, session.task, |out| write(out))?;
    } else {
        let mut file = Vec::new();
        write(&mut file).map_err(|e| Error::write(path, e))?;
        let mut table = load_table(SceneInput::bytes(&file))?;
        let mut raw = table.raw(path, session.task)?;
        for (centres, by) in raw.mean.iter_mut().zip(origin) {
            centres.iter_mut().for_each(|centre| *centre += by);
        }
        table.set_raw(raw);
        write_table(path, &table, WriteOptions::new(OutputFormat::Ply).task(session.task))?;
    }
    let dropped = version.dropped;
    session.remark(&format!(
        "{}: {count} splats; {dropped} triangles without area were dropped",
        path.display()
    ));
    Ok(())
}
