//! Procedural scenes of any size with the statistics of trained ones, for tests and benches.
//!
//! A recipe is a list of parts, each with a surface, its materials and the density of its splats, which cover the surface
//! evenly. Most splats lie on the surface as flat disks of high opacity, some are buried a few spacings below it, and some
//! are faint haze around it. Hence, as in trained scenes, opacities have two peaks (near 1 and near 0.05), scales are
//! log-normal, and a ray meets several times the splats that it needs (fragments divided by fragments blended at alpha
//! 0.996: `world` 2.3, `object` 3.0, `room` 3.1 to 3.4 at 140 to 150 thousand splats). Light is baked: sun with shadows,
//! sky, ambient occlusion. The size of splats is proportional to their number to the power -1/2, so that coverage does not
//! depend on it.
//!
//! Every splat depends only on recipe, seed, count, degree, order and its index. Scenes are therefore the same on any
//! number of threads, and can be written without holding them in memory.

mod harmonics;
mod light;
mod object;
mod part;
mod random;
mod room;
mod splat;
mod surface;
mod world;

use part::BuiltScene;
use quadrille_base::choice;
use quadrille_base::math::{narrow, whole};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::{Camera, Splat, Splats};
use random::Rng;

pub(crate) const COUNT_RANGE: (u64, u64) = (1, 1_000_000_000);
pub(crate) const MAX_SYNTHETIC_SH_DEGREE: u8 = 3;

choice! {
    /// A kind of procedural scene.
    pub enum Recipe {
        /// A furnished room: indoor and dense, with many hidden surfaces.
        Room = "room",
        /// A vase of flowers on a table top, seen from all sides.
        Object = "object",
        /// An island at sunset: terrain, sea, trees, houses, a lighthouse, clouds.
        World = "world",
    }
}

choice! {
    /// Order of a scene's splats.
    #[derive(Default)]
    pub enum Order {
        /// Consecutive splats lie at random places of a surface, as in the files of trainers.
        #[default]
        Mixed = "mixed",
        /// Consecutive splats are neighbours in space, sorted along a space-filling curve, as in the
        /// files of most exporters. Their median distance is below 0.01 of the median distance between random splats.
        Space = "space",
    }
}

/// A procedural scene, whose splats can be computed one by one.
pub struct Synthetic {
    built: BuiltScene,
    starts: Vec<u64>,
    /// Mean distance between neighbouring splats at density 1, in world units.
    spacing: f32,
    seed: u64,
    sh_degree: u8,
    order: Order,
    task: Task,
}

impl std::fmt::Debug for Synthetic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Synthetic")
            .field("splats", &self.len())
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl Synthetic {
    /// Creates the scene that `recipe` and `seed` define, with `count` splats of degree `sh_degree`.
    ///
    /// # Errors
    /// [`Error::Argument`] when `count` is not in 1 to 10^9 or the degree is above 3.
    pub fn new(recipe: Recipe, seed: u64, count: u64, sh_degree: u8) -> Result<Self> {
        let (least, most) = COUNT_RANGE;
        let expected = format_args!("{least} to {most}");
        Error::refuse_if(!(least..=most).contains(&count), "number of splats", expected, count)?;
        let expected = format_args!("0 to {MAX_SYNTHETIC_SH_DEGREE}");
        Error::refuse_if(sh_degree > MAX_SYNTHETIC_SH_DEGREE, "SH degree", expected, sh_degree)?;
        let built = match recipe {
            Recipe::Room => room::build(seed),
            Recipe::Object => object::build(seed),
            Recipe::World => world::build(seed),
        };
        let total: f64 = built.parts.iter().map(part::Part::load).sum();
        let mut starts = vec![0];
        let mut reached = 0.0;
        for part in &built.parts {
            reached += part.load();
            starts.push(share(count, reached / total));
        }
        if let Some(end) = starts.last_mut() {
            *end = count;
        }
        Ok(Self {
            spacing: narrow((total / count as f64).sqrt()),
            built,
            starts,
            seed,
            sh_degree,
            order: Order::default(),
            task: Task::NEVER,
        })
    }

    /// Changes the order of the splats, which also changes their positions slightly.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Sets the task whose cancellation ends [`Self::splats`] early.
    #[must_use]
    pub fn with_task(self, task: &Task) -> Self {
        Self { task: task.clone(), ..self }
    }

    /// Number of splats, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is always a splat")]
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Degree of the spherical harmonics, 0 to 3.
    pub fn sh_degree(&self) -> u8 {
        self.sh_degree
    }

    /// Cameras of the recipe, the best view first.
    pub fn cameras(&self) -> &[Camera] {
        &self.built.cameras
    }

    /// Computes splat `index`, which must be below [`Synthetic::len`].
    pub fn splat(&self, index: u64) -> Splat {
        let last = self.built.parts.len() - 1;
        let part_index = (self.starts.partition_point(|&start| start <= index) - 1).min(last);
        let part = &self.built.parts[part_index];
        let mut rng = Rng::new(self.seed, index);
        let number = index - self.starts[part_index];
        let uv = match self.order {
            Order::Mixed => random::even_pair(number, self.seed),
            Order::Space => {
                let count = self.starts[part_index + 1] - self.starts[part_index];
                random::pair_along_curve(number, count, self.seed)
            }
        };
        let sample = part.surface.at(uv, &mut rng);
        let material = (part.paint)(&sample, &mut rng);
        let spacing = self.spacing * sample.stretch / part.density.sqrt();
        let unlit = splat::unlit(&sample, &material, spacing, &mut rng);
        splat::finish(&unlit, &material, &self.built.light, self.sh_degree, &mut rng)
    }

    /// Computes all splats, or fewer if the task of [`Self::with_task`] is cancelled.
    pub fn splats(&self) -> Splats {
        let indices = (0..self.len()).take_while(|_| !self.task.is_cancelled());
        Splats::from_splats(self.sh_degree, indices.map(|i| self.splat(i)))
    }
}

fn share(count: u64, fraction: f64) -> u64 {
    whole::<u64>((count as f64 * fraction).round()).min(count)
}
