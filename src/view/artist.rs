//! The render thread: takes jobs of all pages, round robin, draws them on a thread pool, and encodes the pictures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::eight_bit::frame_of;
use super::encode::{Uncoded, microseconds};
use super::film::FlownPath;
use super::header::{Codec, Kind, NOTHING_IN_VIEW, PREVIEW};
use super::hub::{Client, ClientId, Hub};
use super::look::Look;
use super::mailbox::{DrawJob, SideJob};
use super::message::{FlyRequest, OutlinesRequest, PictureRequest, ProbeRequest, Reference, Saved};
use super::outbox::Picture;
use super::outlines::{outline, seen};
use super::pace::Cost;
use super::painter::{Painter, StillPictures};
use super::photo::part_of;
use super::source::Drawn;
use super::stage::{LoadedScene, SceneContent, Stage, camera_of, point_at};
use quadrille_base::Task;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::metrics::{Protocol, compare};
use quadrille_base::image::{Frame, Layer, LayerPicture, files, to_8_bit};
use quadrille_base::math::narrow;
use quadrille_render::cpu::surfaces::SurfaceScene;
use quadrille_render::cpu::{LayerSettings, RenderSettings};
use quadrille_render::preprocess::ViewTransform;
use quadrille_scene::Camera;

/// Lossless stills that take longer on the link are preceded by a lossy preview.
const LONG: Duration = Duration::from_millis(300);
const PREVIEW_QUALITY: u8 = 90;
const LISTED_SPLATS: usize = 64;

pub(crate) struct Artist {
    hub: Arc<Hub>,
    look: Arc<Look>,
    pool: Arc<ThreadPool>,
    painter: Painter,
}

impl Artist {
    pub(crate) fn new(hub: Arc<Hub>, look: Arc<Look>, pool: Arc<ThreadPool>) -> Self {
        let painter = Painter::new(Arc::clone(&look));
        Self { hub, look, pool, painter }
    }

    pub(crate) fn run(mut self) {
        while let Some((id, job, stage)) = self.hub.next_job() {
            let reference = reference_of(&job);
            // A panic in the pool ends only this job.
            let hub = Arc::clone(&self.hub);
            let error = match catch_unwind(AssertUnwindSafe(|| self.serve(id, &job, &stage))) {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => {
                    self.painter = Painter::new(Arc::clone(&self.look));
                    Some(Error::argument("server", "no failure", "an internal error"))
                }
            };
            hub.with(id, |client| {
                match &job {
                    DrawJob::Frame(request) if error.is_some() => {
                        client.mailbox.abandoned(request.seq);
                    }
                    DrawJob::Still(..) => client.mailbox.still_ended(),
                    _ => {}
                }
                if let Some(error) = &error {
                    client.send_error(reference, error);
                }
            });
        }
    }

    fn serve(&mut self, id: ClientId, job: &DrawJob, stage: &Stage) -> Result<()> {
        match job {
            DrawJob::Frame(request) => self.frame(id, request, stage),
            DrawJob::Still(request, task) => {
                let still = self.pool.install(|| self.painter.still(request, stage, task))?;
                let stats = self.stats(&still, stage);
                self.hub.with(id, |client| client.send(&stats));
                send_still(&self.hub, id, still, stage.generation, &self.pool)
            }
            DrawJob::Side(SideJob::Probe(request)) => self.probe(id, request, stage),
            DrawJob::Side(SideJob::Measure { id: request }) => self.measure(id, *request),
            DrawJob::Side(SideJob::Save { id: request, seq, what }) => {
                self.save(id, *request, *seq, *what, stage)
            }
            DrawJob::Side(SideJob::Fly(request)) => self.fly(id, request),
            DrawJob::Side(SideJob::Outlines(request)) => self.outlines(id, request, stage),
        }
    }

    /// Times of the stages of a still, and memory of the server by its parts.
    fn stats(&self, still: &StillPictures, stage: &Stage) -> Value {
        let times = &still.stages;
        let stages = [
            ("preprocess", times.preprocess),
            ("bin", times.bin),
            ("sort", times.sort),
            ("raster", times.raster),
            ("whole picture", still.time),
        ];
        // Other renderers than the fast one state no stages.
        let stages = stages.into_iter().filter(|(_, time)| !time.is_zero());
        let stages: Vec<_> =
            stages.map(|(name, time)| json!([name, time.as_secs_f64() * 1e3])).collect();
        let scenes = stage.scenes.iter().filter_map(|scene| {
            let [whole, filtered] = scene.splat_bytes()?;
            let rows = [json!([&scene.name, whole]), json!(["filtered splats", filtered])];
            Some(rows.into_iter().take(if filtered > 0 { 2 } else { 1 }))
        });
        let parts = [
            json!(["renderer", self.painter.used_bytes()]),
            json!(["this picture", still.size_bytes()]),
            json!(["whole server", resident_bytes()]),
        ];
        let memory: Vec<_> = scenes.flatten().chain(parts).collect();
        json!({"t": "stats", "stages_ms": stages, "memory_bytes": memory})
    }

    fn frame(&mut self, id: ClientId, request: &PictureRequest, stage: &Stage) -> Result<()> {
        let window = [request.w, request.h];
        let Some(step) = self.hub.with(id, |client| client.pace.step(window)) else {
            return Ok(());
        };
        let size = step.size(window);
        let (painter, pool) = (&mut self.painter, &self.pool);
        let screen = pool.install(|| painter.screen(request, size, stage))?;
        let picture = Uncoded {
            kind: Kind::Frame,
            number: request.seq,
            generation: stage.generation,
            flags: if screen.is_empty { NOTHING_IN_VIEW } else { 0 },
            render_us: microseconds(screen.total),
            size: screen.size,
            rgb: &screen.rgb,
        };
        let encoding = Instant::now();
        let picture = picture.jpeg(step.quality)?;
        let cost = Cost {
            pixels: u64::from(size[0]) * u64::from(size[1]),
            fixed: screen.fixed,
            raster: screen.total.saturating_sub(screen.fixed),
            encode: encoding.elapsed(),
            bytes: picture.bytes.len(),
        };
        self.hub.with(id, |client| {
            client.pace.measured(&cost, window, client.link.rate());
            if let Some((legend, side)) = screen.legend {
                client.send(&legend.message(side, request.seq));
            }
            client.outbox.frame(picture);
        });
        Ok(())
    }

    fn probe(&mut self, id: ClientId, request: &ProbeRequest, stage: &Stage) -> Result<()> {
        let (drawn, pixel) = (request.shot.drawn()?, [request.x, request.y]);
        let camera = camera_of(&request.shot.cam, request.shot.size(), &self.look.views)?;
        let scene = stage.scene(&drawn)?;
        let depth = match &scene.content {
            SceneContent::Mesh(mesh) => {
                Some(mesh.depth(&camera.as_pinhole(), pixel, &Task::NEVER)?)
            }
            SceneContent::Splats(_) if self.look.meshes.is_some() => {
                Some(self.depth_among(&scene, &drawn, &camera, pixel)?)
            }
            SceneContent::Splats(_) => None,
        };
        if let Some(depth) = depth {
            // Meshes have no splats to list; their surface is a centre for movements.
            let pinhole = camera.as_pinhole();
            let point = depth.and_then(|depth| point_at(&pinhole, pixel, depth));
            let answer = json!({"t": "probe", "id": request.id, "depth": depth, "point": point});
            self.hub.with(id, |client| client.send(&answer));
            return Ok(());
        }
        let settings = RenderSettings {
            profile: self.look.profile(&scene, drawn.profile),
            level: self.look.level,
        };
        let (splats, renderer) = (scene.splats()?, &mut self.painter.renderer);
        let probe = self.pool.install(|| renderer.probe(splats, &camera, &settings, pixel))?;
        let left = 1.0 - probe.alpha;
        let background = drawn.background.unwrap_or(self.look.background).map(f64::from);
        let over = [0, 1, 2].map(|c| probe.rgb[c] + left * background[c]);
        let rgb8 = over.map(|c| to_8_bit(narrow(c)));
        let (largest, rest_count, rest_weight) = probe.largest(LISTED_SPLATS);
        let view = ViewTransform::new(splats, &camera, &settings.profile);
        let outlined = largest.iter().map(|fragment| {
            let mut row = json!(fragment);
            row["outline"] = json!(outline(splats, &view, &camera, fragment.index));
            row
        });
        let largest: Vec<Value> = outlined.collect();
        let median = probe.fragments.iter().find(|fragment| fragment.depth >= probe.depth_median);
        let centre = || splats.position(&splats.splat(median?.index as usize)).into();
        let point = point_at(&camera, pixel, probe.depth_median);
        let point = point.or_else(centre).filter(|_| median.is_some());
        self.hub.with(id, |client| {
            let maps = client.map.as_ref().map(|map| map.values(request));
            client.send(&json!({
                "t": "probe",
                "id": request.id,
                "x": request.x,
                "y": request.y,
                "rgb": probe.rgb,
                "rgb8": rgb8,
                "alpha": probe.alpha,
                "depth": probe.depth,
                "depth_median": probe.depth_median,
                "point": point,
                "count": probe.fragments.len(),
                "splats": largest,
                "rest_count": rest_count,
                "rest_weight": rest_weight,
                "maps": maps.unwrap_or_default(),
            }));
        });
        Ok(())
    }

    /// Mean depth of a pixel of splats among meshes; `None` where nothing is.
    fn depth_among(
        &mut self,
        scene: &LoadedScene,
        drawn: &Drawn,
        camera: &Camera,
        [x, y]: [u32; 2],
    ) -> Result<Option<f64>> {
        let depths = self.layer(Layer::Depth, scene, drawn, camera)?;
        let at = y as usize * camera.width as usize + x as usize;
        let depth = depths.and_then(|depths| depths.plane(0).get(at).copied());
        Ok(depth.filter(|depth| *depth > 0.0 && depth.is_finite()).map(f64::from))
    }

    /// Draws a layer of splats, among the meshes if there are any.
    fn layer(
        &mut self,
        layer: Layer,
        scene: &LoadedScene,
        drawn: &Drawn,
        camera: &Camera,
    ) -> Result<Option<LayerPicture>> {
        let (splats, level) = (scene.splats()?, self.look.level);
        let settings = RenderSettings { profile: self.look.profile(scene, drawn.profile), level };
        let layers = LayerSettings { layers: vec![layer], is_distance: false };
        let (renderer, meshes, task) =
            (&mut self.painter.renderer, &self.look.meshes, &Task::NEVER);
        let mut frame = Frame::new(0, 0);
        let (pictures, ..) = self.pool.install(|| match meshes {
            Some(meshes) => {
                let surfaces = &meshes.surfaces(camera, level, task)?;
                let scene = SurfaceScene { splats, surfaces };
                renderer.render_surfaces(&mut frame, scene, camera, &settings, &layers, task)
            }
            None => renderer.render_layers(&mut frame, splats, camera, &settings, &layers, task),
        })?;
        Ok(pictures.into_iter().next())
    }

    fn outlines(&mut self, id: ClientId, request: &OutlinesRequest, stage: &Stage) -> Result<()> {
        let drawn = request.shot.drawn()?;
        let camera = camera_of(&request.shot.cam, request.shot.size(), &self.look.views)?;
        let scene = stage.scene(&drawn)?;
        let splats = scene.splats()?;
        let identifiers = self.layer(Layer::Id, &scene, &drawn, &camera)?;
        let (largest, all) = seen(identifiers.as_ref().map_or(&[], LayerPicture::integers));
        let profile = self.look.profile(&scene, drawn.profile);
        let view = ViewTransform::new(splats, &camera, &profile);
        let outlines = largest.iter().filter_map(|index| outline(splats, &view, &camera, *index));
        let outlines: Vec<_> = outlines.collect();
        let answer = json!({"t": "outlines", "id": request.id, "outlines": outlines, "all": all});
        self.hub.with(id, |client| client.send(&answer));
        Ok(())
    }

    fn measure(&self, id: ClientId, request: u32) -> Result<()> {
        let still = self.hub.with(id, |client| client.still.clone()).flatten();
        let missing = || Error::argument("measure", "a still of two pictures", "none");
        let still = still.ok_or_else(missing)?;
        let b = still.b.as_ref().ok_or_else(missing)?;
        let [a, b] = [&still.a, b].map(|rgb| match still.covered {
            None => frame_of(rgb, still.size),
            Some(area) => {
                let (part, size) = part_of(rgb, still.size, area);
                frame_of(&part, size)
            }
        });
        // The metrics of picture files: both pictures are rounded to 8 bits.
        let measured = self.pool.install(|| compare(&a, &b, Protocol::Inria))?;
        self.hub.with(id, |client| {
            client.send(&json!({
                "t": "measured",
                "id": request,
                "psnr_db": measured.psnr_db,
                "ssim": measured.ssim,
                "flip": measured.flip,
            }));
        });
        Ok(())
    }

    fn save(&self, id: ClientId, request: u32, seq: u32, what: Saved, stage: &Stage) -> Result<()> {
        let missing = || Error::argument("save", "a picture of the last still or map", "none");
        let kept = self.hub.with(id, |client| (client.still.clone(), client.map.clone()));
        let (still, map) = kept.ok_or_else(missing)?;
        let still = still.filter(|still| still.seq == seq);
        let of_still = |rgb: Option<&Vec<u8>>| Some(frame_of(rgb?, still.as_ref()?.size));
        let frame = match (what, &still) {
            (Saved::Map, _) => map.as_ref().and_then(|map| map.picture()),
            (Saved::A, Some(still)) => of_still(Some(&still.a)),
            (Saved::B, Some(still)) => of_still(still.b.as_ref()),
            (Saved::Difference, Some(still)) => of_still(still.difference.as_ref()),
            (_, None) => None,
        };
        let frame = frame.ok_or_else(missing)?;
        let start = Instant::now();
        let mut bytes = Vec::new();
        let written =
            self.pool.install(|| files::write_to(&mut bytes, files::PictureFormat::Png, &frame));
        written.map_err(|reason| Error::write("picture.png".as_ref(), reason))?;
        let file = Uncoded {
            kind: Kind::File,
            number: request,
            generation: stage.generation,
            flags: 0,
            render_us: 0,
            size: [frame.width(), frame.height()],
            rgb: &[],
        };
        let file = file.picture(Codec::Png, Bytes::from(bytes), start);
        self.hub.with(id, |client| client.outbox.in_parts(file));
        Ok(())
    }

    fn fly(&self, id: ClientId, request: &FlyRequest) -> Result<()> {
        let path = FlownPath::new(request, &self.look.views)?;
        self.hub.with(id, |client| {
            client.send(&json!({
                "t": "fly",
                "id": request.id,
                "fps": request.fps,
                "cameras": path.for_page(),
                "camera_path": path.text,
            }));
        });
        Ok(())
    }
}

/// Resident memory of this process, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

fn reference_of(job: &DrawJob) -> Reference {
    match job {
        DrawJob::Frame(request) | DrawJob::Still(request, _) => Reference::Seq(request.seq),
        DrawJob::Side(
            SideJob::Probe(ProbeRequest { id, .. })
            | SideJob::Measure { id }
            | SideJob::Save { id, .. }
            | SideJob::Fly(FlyRequest { id, .. })
            | SideJob::Outlines(OutlinesRequest { id, .. }),
        ) => Reference::Id(*id),
    }
}

/// Sends a still losslessly, after a lossy preview if the link is slow.
pub(crate) fn send_still(
    hub: &Hub,
    id: ClientId,
    still: StillPictures,
    generation: u32,
    pool: &ThreadPool,
) -> Result<()> {
    let pictures = shown(&still, generation, 0);
    let lossless: Result<Vec<Picture>> =
        pool.install(|| pictures.par_iter().map(Uncoded::webp).collect());
    let lossless = lossless?;
    let bytes: usize = lossless.iter().map(|picture| picture.bytes.len()).sum();
    let rate = hub.with(id, |client| client.link.rate()).flatten();
    let is_long = rate.is_some_and(|rate| bytes as f64 / rate > LONG.as_secs_f64());
    let mut previews = Vec::new();
    if is_long {
        for picture in shown(&still, generation, PREVIEW) {
            previews.push(picture.jpeg(PREVIEW_QUALITY)?);
        }
    }
    hub.with(id, |client: &mut Client| {
        if let Some((legend, side)) = still.legend {
            client.send(&legend.message(side, still.seq));
        }
        previews.into_iter().chain(lossless).for_each(|picture| client.outbox.in_parts(picture));
        client.still = Some(Arc::new(still));
    });
    Ok(())
}

fn shown(still: &StillPictures, generation: u32, flags: u16) -> Vec<Uncoded<'_>> {
    let pictures = match (&still.difference, &still.b) {
        (Some(difference), _) => vec![(Kind::Difference, difference)],
        (None, Some(b)) => vec![(Kind::StillA, &still.a), (Kind::StillB, b)],
        (None, None) => vec![(Kind::StillA, &still.a)],
    };
    let empty = if still.is_empty { NOTHING_IN_VIEW } else { 0 };
    let uncoded = pictures.into_iter().map(|(kind, rgb)| Uncoded {
        kind,
        number: still.seq,
        generation,
        flags: flags | empty,
        render_us: microseconds(still.time),
        size: still.size,
        rgb,
    });
    uncoded.collect()
}
