//! The fast simulator, watched from outside.

use std::cell::RefCell;
use std::rc::Rc;

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::{NEVER, Tests};
use quadrille::machine::packets::{Beat, RasterTile};
use quadrille::machine::stage::Sink;
use quadrille::machine::unit::{Unit, Visitor};
use quadrille::raster::strip::tile_quads;
use quadrille::raster::tiles::TileLayout;

use super::observed::Observed;
use super::queue::Cycle;

/// A wire: notes each packet and the cycle at which the next unit takes it.
struct Probe<N, F> {
    next: N,
    note: F,
}

impl<P: Clone, M, N: Sink<P, M>, F: FnMut(&P, Cycle)> Sink<P, M> for Probe<N, F> {
    fn offer(&mut self, item: P, at: Cycle, state: &mut M) -> Cycle {
        let taken = self.next.offer(item.clone(), at, state);
        (self.note)(&item, taken);
        taken
    }

    fn end(&mut self, at: Cycle, state: &mut M) {
        self.next.end(at, state);
    }
}

impl<N: Unit, F> Unit for Probe<N, F> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.next.visit(visitor);
    }
}

/// Runs the fast simulator.
pub(super) fn run(draw: &Draw, config: &Config, variant: Variant) -> Observed {
    let seen = Rc::new(RefCell::new(Observed::default()));
    let simulator = Simulator::new(config, variant).unwrap();
    let result = simulator.run_with(draw, draw.shader(), &Tests::default(), |gpc| {
        let log = Rc::clone(&seen);
        let beats = Probe {
            next: gpc.shading(),
            note: move |beat: &Beat, at| {
                log.borrow_mut().beats.push((at, beat.tile, beat.quads.len()));
            },
        };
        let log = Rc::clone(&seen);
        let tiles = Probe {
            next: gpc.tests(gpc.flush_policy(), beats),
            note: move |tile: &RasterTile, at| {
                let quads = tile_quads(tile.mask).len();
                let event = (at, tile.primitive as usize, tile.tile, quads);
                log.borrow_mut().tiles.push(event);
            },
        };
        gpc.raster(tiles)
    });
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    let mut seen = seen.take();
    // A packet's probe notes it when those behind it have been pushed through.
    seen.tiles.sort_by_key(|(at, ..)| *at);
    seen.beats.sort_by_key(|(at, ..)| *at);
    let layout = TileLayout::new(draw.width, draw.height);
    seen.terminated_at = vec![[None; 4]; layout.quads()];
    let pixels = (0..draw.height).flat_map(|y| (0..draw.width).map(move |x| (x, y)));
    for ((x, y), at) in pixels.zip(result.framebuffer.termination_cycles()) {
        let (quad, pixel) = layout.locate(x, y);
        seen.terminated_at[quad][pixel] = (at != NEVER).then_some(at);
    }
    let busy = |name: &str| {
        let unit = result.units.iter().find(|unit| unit.name == name);
        unit.map_or(0, |unit| unit.busy)
    };
    let r = &result;
    seen.counts = vec![
        ("vertex warps", r.vertex_warps),
        ("vertex busy", busy("vertex")),
        ("vpo busy", busy("vpo")),
        ("setup busy", busy("setup")),
        ("coarse busy", busy("coarse")),
        ("hi_z busy", busy("hi_z")),
        ("fine busy", busy("fine")),
        ("tc busy", busy("tc")),
        ("tc full", r.tc.full),
        ("tc evicted", r.tc.evicted),
        ("tc timeout", r.tc.timeout),
        ("tc end", r.tc.end),
        ("tc quads", r.tc.items),
        ("tc_out busy", busy("tc_out")),
        ("prop busy", busy("prop")),
        ("zrop busy", busy("zrop")),
        ("fragments terminated", r.fragments.terminated),
        ("updates", r.updates),
        ("pack busy", busy("pack")),
        ("pack_out busy", busy("pack_out")),
        ("warps", r.warps),
        ("launch busy", busy("launch")),
        ("cores busy", busy("cores")),
        ("fragments shaded", r.fragments.shaded),
        ("fragments pruned", r.fragments.pruned),
        ("fragments merged", r.fragments.merged),
        ("crop busy", busy("crop")),
        ("quads blended", r.quads.blended),
        ("fragments blended", r.fragments.blended),
        ("fragments late", r.fragments.late),
        ("terminations", r.terminations),
        ("cycles", r.cycles),
    ];
    if variant.tgc() {
        seen.counts.extend([
            ("tgc busy", busy("tgc")),
            ("tgc full", r.tgc.full),
            ("tgc evicted", r.tgc.evicted),
            ("tgc end", r.tgc.end),
            ("tgc primitives", r.tgc.items),
            ("tgc_out busy", busy("tgc_out")),
        ]);
    }
    if variant.qru() {
        seen.counts.extend([
            ("qru busy", busy("qru")),
            ("qru_out busy", busy("qru_out")),
            ("pairs", r.qru.pairs),
            ("singles", r.qru.singles),
        ]);
    }
    seen.colour = result.framebuffer.colours().to_vec();
    seen
}
