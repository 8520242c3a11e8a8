//! Random small pictures whose gradients are tested.

use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use super::{ScalarPicture, ScalarScene};
use crate::cpu::RenderSettings;
use crate::cpu::channels::{ChannelDepth, ChannelSettings, ChannelValues};
use quadrille_base::Task;
use quadrille_base::math::{SimdLevel, index, narrow};
use quadrille_base::shading::{Profile, SplatOrder};
use quadrille_scene::{Camera, FisheyeLens, Intrinsics, Projection, SplatSlices};

pub(super) const SPLATS: usize = 7;
const PROFILES: [&str; 6] =
    ["inria", "inria-aa", "gsplat", "gsplat-aa", "gsplat-1.5", "gsplat-1.5-aa"];

pub(super) struct Random(pub(super) Pcg32);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }

    pub(super) fn numbers(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| self.between(-size, size)).collect()
    }

    fn array<const N: usize>(&mut self, size: f64) -> [f64; N] {
        std::array::from_fn(|_| self.between(-size, size))
    }

    fn is_one_of(&mut self, n: u32) -> bool {
        self.0.random::<u32>().is_multiple_of(n)
    }
}

/// Inputs of a random picture.
pub(super) struct Case {
    pub(super) means: Vec<[f32; 3]>,
    pub(super) scales: Vec<[f32; 3]>,
    pub(super) rotations: Vec<[f32; 4]>,
    pub(super) opacities: Vec<f32>,
    pub(super) sh: Vec<[f32; 3]>,
    pub(super) sh_degree: u8,
    /// Values per splat; `None` for colours.
    pub(super) channels: Option<usize>,
    pub(super) values: Vec<f32>,
    pub(super) depth: Option<ChannelDepth>,
    pub(super) background: Option<Vec<f32>>,
    pub(super) camera: Camera,
    pub(super) settings: RenderSettings,
}

impl Case {
    pub(super) fn new(seed: u64) -> Self {
        let random = &mut Random(Pcg32::seed_from_u64(seed));
        let [width, height] = [8, 8].map(|least| least + random.0.random::<u32>() % 5);
        let mut lens = Intrinsics::from_vertical_fov(width, height, random.between(0.6, 1.6));
        lens.focal_px[0] *= random.between(0.7, 1.3);
        lens.principal_px[0] += random.between(-3.0, 3.0);
        lens.principal_px[1] += random.between(-3.0, 3.0);
        let eye = Vector3::from(random.array(3.0));
        let target = eye + Vector3::from(random.array(2.0));
        let up = Vector3::from(random.array(1.0));
        let camera = Camera::look_at("random", lens, eye, target, up).unwrap();
        // Depth at which an orthographic camera shows splats as large as the pinhole.
        let is_orthographic = seed % 4 == 3;
        let plane = |z: f64| if is_orthographic { 3.0 } else { z };
        // Large opaque splats close pixels by the stop rule.
        let is_wall = random.is_one_of(6);
        let (mut means, mut scales) = (Vec::new(), Vec::new());
        let (mut rotations, mut opacities) = (Vec::new(), Vec::new());
        for _ in 0..SPLATS {
            let z = random.between(0.5, 6.0);
            let tangents = camera.half_fov_tangents().map(|t| t * random.between(-1.5, 1.5));
            let p_view = Vector3::new(tangents[0] * plane(z), tangents[1] * plane(z), z);
            means.push(
                (camera.view_from_world.transpose() * (p_view - camera.translation_in_view))
                    .map(narrow)
                    .into(),
            );
            let is_tiny = !is_wall && random.is_one_of(8);
            let sigma_px = match is_wall {
                true => [1.0, 1.5],
                false if is_tiny => [-2.5, -1.7],
                false => [-0.8, 0.7],
            };
            scales.push([0; 3].map(|_| {
                let sigma_px = random.power(sigma_px[0], sigma_px[1]);
                narrow(sigma_px * plane(z) / camera.focal_px[1])
            }));
            let length = random.power(-1.0, 1.0);
            let turn = random.array::<4>(1.0);
            let norm = turn.iter().map(|q| q * q).sum::<f64>().sqrt();
            rotations.push(turn.map(|q| narrow(q * length / norm)));
            let is_opaque = is_wall || is_tiny || random.is_one_of(3);
            opacities.push(narrow(if is_opaque {
                1.0 - random.power(-4.0, -1.0)
            } else {
                random.between(0.0, 1.0)
            }));
        }
        let camera = if is_orthographic {
            let focal_px = camera.focal_px.map(|focal| focal / plane(1.0));
            Camera { focal_px, projection: Projection::Orthographic, ..camera }
        } else if seed % 8 == 5 {
            let lens =
                FisheyeLens::new([[0.0; 4], [0.05, -0.02, 0.01, -0.002]][index(seed / 8 % 2)]);
            Camera { projection: Projection::Fisheye(lens.unwrap()), ..camera }
        } else {
            camera
        };
        let sh_degree = u8::try_from(seed % 5).unwrap();
        let turn = index(seed);
        let channels = [None, None, Some(1), Some(3), Some(5), Some(0)][turn / 5 % 6];
        let stored = (usize::from(sh_degree) + 1).pow(2) + usize::from(random.is_one_of(4));
        let numbers = |random: &mut Random, count: usize, size: f64| -> Vec<f32> {
            random.numbers(count, size).into_iter().map(narrow).collect()
        };
        let sh = (0..SPLATS * stored).map(|_| random.array(0.6).map(narrow)).collect();
        let values = numbers(random, SPLATS * channels.unwrap_or(0), 2.0);
        let depths = [None, Some(ChannelDepth::Sum), Some(ChannelDepth::Mean)];
        let depth = index(random.0.random()) % 3;
        let depth = if channels == Some(0) { depth.max(1) } else { depth };
        let has_background = random.is_one_of(2);
        let background = has_background.then(|| numbers(random, channels.unwrap_or(3), 1.5));
        let mut profile = Profile::named(PROFILES[turn % PROFILES.len()]).unwrap();
        if seed % 32 == 5 {
            // Fisheyes cull, order and measure by distance or, with gsplat, by depth.
            profile.order = Some(SplatOrder::Depth);
        }
        Self {
            means,
            scales,
            rotations,
            opacities,
            sh,
            sh_degree,
            channels,
            values,
            depth: depths[depth],
            background,
            camera,
            settings: RenderSettings { profile, level: SimdLevel::best() },
        }
    }

    /// Makes splats opaque or transparent, needles and points, invalid, and some at the camera.
    pub(super) fn make_extreme(&mut self, seed: u64) {
        let random = &mut Random(Pcg32::seed_from_u64(seed));
        for at in 0..SPLATS {
            self.opacities[at] = [0.0, 1.0][random.0.random::<u32>() as usize % 2];
            for scale in &mut self.scales[at] {
                *scale *= [0.0, 1e-9, 1e-3, 1.0, 1e3][random.0.random::<u32>() as usize % 5];
            }
        }
        self.means[0] = self.camera.eye().map(narrow).into();
        self.rotations[1] = [0.0; 4];
        self.means[2] = [f32::NAN; 3];
        if let Some(value) = self.values.last_mut() {
            *value = f32::INFINITY;
        }
        self.settings.profile.near = 0.0;
    }

    pub(super) fn slices(&self) -> SplatSlices<'_> {
        SplatSlices {
            means: &self.means,
            scales: &self.scales,
            rotations: &self.rotations,
            opacities: &self.opacities,
            sh: &self.sh,
        }
    }

    pub(super) fn channel_settings(&self) -> ChannelSettings<'_> {
        let values = match self.channels {
            None => ChannelValues::Colours,
            Some(0) => ChannelValues::None,
            Some(channels) => ChannelValues::Rows { values: &self.values, channels },
        };
        let background = self.background.as_deref();
        ChannelSettings { values, depth: self.depth, background, has_spread: false }
    }

    pub(super) fn scene(&self) -> ScalarScene {
        ScalarScene::new(self.slices(), self.sh_degree, &self.channel_settings()).unwrap()
    }

    pub(super) fn draw<'a>(&self, scene: &'a ScalarScene) -> ScalarPicture<'a> {
        ScalarPicture::draw(scene, &self.camera, &self.settings, &Task::NEVER).unwrap()
    }
}

/// Covariances of splats that are given by their axes.
pub(super) fn with_covariances(scene: &ScalarScene) -> ScalarScene {
    ScalarScene { shapes: scene.shapes.as_covariances(), ..scene.clone() }
}
