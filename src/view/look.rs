//! Settings of the pictures that the flags of the command set.

use std::sync::Arc;

use super::stage::{ListedView, LoadedScene};
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::{Profile, SplatOrder, StopRule};
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::config::Config;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;
use quadrille_scene::cameras::Exposures;
use quadrille_scene::{Camera, Splats};
use quadrille_suite::mesh_input::PlacedMeshes;

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
    /// Meshes among the splats.
    pub(crate) meshes: Option<Arc<PlacedMeshes>>,
}

impl Look {
    pub(crate) fn profile(&self, scene: &LoadedScene, chosen: Option<Profile>) -> Profile {
        self.ruled(chosen.unwrap_or(scene.profile))
    }

    /// Draws splats on the emulated pipeline, behind the meshes.
    ///
    /// # Errors
    /// The errors of the pipeline and of the meshes.
    pub(crate) fn emulated(
        &self,
        splats: &Splats,
        camera: &Camera,
        profile: &Profile,
        variant: Variant,
        watch: Watch,
        task: &Task,
    ) -> Result<Outcome> {
        let (profile, _) = profile.of_ellipsoids();
        let machine = Machine::new(&self.config, Method::from(variant), watch)?;
        let profile = if self.meshes.is_some() { profile.among_surfaces()? } else { profile };
        let view = PreparedView::new(splats, camera, &profile, self.level, task)?;
        let view = match &self.meshes {
            Some(meshes) => view.before(meshes.depths(camera, self.level, task)?)?,
            None => view,
        };
        let missing = || Error::argument("renderer", "an outcome of the pipeline", "none");
        let run = Machine::run_all(&[machine], &view, task)?.into_iter().next();
        Ok(run.ok_or_else(missing)?.outcome)
    }

    /// A profile with the rules that flags replace.
    pub(crate) fn ruled(&self, profile: Profile) -> Profile {
        let profile = self.near.map_or(profile, |near| profile.with_near(near));
        let (stop, order) = (self.stop.unwrap_or(profile.stop), self.order.or(profile.order));
        Profile { stop, order, ..profile }
    }
}
