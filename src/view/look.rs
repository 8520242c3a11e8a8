//! Settings of the pictures that the flags of the command set.

use super::stage::{ListedView, LoadedScene};
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::{Profile, SplatOrder, StopRule};
use quadrille_gpu::config::Config;
use quadrille_scene::cameras::Exposures;

#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) views: Vec<ListedView>,
    pub(crate) background: [f32; 3],
    /// Stop rule, near plane and order that override the profile.
    pub(crate) stop: Option<StopRule>,
    pub(crate) near: Option<f64>,
    pub(crate) order: Option<SplatOrder>,
    pub(crate) exposures: Option<Exposures>,
    pub(crate) level: SimdLevel,
    pub(crate) config: Config,
}

impl Look {
    pub(crate) fn profile(&self, scene: &LoadedScene, chosen: Option<Profile>) -> Profile {
        self.ruled(chosen.unwrap_or(scene.profile))
    }

    /// A profile with the rules that flags replace.
    pub(crate) fn ruled(&self, profile: Profile) -> Profile {
        let profile = self.near.map_or(profile, |near| profile.with_near(near));
        let (stop, order) = (self.stop.unwrap_or(profile.stop), self.order.or(profile.order));
        Profile { stop, order, ..profile }
    }
}
