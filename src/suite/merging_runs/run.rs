use quadrille_base::units::milliseconds;
use std::time::Instant;

use super::MergingRunSettings;
use super::settings::{AreaMeaning, BufferedUnit, MergingSettings};
use crate::key::ViewKey;
use crate::mesh_input::{Look, PreparedMesh, nothing_in_view};
use crate::messages::Messages;
use crate::rows::{BufferEntries, FrameHostMs, MergingUnit, MeshRow, TimedMeshRow};
use crate::supersampled::supersampled;
use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::psnr_db;
use quadrille_base::math::SimdLevel;
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_mesh::frame::{Shading, VisibleFrame};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::result::MeshResult;
use quadrille_mesh::shade::{Shader, Textures};
use quadrille_scene::Camera;

/// Optional results of a run, in addition to its rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergingWants {
    /// Whether frames have their picture.
    pub picture: bool,
    /// Whether frames have the unmerged picture.
    pub unmerged: bool,
    /// Background of the pictures; `None` keeps their alpha.
    pub background: Option<[f32; 3]>,
}

/// A frame that a row describes.
pub struct MergedFrame<'a> {
    /// Tessellated grids of the mesh.
    pub source: &'a dyn GridSource,
    /// The frame before merging.
    pub visible: &'a VisibleFrame,
    /// The quads after merging; `None` for Reyes.
    pub shading: Option<&'a Shading>,
    /// The picture, if it was requested.
    pub picture: Option<Frame>,
    /// The unmerged picture, if it was requested.
    pub unmerged: Option<&'a Frame>,
}

/// Callback for each row and the frame that it describes.
pub type KeepMerged<'k> = dyn FnMut(&MeshRow, MergedFrame<'_>) -> Result<()> + Send + 'k;

impl PreparedMesh<'_, MergingSettings> {
    /// Draws all views on rayon's current pool until `task` is cancelled. `keep` takes each row as soon as it is known.
    pub fn run(
        &self,
        wants: MergingWants,
        level: SimdLevel,
        task: &Task,
        messages: &dyn Messages,
        keep: &mut KeepMerged<'_>,
    ) -> Result<Vec<MeshRow>> {
        let look = self.look(messages)?;
        let choices = self.settings.frames.choices()?;
        let mut rows: Vec<MeshRow> = Vec::new();
        for source in self.input.sources()? {
            let (area, source) = source?;
            let textures = Textures::new(source.textures(), source.materials());
            for camera in &self.views.cameras {
                let view = MeshCamera::new(camera.clone(), self.input.near(camera))
                    .relative_to(source.origin());
                let to_mean = self.tessellated_to_mean(area, camera, &view, level)?;
                let source = to_mean.as_deref().unwrap_or(source.as_ref());
                for &msaa in &self.settings.frames.msaa {
                    let drawn = DrawnFrame {
                        settings: self.settings,
                        wants,
                        level,
                        task,
                        source,
                        area,
                        msaa,
                        camera,
                        view: &view,
                        textures: &textures,
                        look: &look,
                    };
                    drawn.rows(&choices, &mut rows, keep)?;
                }
                if rows.last().is_some_and(|row| row.pixels_covered == 0) {
                    messages.warn(&nothing_in_view(camera));
                }
            }
        }
        Ok(rows)
    }

    fn tessellated_to_mean(
        &self,
        area: Option<f64>,
        camera: &Camera,
        view: &MeshCamera,
        level: SimdLevel,
    ) -> Result<Option<Box<dyn GridSource>>> {
        match (self.settings.frames.area_is, area) {
            (AreaMeaning::Mean, Some(area)) => {
                // Tessellate for one sample per pixel, so that all rows of an area draw the same mesh.
                let settings =
                    self.settings.frames.frame(camera, 1, self.settings.input.memory(), level)?;
                Ok(Some(self.input.tessellated_to_mean(area, view, &settings)?))
            }
            _ => Ok(None),
        }
    }
}

struct DrawnFrame<'a> {
    settings: &'a MergingRunSettings,
    wants: MergingWants,
    level: SimdLevel,
    task: &'a Task,
    source: &'a dyn GridSource,
    area: Option<f64>,
    msaa: u32,
    camera: &'a Camera,
    view: &'a MeshCamera,
    textures: &'a Textures,
    look: &'a Look<'a>,
}

struct ResolvedFrame<'a> {
    visible: VisibleFrame,
    visibility_ms: f64,
    shader: Shader<'a>,
    unmerged: Option<Frame>,
    truth: Option<Frame>,
}

impl DrawnFrame<'_> {
    fn rows(
        &self,
        choices: &[BufferedUnit],
        rows: &mut Vec<MeshRow>,
        keep: &mut KeepMerged<'_>,
    ) -> Result<()> {
        let resolved = self.resolved()?;
        for &choice in choices {
            rows.push(self.row(&resolved, choice, keep)?);
        }
        Ok(())
    }

    fn resolved(&self) -> Result<ResolvedFrame<'_>> {
        let merging = &self.settings.frames;
        let settings =
            merging.frame(self.camera, self.msaa, self.settings.input.memory(), self.level)?;
        let begun = Instant::now();
        let visible = VisibleFrame::new(self.source, [self.view; 2], &settings, self.task)?;
        let mut resolved = ResolvedFrame {
            visible,
            visibility_ms: milliseconds(begun.elapsed()),
            shader: self.look.shader(self.source, self.textures, self.view),
            unmerged: None,
            truth: None,
        };
        if merging.psnr || self.wants.unmerged {
            let shading = resolved.visible.merged(self.source, MergeUnitKind::None);
            resolved.unmerged = Some(self.picture(&resolved, Some(&shading)));
        }
        if merging.psnr_supersampled {
            let shade = |view: &MeshCamera| self.look.shader(self.source, self.textures, view);
            let background = self.wants.background;
            let frame =
                supersampled(self.source, self.view, &settings, shade, background, self.task)?;
            resolved.truth = Some(frame);
        }
        Ok(resolved)
    }

    /// Picture of a frame; the Reyes picture if no quads are shaded.
    fn picture(&self, resolved: &ResolvedFrame<'_>, shading: Option<&Shading>) -> Frame {
        let (visible, shader) = (&resolved.visible, &resolved.shader);
        let background = self.wants.background;
        match shading {
            None => visible.reyes_picture(shader, background),
            Some(shading) => {
                visible.picture(shader, shading, self.settings.frames.sampling, background)
            }
        }
    }

    fn row(
        &self,
        resolved: &ResolvedFrame<'_>,
        (unit, kind): BufferedUnit,
        keep: &mut KeepMerged<'_>,
    ) -> Result<MeshRow> {
        let visible = &resolved.visible;
        let begun = Instant::now();
        let shading = visible.merged(self.source, kind);
        self.task.check()?;
        let merging_ms = milliseconds(begun.elapsed());
        let view = ViewKey::of(self.camera);
        let outcome = MeshResult::of(visible, &shading);
        let buffer = kind.entries().map(BufferEntries);
        let mut row = MeshRow {
            mesh: self.settings.mesh.display().to_string(),
            triangle_area_px: self.area,
            timed: self.timed(visible, (unit, kind))?,
            host_ms: FrameHostMs { visibility: resolved.visibility_ms, merging: merging_ms },
            ..MeshRow::new(&outcome, unit, buffer, view, self.msaa)
        };
        let shading = (unit != MergingUnit::Reyes).then_some(&shading);
        let compared = resolved.unmerged.is_some() || resolved.truth.is_some();
        let picture = (self.wants.picture || compared).then(|| self.picture(resolved, shading));
        self.task.check()?;
        if let (Some(picture), Some(unmerged)) = (&picture, &resolved.unmerged) {
            row.compare_with_none(psnr_db(picture, unmerged)?);
        }
        if let (Some(picture), Some(truth)) = (&picture, &resolved.truth) {
            let has_pixels = row.pixels_covered > 0;
            row.psnr_vs_truth_db = has_pixels.then(|| psnr_db(picture, truth)).transpose()?;
        }
        let frame = MergedFrame {
            source: self.source,
            visible,
            shading,
            picture,
            unmerged: resolved.unmerged.as_ref(),
        };
        keep(&row, frame)?;
        Ok(row)
    }

    fn timed(
        &self,
        visible: &VisibleFrame,
        (unit, kind): BufferedUnit,
    ) -> Result<Option<TimedMeshRow>> {
        let merging = &self.settings.frames;
        if !merging.cycles || unit == MergingUnit::Reyes {
            return Ok(None);
        }
        let begun = Instant::now();
        let (view, settings) = (&visible.view, &visible.settings);
        let config = &merging.hardware;
        let outcome =
            quadrille_mesh_pipeline::run(self.source, view, settings, config, kind, self.task)?;
        let clock_mhz = config.gpu.gpu.clock_mhz;
        let host_ms = milliseconds(begun.elapsed());
        Ok(Some(TimedMeshRow::new(&outcome, clock_mhz, host_ms)))
    }
}
