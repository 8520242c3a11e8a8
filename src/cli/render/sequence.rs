//! Sequences of scenes as frames.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::Job;
use crate::cli::outputs::refuse_given;
use crate::cli::scene_sequence::{SceneSequence, ShownScenes};
use quadrille_base::error::{Error, Result};
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::cameras::Views;
use quadrille_scene::{Camera, Scene};

/// A sequence whose scenes are drawn one after the other.
pub(super) struct SequenceSource {
    scenes: ShownScenes,
    /// Splats, degree of the harmonics and bytes of the largest scene so far.
    largest: (usize, u8, usize),
}

impl SequenceSource {
    /// Opens a sequence and reads its first scene; `None` if the path of the call names one scene.
    pub(super) fn open(job: &Job<'_>) -> Result<Option<Self>> {
        let args = job.args;
        let sequence = SceneSequence::find(&args.scene)?;
        if args.sequence_fps.is_some() {
            if sequence.is_none() {
                let needed = "a sequence: a folder of numbered scenes, or a pattern";
                return Err(Error::needs("--sequence-fps", needed));
            }
            if job.film.is_none() {
                return Err(Error::needs("--sequence-fps", "-o with the name of a film"));
            }
        }
        let Some(sequence) = sequence else { return Ok(None) };
        let refused = [
            ("--memory", args.memory.is_some()),
            ("--probe", !args.probe.is_empty()),
            ("--repeat", args.repeat.is_some()),
            ("--resume", args.resume),
        ];
        let other = format!("a sequence ({} names its first scene)", sequence.paths()[0].display());
        refuse_given(refused, |flag| Error::conflict(flag, other))?;
        let scenes = ShownScenes::open(sequence, args.reading, &args.filters, job.session)?;
        Ok(Some(Self { scenes, largest: (0, 0, 0) }))
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        self.scenes.sequence().paths()
    }

    /// The scene of the frames that were drawn last, or the first one.
    pub(super) fn scene(&self) -> Option<&Scene> {
        self.scenes.current()
    }

    pub(super) fn show(&mut self, job: &Job<'_>, views: &mut Views) -> Result<()> {
        let rates = job.args.sequence_fps.zip(job.film.as_ref());
        let rates = rates.map(|(scenes, film)| [scenes, film.rate(views)]);
        let shown = self.scenes.sequence().frames(views, rates)?;
        self.scenes.show(shown);
        Ok(())
    }

    /// Calls `draw` with each scene, its frames, and `settings` with its own profile.
    pub(super) fn each_scene(
        &mut self,
        job: &Job<'_>,
        cameras: &[Camera],
        settings: &RenderSettings,
        mut draw: impl FnMut(&Scene, &[Camera], RenderSettings) -> Result<()>,
    ) -> Result<()> {
        let flags = &job.args.flags;
        let mut rest = cameras;
        while !rest.is_empty() {
            let frame = cameras.len() - rest.len();
            let (frames, others) = rest.split_at(self.scenes.run_length(frame));
            let (scene, _) = self.scenes.of_frame(frame)?;
            let splats = &scene.splats;
            let (count, degree, bytes) = self.largest;
            self.largest = (
                count.max(splats.len()),
                degree.max(splats.sh_degree()),
                bytes.max(splats.size_bytes()),
            );
            let own = flags.draw.profile(scene.profile_hint, job.session)?;
            draw(scene, frames, RenderSettings { profile: flags.rules.applied(own), ..*settings })?;
            rest = others;
        }
        Ok(())
    }

    /// Path of the sequence, size of its largest scene, and the file of each frame.
    pub(super) fn json(&self, path: &Path) -> Value {
        let (splats, sh_degree, bytes) = self.largest;
        let shown = self.scenes.paths().map(|path| path.display().to_string());
        json!({
            "path": path.display().to_string(),
            "splats": splats,
            "sh_degree": sh_degree,
            "bytes": bytes,
            "shown": shown.collect::<Vec<_>>(),
        })
    }
}
