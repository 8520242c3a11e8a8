use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::inputs::has_mesh_extension;
use super::session::Session;
use quadrille_base::image::{Frame, Layer};
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::surface::ProceduralScene;
use quadrille_mesh::frame::VisibleFrame;
use quadrille_mesh::merge::{MergeUnitKind, QfmSettings};
use quadrille_mesh::shade::Textures;
use quadrille_scene::Camera;
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::cameras::{FramingTarget, Views};
use quadrille_suite::Silent;
use quadrille_suite::merging_runs::{MergingRunSettings, MergingSettings};
use quadrille_suite::mesh_input::{PreparedMesh, up_of};
use quadrille_view::DrawMesh;

const SAMPLES: u32 = 4;
/// Samples of pictures of a moving camera, whose quads are merged, and whose triangles are those of a picture of this share of
/// the sides: together a third of the time (measured with `arcade`).
const MOVING_SAMPLES: u32 = 1;
const MOVING_SHARE: u32 = 2;

pub(super) struct ShownMesh {
    pub(super) drawer: Arc<dyn DrawMesh>,
    pub(super) views: Views,
    pub(super) subject: FramingTarget,
    pub(super) up: [f64; 3],
}

#[derive(Clone)]
pub(super) struct MeshSettings {
    pub(super) views: ViewSpec,
    pub(super) session: Session,
}

/// Whether a path is certainly a mesh: by its extension, or as a procedural name.
pub(super) fn is_mesh(path: &Path) -> bool {
    let name = path.to_str().unwrap_or_default();
    let is_procedural = ProceduralScene::from_name(name).is_ok() && !path.exists();
    is_procedural || has_mesh_extension(path)
}

struct Drawing {
    camera: Camera,
    task: Task,
    reply: Reply,
}

enum Reply {
    /// Picture over a background, of a moving camera or exact.
    Picture([f32; 3], bool, Sender<Result<Frame>>),
    /// Depth of the surface in a pixel.
    Depth([u32; 2], Sender<Result<Option<f64>>>),
}

impl Reply {
    // Sending fails if the page was closed meanwhile.
    fn refuse(self, error: Error) {
        match self {
            Self::Picture(_, _, reply) => drop(reply.send(Err(error))),
            Self::Depth(_, reply) => drop(reply.send(Err(error))),
        }
    }
}

/// Handle of the thread that owns a mesh, whose triangles, textures and light borrow from it.
struct MeshThread(Mutex<Sender<Drawing>>);

impl MeshThread {
    fn ask<T>(
        &self,
        camera: &Camera,
        task: &Task,
        reply: impl FnOnce(Sender<Result<T>>) -> Reply,
    ) -> Result<T> {
        let (sender, answer) = channel();
        let drawing = Drawing { camera: camera.clone(), task: task.clone(), reply: reply(sender) };
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = || Error::argument("mesh", "a picture", "an internal error");
        thread.send(drawing).map_err(|_| failed())?;
        drop(thread);
        answer.recv().map_err(|_| failed())?
    }
}

impl DrawMesh for MeshThread {
    fn draw(
        &self,
        camera: &Camera,
        background: [f32; 3],
        is_moving: bool,
        task: &Task,
    ) -> Result<Frame> {
        self.ask(camera, task, |reply| Reply::Picture(background, is_moving, reply))
    }

    fn depth(&self, camera: &Camera, pixel: [u32; 2], task: &Task) -> Result<Option<f64>> {
        self.ask(camera, task, |reply| Reply::Depth(pixel, reply))
    }
}

impl MeshSettings {
    pub(super) fn open(&self, path: &Path) -> Result<ShownMesh> {
        let run = MergingRunSettings {
            mesh: path.to_owned(),
            views: self.views.clone(),
            ..MergingRunSettings::default()
        };
        let (pool, settings) = (self.session.new_pool()?, self.clone());
        let (requests, drawings) = channel();
        let (ready, opened) = channel();
        std::thread::spawn(move || {
            let prepared = match run.prepare(&settings.session) {
                Ok(prepared) => prepared,
                Err(error) => {
                    // Cannot fail: the caller waits for the reply.
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            // Silent, since the choice of the up axis was already reported with the views.
            let framing = prepared.input.framing(up_of(&run.views), &Silent);
            let _ = ready.send(Ok((prepared.views.clone(), framing.subject, framing.up)));
            let prepared = &prepared;
            pool.install(move || serve(prepared, drawings, &settings));
        });
        let failed = |_| Error::argument("mesh", "a mesh that can be read", "an internal error");
        let (views, subject, up) = opened.recv().map_err(failed)??;
        Ok(ShownMesh { drawer: Arc::new(MeshThread(Mutex::new(requests))), views, subject, up })
    }
}

fn serve(
    prepared: &PreparedMesh<'_, MergingSettings>,
    drawings: Receiver<Drawing>,
    look: &MeshSettings,
) {
    let drawn = (|| {
        let mut sources = prepared.input.sources()?;
        let missing = || Error::argument("mesh", "triangles", "none");
        let (_, source) = sources.next().ok_or_else(missing)??;
        Ok::<_, Error>(source)
    })();
    let source = match drawn {
        Ok(source) => source,
        Err(error) => return refuse(drawings, &error),
    };
    let light = match prepared.look(&look.session) {
        Ok(light) => light,
        Err(error) => return refuse(drawings, &error),
    };
    let textures = Textures::new(source.textures(), source.materials());
    let settings = MergingSettings::default();
    for drawing in drawings {
        let Drawing { camera, task, reply } = drawing;
        let view = MeshCamera::new(camera.clone(), prepared.input.near(&camera))
            .relative_to(source.origin());
        let visible = |samples, tessellated: &MeshCamera| {
            let frame =
                settings.frame(&camera, samples, prepared.input.memory(), look.session.level)?;
            VisibleFrame::new(&*source, [tessellated, &view], &frame, &task)
        };
        let draw = |background, is_moving| {
            let (visible, unit) = match is_moving {
                true => {
                    let [width, height] =
                        [camera.width, camera.height].map(|side| side.div_ceil(MOVING_SHARE));
                    let coarse = camera.resized(width, height)?;
                    let coarse = MeshCamera::new(coarse, prepared.input.near(&camera));
                    let coarse = coarse.relative_to(source.origin());
                    let unit = MergeUnitKind::Qfm(QfmSettings::default());
                    (visible(MOVING_SAMPLES, &coarse)?, unit)
                }
                false => (visible(SAMPLES, &view)?, MergeUnitKind::None),
            };
            let shading = visible.merged(&*source, unit);
            task.check()?;
            let shader = light.shader(&*source, &textures, &view);
            Ok(visible.picture(&shader, &shading, settings.sampling, Some(background)))
        };
        let depth = |[x, y]: [u32; 2]| {
            let layers = visible(SAMPLES, &view)?.layers(&[Layer::Depth]);
            let at = y as usize * camera.width as usize + x as usize;
            let depth = layers.first().and_then(|layer| layer.plane(0).get(at).copied());
            Ok(depth.filter(|depth| *depth > 0.0).map(f64::from))
        };
        // Sending fails if the page was closed meanwhile.
        match reply {
            Reply::Picture(background, is_moving, reply) => {
                drop(reply.send(draw(background, is_moving)));
            }
            Reply::Depth(pixel, reply) => drop(reply.send(depth(pixel))),
        }
    }
}

fn refuse(drawings: Receiver<Drawing>, error: &Error) {
    for drawing in drawings {
        drawing.reply.refuse(Error::argument("mesh", "a mesh that can be drawn", error));
    }
}
