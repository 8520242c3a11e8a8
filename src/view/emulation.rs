//! The emulating thread: maps of the emulated pipeline, stills of the slow renderers, and films, on one core.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use rayon::ThreadPool;
use serde_json::json;

use super::artist::send_still;
use super::eight_bit::rgb_over;
use super::encode::{Uncoded, microseconds};
use super::film::send_film;
use super::header::Kind;
use super::hub::{ClientId, Hub, SlowJob};
use super::look::Look;
use super::message::{MapRequest, Reference};
use super::painter::{Painter, curve_name};
use super::run_maps::{Counts, RunKey, RunMaps, ShownMap};
use super::sequence::Sequence;
use super::stage::{Stage, camera_of};
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::wiring::Watch;
use quadrille_suite::report::heat::{self, VIRIDIS};
use quadrille_suite::report::maps::PixelMap;

/// Memory limit of kept runs: about six of 980 x 545 pixels. The last run is always kept.
const KEPT_BYTES: usize = 24 << 20;

pub(crate) struct Emulation {
    hub: Arc<Hub>,
    look: Arc<Look>,
    pool: Arc<ThreadPool>,
    sequence: Option<Arc<Sequence>>,
    runs: VecDeque<(RunKey, Arc<RunMaps>)>,
}

impl Emulation {
    pub(crate) fn new(
        hub: Arc<Hub>,
        look: Arc<Look>,
        pool: Arc<ThreadPool>,
        sequence: Option<Arc<Sequence>>,
    ) -> Self {
        Self { hub, look, pool, sequence, runs: VecDeque::new() }
    }

    pub(crate) fn run(mut self) {
        while let Some((id, job, task, stage)) = self.hub.next_slow_job() {
            let reference = match &job {
                SlowJob::Map(request) => Reference::Id(request.id),
                SlowJob::Still(request) => Reference::Seq(request.seq),
                SlowJob::Film(request) => Reference::Id(request.id),
            };
            let hub = Arc::clone(&self.hub);
            let served = catch_unwind(AssertUnwindSafe(|| self.serve(id, &job, stage, &task)));
            let error = match served {
                Ok(served) => served.err(),
                Err(_) => Some(Error::argument("server", "no failure", "an internal error")),
            };
            if let Some(error) = error {
                hub.with(id, |client| client.send_error(reference, &error));
            }
            hub.slow_job_ended(id);
        }
    }

    fn serve(&mut self, id: ClientId, job: &SlowJob, stage: Arc<Stage>, task: &Task) -> Result<()> {
        match job {
            SlowJob::Map(request) => self.map(id, request, &stage, task),
            SlowJob::Still(request) => {
                let progress = json!({"t": "progress", "id": request.seq, "done": 0.0});
                self.hub.with(id, |client| client.send(&progress));
                // A new painter, since a kept one would hold its arrays for rare stills.
                let mut painter = Painter::new(Arc::clone(&self.look));
                let still = self.pool.install(|| painter.still(request, &stage, task))?;
                send_still(&self.hub, id, still, stage.generation, &self.pool)
            }
            SlowJob::Film(request) => {
                let (hub, look, sequence) = (&self.hub, &self.look, self.sequence.as_deref());
                self.pool.install(|| send_film(hub, id, request, stage, sequence, look, task))
            }
        }
    }

    fn map(
        &mut self,
        id: ClientId,
        request: &MapRequest,
        stage: &Stage,
        task: &Task,
    ) -> Result<()> {
        let start = Instant::now();
        let maps = || PixelMap::ALL.iter().filter(|map| map.is_of(request.variant.0));
        let names = || maps().map(|map| map.name);
        if !names().any(|name| name == request.map) {
            let names: Vec<_> = names().collect();
            let expected = format!("a map of {}: {}", request.variant.0, names.join(", "));
            return Err(Error::unknown_name("map", expected, &request.map, names));
        }
        let key = RunKey {
            generation: stage.generation,
            shot: request.shot.of_scene(),
            variant: request.variant.0,
        };
        let run = match self.runs.iter().find(|(other, _)| *other == key) {
            Some((_, run)) => Arc::clone(run),
            None => {
                let progress = json!({"t": "progress", "id": request.id, "done": 0.0});
                self.hub.with(id, |client| client.send(&progress));
                let run = Arc::new(self.emulate(&key, stage, task)?);
                self.runs.push_back((key.clone(), Arc::clone(&run)));
                let size = |runs: &VecDeque<(RunKey, Arc<RunMaps>)>| {
                    runs.iter().map(|(_, run)| run.size_bytes()).sum::<usize>()
                };
                while self.runs.len() > 1 && size(&self.runs) > KEPT_BYTES {
                    self.runs.pop_front();
                }
                run
            }
        };
        let kept = run.maps.iter().find(|(map, _)| map.name == request.map);
        let (map, counts) =
            kept.ok_or_else(|| Error::argument("map", "counts of a run", "none"))?;
        let counts = counts.to_vec();
        let scale = map.scale(&counts);
        let size = key.shot.size();
        let frame = heat::pixels(size, &counts, scale, VIRIDIS);
        let rgb = self.pool.install(|| rgb_over(&frame, [0.0; 3]));
        let picture = Uncoded {
            kind: Kind::Map,
            number: request.id,
            generation: stage.generation,
            flags: 0,
            render_us: microseconds(start.elapsed()),
            size,
            rgb: &rgb,
        };
        let picture = picture.webp()?;
        let message = json!({
            "t": "map",
            "id": request.id,
            "title": format!("{}: {}", key.variant, map.title),
            "nothing": map.nothing,
            "top": scale.top,
            "max": counts.iter().max(),
            "curve": curve_name(scale.curve),
            "cycles": run.cycles,
        });
        let shown = ShownMap { map: *map, key, run: Arc::clone(&run) };
        self.hub.with(id, |client| {
            client.send(&message);
            client.outbox.in_parts(picture);
            client.map = Some(Arc::new(shown));
        });
        Ok(())
    }

    fn emulate(&self, key: &RunKey, stage: &Stage, task: &Task) -> Result<RunMaps> {
        let (shot, drawn) = (&key.shot, key.shot.drawn()?);
        let camera = camera_of(&shot.cam, shot.size(), &self.look.views)?;
        let scene = stage.scene(&drawn)?;
        let profile = self.look.profile(&scene, drawn.profile);
        let (splats, watch) = (scene.splats()?, Watch { maps: true, ..Watch::default() });
        let draw = || self.look.emulated(splats, &camera, &profile, key.variant, watch, task);
        let outcome = self.pool.install(draw)?;
        let maps = outcome.pipeline().map(|result| {
            let maps = PixelMap::ALL.iter();
            maps.filter_map(|map| Some((*map, Counts::new(map.counts(result)?)))).collect()
        });
        Ok(RunMaps { cycles: outcome.cycles(), maps: maps.unwrap_or_default() })
    }
}
