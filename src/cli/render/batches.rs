//! `render --memory`: pictures of a scene that is larger than memory.

use std::ops::Range;
use std::path::Path;

use quadrille_base::bytes::Bytes;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, Frame};
use quadrille_base::shading::Profile;
use quadrille_render::ChunkIndex;
use quadrille_render::cpu::{DrawnView, KEPT_BYTES, RenderSettings, Renderer};
use quadrille_scene::formats::{EachBatch, SplatBatches, open_batches, scene_file};
use quadrille_scene::{Camera, Dropped};

use super::args::{Args, Job};
use crate::cli::frames::Backend;
use crate::cli::inputs::{about_lod, note_file_of_folder, warn_of_dropped};
use crate::cli::outputs::first_given;
use crate::cli::session::Session;
use crate::cli::views::check_frames;

/// Divisor of `--memory` for the arrays of a batch: one eighth.
const BATCH_SHARE: u64 = 8;
/// Divisor of `--memory` for the splats in view: one half. The remaining 3/8 hold decoded parts of the file and, once
/// those are dropped, the tile lists and the pictures.
const KEPT_SHARE: u64 = 2;

/// A scene file that is read in batches, as often as drawing needs.
pub(super) struct Batches {
    pub(super) file: SplatBatches,
    memory: Bytes,
    dropped: Dropped,
}

/// Row ranges that contain every splat visible to any of `cameras`; `None` without a readable index.
pub(super) fn seen_rows(
    path: &Path,
    batches: &SplatBatches,
    cameras: &[Camera],
    profile: &Profile,
    session: &Session,
) -> Option<Vec<Range<usize>>> {
    match ChunkIndex::read(path, batches) {
        Ok(index) => {
            let seen = index?.seen(cameras, profile, batches.rows());
            let rows: usize = seen.iter().map(ExactSizeIterator::len).sum();
            let all = batches.rows();
            session.remark(&format!("{}: {rows} of {all} rows may be visible", path.display()));
            Some(seen)
        }
        Err(error) => {
            session.warn(&format!("{error}; the whole scene is read"));
            None
        }
    }
}

fn refuse(job: &Job<'_>, memory: Bytes, batches: &SplatBatches, whole: u64) -> Result<()> {
    let file = job.args.scene.display();
    let of_output = (job.output.is_none() && job.film.is_none()).then_some("a command without -o");
    if let Some(found) = whole_scene_flag(job.args).or(of_output) {
        let other = format!(
            "{found}: {file} takes {whole} bytes and is read in batches, which draw pictures (-o) or films of a camera file \
             (--cameras, --view or --path)"
        );
        return Err(Error::conflict(format!("--memory {memory}"), other));
    }
    let working = batches.working_bytes();
    if working > memory.0 - memory.0 / BATCH_SHARE - memory.0 / KEPT_SHARE {
        // Decoding may use 3/8 of the memory (see `KEPT_SHARE`); round up to whole MiB.
        let least =
            Bytes(working.saturating_mul(8).div_ceil(3).div_ceil(1 << 20).saturating_mul(1 << 20));
        let expected = format!(
            "at least {least} for {file}, since {working} bytes of it are decoded at once (the whole scene takes {whole} bytes)"
        );
        return Err(Error::argument("--memory", expected, memory));
    }
    Ok(())
}

pub(super) fn whole_scene_flag(args: &Args) -> Option<&'static str> {
    let flags = &args.flags;
    let keys = args.film.path.keys(&args.views).map(|keys| keys.beside(&args.scene));
    // The scale of orthographic cameras is that of the scene's content.
    let are_of_file = keys.is_ok_and(|keys| keys.cameras.is_some() && !keys.is_orthographic());
    first_given([
        ("views that are chosen from the scene", !are_of_file),
        ("--repeat", args.repeat.is_some()),
        ("--list-views", args.list_views),
        ("--probe", !args.probe.is_empty()),
        ("--resume", args.resume),
        ("filters of splats", !args.filters.is_empty()),
        ("a --backend other than cpu", flags.backend != Backend::Cpu),
        ("--aov", !flags.layers.settings().layers.is_empty()),
        ("--exposures", flags.exposures.file().is_some()),
        ("--mesh", args.meshes.is_given()),
        ("a blur or a rolling shutter", !args.blur.is_default()),
    ])
}

impl Batches {
    /// Opens the scene in batches; `None` if `--memory` is not given or the scene fits in it.
    pub(super) fn open(job: &Job<'_>) -> Result<Option<Self>> {
        let args = job.args;
        let Some(memory) = args.memory else { return Ok(None) };
        let path = scene_file(&args.scene)?;
        if path == Path::new("-") || path.exists() && !path.is_file() {
            let needed = "a scene in a file, which can be read several times";
            return Err(Error::needs("--memory", format!("{needed}, not {}", path.display())));
        }
        let file = open_batches(&path, args.reading).map_err(about_lod)?;
        let whole = file.scene_bytes().saturating_add(file.rows() as u64 * KEPT_BYTES as u64);
        if whole <= memory.0 {
            return Ok(None);
        }
        refuse(job, memory, &file, whole)?;
        note_file_of_folder(&args.scene, job.session);
        Ok(Some(Self { file, memory, dropped: Dropped::default() }))
    }

    /// Number of valid splats, degree of their harmonics, and bytes in memory.
    pub(super) fn size(&self) -> (usize, u8, u64) {
        let splats = self.file.rows() - quadrille_base::math::index(self.dropped.total());
        (splats, self.file.sh_degree(), self.file.size_bytes(splats))
    }

    /// Draws a frame for each of `cameras`, and calls `each` with the camera's index, the frame, its counts and times.
    pub(super) fn draw(
        &mut self,
        job: &Job<'_>,
        cameras: &[Camera],
        settings: &RenderSettings,
        each: impl FnMut(usize, &Frame, DrawnView) -> Result<()> + Send,
    ) -> Result<()> {
        let (args, session) = (job.args, job.session);
        check_frames(cameras, FRAME_BYTES)?;
        let path = scene_file(&args.scene)?;
        let seen = || Ok(seen_rows(&path, &self.file, cameras, &settings.profile, session));
        if let Some(seen) = session.install(seen)? {
            self.file.only(seen);
        }
        let scene = args.scene.display();
        let of_many = self.file.size_bytes(1 << 20) >> 20;
        let rows = self.memory.0 / BATCH_SHARE / (of_many + KEPT_BYTES as u64);
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let mut passes = 0;
        let pass = |each: EachBatch<'_>| {
            passes += 1;
            let notes = self.file.for_each(rows, session.task, each)?;
            if passes == 1 {
                self.dropped = notes.dropped;
                warn_of_dropped(&args.scene, notes.dropped, session);
                for warning in notes.warnings {
                    session.warn(&format!("{scene}: {warning}"));
                }
            }
            Ok(())
        };
        let kept_bytes = self.memory.0 / KEPT_SHARE;
        session.install(|| {
            let mut renderer = Renderer::default();
            renderer.render_batches(pass, cameras, settings, kept_bytes, session.task, each)
        })?;
        session
            .remark(&format!("{scene}: batches of {rows} splats, passes over the file: {passes}"));
        Ok(())
    }
}
