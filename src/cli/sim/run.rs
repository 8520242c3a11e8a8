//! Runs of a view by all methods, with their pictures and files.

use std::time::Instant;

use super::files::{Files, file_name};
use super::sequence::Sequence;
use super::{Shown, SimJob};
use crate::cli::outputs::Output;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::{self, Protocol};
use quadrille_base::shading::{Profile, StopRule};
use quadrille_base::{Result, Task};
use quadrille_gpu::estimates;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::view::PreparedView;
use quadrille_render::cpu::{RenderSettings, reference};
use quadrille_scene::{Camera, Splats};
use quadrille_suite::Configuration;
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_suite::report::simulated::{AgainstReference, Simulated, VariantRun, ViewFacts};

impl SimJob<'_> {
    pub(super) fn simulate<'a>(
        &'a self,
        shown: &'a Shown,
        (camera, splats): (&Camera, &Splats),
        prepared: &PreparedView<'_>,
        task: &Task,
        configuration: &'a Configuration,
        sequence: &Sequence,
        files: &mut Files<'_>,
    ) -> Result<Simulated<'a>> {
        let (config, watch) = (&configuration.config, self.args.files.watch());
        let machine = |method: &Method| match self.args.sequence.warm {
            true => sequence.warm.machine(config, *method, watch),
            false => Machine::new(config, *method, watch),
        };
        let machines: Vec<Machine> = self.methods.iter().map(machine).collect::<Result<_>>()?;
        let draw = |meshes: &PlacedMeshes| meshes.timed(camera, config, self.session.level, task);
        let mesh_draw = self.meshes.as_ref().map(draw).transpose()?;
        let start = Instant::now();
        let runs = Machine::run_all(&machines, prepared, task)?;
        let host = [prepared.prepared_in, start.elapsed()];
        let reference = self.reference(camera, splats, shown.profile);
        let work = self.args.frame.then(|| prepared.workload());
        let runs = runs.into_iter().map(|run| {
            let is_seen = self.output.is_some() || reference.is_some();
            let frame = is_seen.then(|| run.outcome.frame());
            let names = [camera.name.as_str(), &file_name(run.outcome.method())];
            let save = |(output, frame): (&Output, &Frame)| {
                output.save(frame, names, self.args.flags.background)
            };
            let compared = frame.as_ref().zip(reference.as_ref());
            Ok(VariantRun {
                output: self.output.zip(frame.as_ref()).map(save).transpose()?,
                against_reference: compared.map(|(a, b)| against(a, b)).transpose()?,
                frame: work.and_then(|work| estimates::frame_times(&run.outcome, &work, config)),
                energy: (self.args.energy.then(|| estimates::energy(&run.outcome, config)))
                    .flatten(),
                outcome: run.outcome,
                host: run.host,
            })
        });
        let simulated = Simulated {
            scene: &shown.facts,
            view: ViewFacts {
                name: camera.name.clone(),
                width: camera.width,
                height: camera.height,
                splats_in_frustum: prepared.splats_in_view,
            },
            profile: shown.profile.name,
            config,
            preset: &configuration.preset,
            host,
            mesh_draw,
            runs: runs.collect::<Result<_>>()?,
        };
        files.write(&simulated, file_name)?;
        Ok(simulated)
    }

    fn reference(&self, camera: &Camera, splats: &Splats, profile: Profile) -> Option<Frame> {
        let settings = RenderSettings {
            profile: Profile { stop: StopRule::Never, ..profile },
            level: self.session.level,
        };
        let render = || reference::render(splats, camera, &settings).0;
        self.args.reference.then(render)
    }
}

fn against(frame: &Frame, reference: &Frame) -> Result<AgainstReference> {
    let comparison = metrics::compare(frame, reference, Protocol::Float)?;
    let is_blank = reference.pixels().iter().all(|pixel| pixel[3] == 0.0);
    Ok(AgainstReference { psnr_db: comparison.psnr_db, max_abs: comparison.max_abs, is_blank })
}
