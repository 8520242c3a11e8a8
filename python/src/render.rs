//! Pictures of scenes.

use pyo3::prelude::*;
use quadrille::{
    Counts, Error, Frame, Layer, LayerPicture, LayerSettings, Profile, RenderSettings, RenderTimes,
    StopRule, TopCount, render_reference, render_reference_layers,
};
use quadrille_base::choice::Choice;
use quadrille_base::image::{FRAME_BYTES, check_memory};

use crate::arrays::{array, array_of_frame};
use crate::camera::RawCamera;
use crate::errors::to_python;
use crate::run::Call;
use crate::scene::RawScene;

/// Names of the profiles; the first is the default.
#[pyfunction]
pub(crate) fn profiles() -> Vec<&'static str> {
    Profile::ALL.iter().map(|profile| profile.name).collect()
}

/// The profile called `name`, or the scene's own.
pub(crate) fn profile(scene: &RawScene, name: Option<&str>) -> PyResult<Profile> {
    let profile = match name.or(scene.profile_hint()) {
        Some(name) => Profile::named(name),
        None => Ok(Profile::default()),
    };
    profile.map_err(to_python)
}

/// How a picture is drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Look {
    profile: Option<String>,
    layers: Vec<String>,
    is_distance: bool,
    stop: Option<String>,
    background: Option<[f32; 3]>,
    reference: bool,
    threads: Option<usize>,
}

impl Look {
    fn settings(&self, scene: &RawScene) -> PyResult<RenderSettings> {
        let mut profile = profile(scene, self.profile.as_deref())?;
        if let Some(text) = &self.stop {
            profile.stop = StopRule::parse(text).ok_or_else(|| {
                let expected = "none, inria, inria:T, gsplat, gsplat:T, hw or hw:ALPHA";
                to_python(Error::argument("stop", expected, text))
            })?;
        }
        Ok(RenderSettings {
            profile,
            ..RenderSettings::default()
        })
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
        Ok(LayerSettings {
            layers,
            is_distance: self.is_distance,
        })
    }
}

/// The layers of a name: one, or two of `top:K`.
fn layers_named(name: &str) -> quadrille::Result<Vec<Layer>> {
    let Some(count) = name.strip_prefix("top:") else {
        return match Layer::named(name) {
            Ok(layer) => Ok(vec![layer]),
            Err(error) => Err(error.about("layers")),
        };
    };
    let count = count.parse().ok().and_then(TopCount::new);
    let layers = count.map(|count| vec![Layer::TopId(count), Layer::TopWeight(count)]);
    layers.ok_or_else(|| {
        let expected = format!("top:1 to top:{}", TopCount::MAX);
        Error::argument("layers", expected, name)
    })
}

/// A frame with its layers.
struct Drawn {
    frame: Frame,
    layers: Vec<LayerPicture>,
    counts: Counts,
    times: Option<RenderTimes>,
}

/// A picture, its layers by name as [planes, H, W], its counts, and the times of its stages in milliseconds.
type Picture<'py> = (
    Bound<'py, PyAny>,
    Vec<(&'static str, Bound<'py, PyAny>)>,
    [(&'static str, u64); 2],
    Vec<(&'static str, f64)>,
);

/// Renders a view.
#[pyfunction]
pub(crate) fn render<'py>(
    py: Python<'py>,
    scene: &RawScene,
    camera: &RawCamera,
    look: Look,
) -> PyResult<Picture<'py>> {
    let (settings, layers) = (look.settings(scene)?, look.layers()?);
    let camera = &camera.0;
    let planes: u64 = layers.layers.iter().map(|l| l.planes() as u64).sum();
    // The frame is copied to the array that Python owns.
    let bytes = 2 * FRAME_BYTES + 2 * size_of::<u32>() as u64 * planes;
    check_memory([camera.width, camera.height], bytes).map_err(to_python)?;
    let mut call = Call::default();
    call.threads = look.threads;
    let mut renderer = scene.take_renderer();
    let splats = &scene.splats;
    let drawn = call.run(py, |task| {
        if look.reference {
            return Ok(match layers.layers.is_empty() {
                true => {
                    let (frame, counts) = render_reference(splats, camera, &settings);
                    Drawn::reference(frame, Vec::new(), counts)
                }
                false => {
                    let (frame, pictures, counts) =
                        render_reference_layers(splats, camera, &settings, &layers);
                    Drawn::reference(frame, pictures, counts)
                }
            });
        }
        let mut frame = Frame::new(camera.width, camera.height);
        if layers.layers.is_empty() {
            let (counts, times) =
                renderer.render_task(&mut frame, splats, camera, &settings, task)?;
            return Ok(Drawn {
                frame,
                layers: Vec::new(),
                counts,
                times: Some(times),
            });
        }
        let of = (splats, camera);
        let (layers, counts, times) =
            renderer.render_layers_task(&mut frame, of, &settings, &layers, task)?;
        Ok(Drawn {
            frame,
            layers,
            counts,
            times: Some(times),
        })
    })?;
    scene.give_renderer(renderer);
    let frame = match look.background {
        Some(colour) => drawn.frame.over(colour),
        None => drawn.frame,
    };
    let layers = drawn.layers.iter().map(|picture| {
        let array = array_of_layer(py, picture)?;
        Ok((picture.layer.name(), array))
    });
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
        stages
            .map(|(name, time)| (name, time.as_secs_f64() * 1e3))
            .to_vec()
    });
    Ok((
        array_of_frame(py, &frame)?,
        layers.collect::<PyResult<_>>()?,
        counts,
        times,
    ))
}

impl Drawn {
    fn reference(frame: Frame, layers: Vec<LayerPicture>, counts: Counts) -> Self {
        Self {
            frame,
            layers,
            counts,
            times: None,
        }
    }
}

/// The planes of a layer as an array [planes, H, W].
fn array_of_layer<'py>(py: Python<'py>, picture: &LayerPicture) -> PyResult<Bound<'py, PyAny>> {
    let planes = picture.layer.planes();
    let shape = [planes, picture.height as usize, picture.width as usize];
    let bits = (0..planes)
        .flat_map(|plane| picture.plane_bits(plane))
        .copied();
    if picture.layer.is_whole() {
        return array(py, bits.collect::<Vec<u32>>(), &shape);
    }
    array(py, bits.map(f32::from_bits).collect::<Vec<f32>>(), &shape)
}
