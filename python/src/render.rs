//! Rendering of scenes to numpy arrays: colours and layers.

use pyo3::prelude::*;
use quadrille::deferred::camera::motion::CameraMotion;
use quadrille::surfaces::SurfaceScene;
use quadrille::{
    Camera, Counts, Error, Frame, Layer, LayerPicture, LayerSettings, Profile, RenderSettings,
    RenderTimes, Renderer, Splats, StopRule, Task, TopCount, render_reference,
    render_reference_layers, render_reference_surfaces,
};
use quadrille_base::choice::Choice;
use quadrille_base::image::{FRAME_BYTES, check_memory, composite_over};
use quadrille_base::shading::SplatOrder;
use quadrille_suite::blur::{
    BlurSettings, CameraMotionSettings, LensSettings, ViewBlur, draw_blurred, median_depth,
};

use crate::arrays::{array, filled};
use crate::camera::RawCamera;
use crate::errors::to_python;
use crate::meshes::RawMeshes;
use crate::run::Call;
use crate::scene::RawScene;

/// Returns the names of the profiles; the first is the default.
#[pyfunction]
pub(crate) fn profiles() -> Vec<&'static str> {
    Profile::ALL.iter().map(|profile| profile.name).collect()
}

/// Returns the profile called `name`; for `None`, the profile that the scene's file names, or else the default. `near`
/// replaces its near plane.
pub(crate) fn profile(
    scene: &RawScene,
    name: Option<&str>,
    near: Option<f64>,
) -> PyResult<Profile> {
    let profile = match name.or(scene.profile_hint()) {
        Some(name) => Profile::named(name),
        None => Ok(Profile::default()),
    };
    let profile = profile.map_err(to_python)?;
    Ok(checked_near(near)?.map_or(profile, |near| profile.with_near(near)))
}

/// Reads the order of splats called `name`.
pub(crate) fn order(name: Option<&str>) -> PyResult<Option<SplatOrder>> {
    let named = name.map(|name| name.parse().map_err(|error: Error| error.about("order")));
    named.transpose().map_err(to_python)
}

/// Refuses near planes that are not in front of the camera.
pub(crate) fn checked_near(near: Option<f64>) -> PyResult<Option<f64>> {
    let is_valid = near.is_none_or(|near| near > 0.0 && near.is_finite());
    let found = near.map_or(String::new(), |near| near.to_string());
    Error::refuse_if(!is_valid, "near", "a depth above 0, in world units", found)
        .map_err(to_python)?;
    Ok(near)
}

/// Drawing options, as passed by the Python package.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Look {
    profile: Option<String>,
    near: Option<f64>,
    order: Option<String>,
    layers: Vec<String>,
    is_distance: bool,
    stop: Option<String>,
    background: Option<[f32; 3]>,
    reference: bool,
    threads: Option<usize>,
    meshes: Option<Py<RawMeshes>>,
    blur: Option<Blur>,
}

/// Lens and shutter, as passed by the Python package.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Blur {
    f_stop: Option<f64>,
    sensor_height: Option<f64>,
    aperture: Option<f64>,
    coc_px: Option<f64>,
    focus: Option<f64>,
    focus_at: Option<[f64; 3]>,
    towards: Option<Py<RawCamera>>,
    shutter: f64,
    rolling_shutter: Option<String>,
    samples: u32,
}

impl Blur {
    fn lens(&self) -> LensSettings {
        LensSettings {
            aperture: self.aperture,
            f_stop: self.f_stop,
            sensor_height: self.sensor_height,
            coc_px: self.coc_px,
            focus: self.focus,
            focus_at: self.focus_at,
        }
    }

    /// The camera with its rolling shutter; `None` for a blur.
    fn rolled(&self, camera: &Camera, profile: &Profile) -> quadrille::Result<Option<Camera>> {
        let Some(direction) = &self.rolling_shutter else { return Ok(None) };
        let direction = direction.parse().map_err(|e: Error| e.about("rolling_shutter"))?;
        let Some(next) = &self.towards else {
            return Err(Error::needs("rolling_shutter", "towards"));
        };
        let blur = BlurSettings {
            camera: CameraMotionSettings { shutter: Some(self.shutter), ..Default::default() },
            lens: self.lens(),
            blur_samples: None,
            rolling_shutter: Some(direction),
        };
        blur.check()?;
        let views = || Ok(vec![camera.clone(), next.get().0.clone()]);
        Ok(blur.rolled(vec![camera.clone()], profile, views)?.pop())
    }

    fn of_view(
        &self,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
    ) -> quadrille::Result<ViewBlur> {
        let lens = self.lens();
        lens.check()?;
        let is_share = (0.0..=1.0).contains(&self.shutter);
        Error::refuse_if(!is_share, "shutter", "a number from 0 to 1", self.shutter)?;
        let next = self.towards.as_ref().map(|next| &next.get().0);
        let motion = next
            .map_or(CameraMotion::NONE, |next| CameraMotion::towards(camera, next, self.shutter));
        let lens = lens.of(camera, || median_depth(splats, camera, settings))?;
        ViewBlur::new(camera, motion, lens, self.samples)
    }
}

impl Look {
    fn settings(&self, scene: &RawScene) -> PyResult<RenderSettings> {
        let mut profile = profile(scene, self.profile.as_deref(), self.near)?;
        profile.order = order(self.order.as_deref())?;
        if let Some(text) = &self.stop {
            profile.stop = StopRule::parse(text).ok_or_else(|| {
                let expected = "none, inria, inria:T, gsplat, gsplat:T, hw or hw:ALPHA";
                to_python(Error::argument("stop", expected, text))
            })?;
        }
        Ok(RenderSettings { profile, ..RenderSettings::default() })
    }

    fn layers(&self) -> PyResult<LayerSettings> {
        let mut layers = Vec::new();
        for name in &self.layers {
            for layer in layers_named(name).map_err(to_python)? {
                if !layers.contains(&layer) {
                    layers.push(layer);
                }
            }
        }
        Ok(LayerSettings { layers, is_distance: self.is_distance })
    }
}

/// Parses a layer name, which stands for one layer or, for `top:K`, two (splat identifiers and weights).
fn layers_named(name: &str) -> quadrille::Result<Vec<Layer>> {
    let Some(count) = name.strip_prefix("top:") else {
        return match Layer::named(name) {
            Ok(layer) => Ok(vec![layer]),
            Err(error) => Err(error.about("layers")),
        };
    };
    let count = count.parse().ok().and_then(TopCount::new);
    let layers = count.map(|count| vec![Layer::TopId(count), Layer::TopWeight(count)]);
    layers.ok_or_else(|| Error::argument("layers", format!("top:1 to top:{}", TopCount::MAX), name))
}

/// Results of a draw other than the colours.
struct Drawn {
    layers: Vec<LayerPicture>,
    counts: Counts,
    times: Option<RenderTimes>,
}

/// Drawing options with parsed profile and layers.
struct Drawing {
    settings: RenderSettings,
    layers: LayerSettings,
    background: Option<[f32; 3]>,
    reference: bool,
    meshes: Option<Py<RawMeshes>>,
    blur: Option<Blur>,
}

impl Drawing {
    /// Draws a view to `pixels`, row by row: blurred if there is a blur, over the background.
    fn draw(
        &self,
        pixels: &mut [[f32; 4]],
        renderer: &mut Renderer,
        splats: &Splats,
        camera: &Camera,
        task: &Task,
    ) -> quadrille::Result<Drawn> {
        let rolled = |blur: &Blur| blur.rolled(camera, &self.settings.profile).transpose();
        let rolled = self.blur.as_ref().and_then(rolled).transpose()?;
        let camera = rolled.as_ref().unwrap_or(camera);
        let drawn = match self.blur.as_ref().filter(|_| rolled.is_none()) {
            None => self.draw_sharp(pixels, renderer, splats, camera, task)?,
            Some(blur) => {
                let blur = blur.of_view(splats, camera, &self.settings)?;
                let mut mean = Frame::new(0, 0);
                let counts = draw_blurred(&mut mean, camera, &blur, &|frame, renderer, camera| {
                    frame.resize(camera.width, camera.height);
                    let pixels = frame.pixels_mut();
                    self.draw_sharp(pixels, renderer, splats, camera, task)
                        .map(|drawn| drawn.counts)
                })?;
                pixels.copy_from_slice(mean.pixels());
                Drawn { layers: Vec::new(), counts, times: None }
            }
        };
        if let Some(colour) = self.background {
            composite_over(pixels, colour);
        }
        Ok(drawn)
    }

    fn draw_sharp(
        &self,
        pixels: &mut [[f32; 4]],
        renderer: &mut Renderer,
        splats: &Splats,
        camera: &Camera,
        task: &Task,
    ) -> quadrille::Result<Drawn> {
        let (settings, has_layers) = (&self.settings, !self.layers.layers.is_empty());
        let mut frame = None;
        let surfaces =
            |meshes: &Py<RawMeshes>| meshes.get().0.surfaces(camera, settings.level, task);
        let surfaces = self.meshes.as_ref().map(surfaces).transpose()?;
        let scene = surfaces.as_ref().map(|surfaces| SurfaceScene { splats, surfaces });
        let (layers, counts, times) = match (self.reference, has_layers, scene) {
            (true, _, Some(scene)) => {
                let (drawn, layers, counts) =
                    render_reference_surfaces(scene, camera, settings, &self.layers)?;
                frame = Some(drawn);
                (layers, counts, None)
            }
            (false, _, Some(scene)) => {
                let drawn = frame.insert(Frame::new(camera.width, camera.height));
                let (layers, counts, times) =
                    renderer.render_surfaces(drawn, scene, camera, settings, &self.layers, task)?;
                (layers, counts, Some(times))
            }
            (true, false, None) => {
                let (drawn, counts) = render_reference(splats, camera, settings);
                frame = Some(drawn);
                (Vec::new(), counts, None)
            }
            (true, true, None) => {
                let (drawn, layers, counts) =
                    render_reference_layers(splats, camera, settings, &self.layers);
                frame = Some(drawn);
                (layers, counts, None)
            }
            // Drawn directly into the pixels: copying the frame takes a tenth of the drawing time.
            (false, false, None) => {
                let (counts, times) =
                    renderer.render_pixels(pixels, splats, camera, settings, task)?;
                (Vec::new(), counts, Some(times))
            }
            (false, true, None) => {
                let drawn = frame.insert(Frame::new(camera.width, camera.height));
                let (layers, counts, times) =
                    renderer.render_layers(drawn, splats, camera, settings, &self.layers, task)?;
                (layers, counts, Some(times))
            }
        };
        if let Some(frame) = frame {
            pixels.copy_from_slice(frame.pixels());
        }
        Ok(Drawn { layers, counts, times })
    }
}

/// Result of `render`: picture, named layers [planes, H, W], counts, and times of stages in milliseconds.
type Picture<'py> = (
    Bound<'py, PyAny>,
    Vec<(&'static str, Bound<'py, PyAny>)>,
    [(&'static str, u64); 2],
    Vec<(&'static str, f64)>,
);

/// Renders a view of a scene to an array [H, W, 4], and layers.
#[pyfunction]
pub(crate) fn render<'py>(
    py: Python<'py>,
    scene: &RawScene,
    camera: &RawCamera,
    look: Look,
) -> PyResult<Picture<'py>> {
    let drawing = Drawing {
        settings: look.settings(scene)?,
        layers: look.layers()?,
        background: look.background,
        reference: look.reference,
        meshes: look.meshes,
        blur: look.blur,
    };
    let is_blurred = drawing.blur.as_ref().is_some_and(|blur| blur.rolling_shutter.is_none());
    if is_blurred && !drawing.layers.layers.is_empty() {
        return Err(to_python(Error::conflict("layers", "blur")));
    }
    let camera = &camera.0;
    let planes: u64 = drawing.layers.layers.iter().map(|l| l.planes() as u64).sum();
    // Frame and layers count twice, since they are copied to arrays that Python owns.
    let bytes = 2 * FRAME_BYTES + 2 * size_of::<u32>() as u64 * planes;
    check_memory([camera.width, camera.height], bytes).map_err(to_python)?;
    let mut call = Call::default();
    call.threads = look.threads;
    let (mut renderer, splats) = (scene.take_renderer(), scene.splats());
    let shape = [camera.height as usize, camera.width as usize, 4];
    let (picture, drawn) = filled(py, &shape, |values| {
        let pixels = values.as_chunks_mut().0;
        call.run(py, |task| drawing.draw(pixels, &mut renderer, splats, camera, task))
    })?;
    scene.give_renderer(renderer);
    let layers =
        drawn.layers.iter().map(|picture| Ok((picture.layer.name(), array_of_layer(py, picture)?)));
    let counts = [
        ("splats_in_frustum", drawn.counts.splats_in_frustum),
        ("fragments_blended", drawn.counts.fragments_blended),
    ];
    let times = drawn.times.map_or_else(Vec::new, |times| {
        let stages = [
            ("preprocess", times.preprocess),
            ("bin", times.bin),
            ("sort", times.sort),
            ("raster", times.raster),
            ("total", times.total),
        ];
        stages.map(|(name, time)| (name, time.as_secs_f64() * 1e3)).to_vec()
    });
    Ok((picture, layers.collect::<PyResult<_>>()?, counts, times))
}

/// Copies a layer to an array [planes, H, W].
fn array_of_layer<'py>(py: Python<'py>, picture: &LayerPicture) -> PyResult<Bound<'py, PyAny>> {
    let planes = picture.layer.planes();
    let shape = [planes, picture.height as usize, picture.width as usize];
    let bits = (0..planes).flat_map(|plane| picture.plane_bits(plane)).copied();
    if picture.layer.is_whole() {
        return array(py, bits.collect::<Vec<u32>>(), &shape);
    }
    array(py, bits.map(f32::from_bits).collect::<Vec<f32>>(), &shape)
}
