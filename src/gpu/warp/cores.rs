//! The shader cores shade quads of warps, merge pairs of quads, and pass surviving fragments on in launch order.
//!
//! Input: warps. The queue in front of the unit holds the cores' warp slots, which are occupied until the warp's results
//! have left. Output: shaded warps in launch order, without those that have no surviving fragment.
//!
//! Warps are assigned to schedulers round robin. A scheduler issues one instruction of a warp every `issue_cycles`, the
//! oldest warp first. A warp is done when its instructions have been issued after those of all older warps of its
//! scheduler, but no earlier than its chain of dependent instructions allows. Younger warps fill the issue slots in which
//! older ones wait.
//!
//! A shader that [blends](super::shader_blend) by itself passes nothing on, and its warps leave their slots
//! in any order. The queue in front of the unit then holds the one warp that waits for a slot.

use crate::draw_state::DrawState;
use crate::optional_parts::{QUAD_REORDERING, SPLAT_PIPELINE, WARP_RESULTS};
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::under;
use quadrille_machine::{
    Activity, ColourQuad, Cycle, Ledger, MapKind, Rate, ShadedWarp, Sink, Stage, StallReason, Unit,
    Visitor, Warp, fragments, spec, statistics,
};

use super::attribute_cache::{AttributeCacheSpec, AttributeCaches};
use super::exact_alpha::NearCutRule;
use super::imitated_merging::{ImitatedMerging, MergeShare};
use super::schedule::{Schedule, WarpProgram};
use super::shader_blend::ShaderBlend;
use super::update::UpdateShader;

spec! {
    /// Configuration of the shader cores of one GPC.
    CoresSpec in "cores" {
        /// Number of cores.
        cores: u64 = 16, 1..=1024, Published "VR-Pipe Table I";
        /// Schedulers per core.
        schedulers: u64 = 4, 1..=16, Published "VR-Pipe Table I";
        /// Cycles that an instruction of a 32-lane warp holds its scheduler's 16 lanes.
        issue_cycles: u64 = 2, 1..=64, Published "VR-Pipe Table I: 64 lanes per core, 4 schedulers";
        /// Warp slots per core.
        warps_per_core: u64 = 48, 1..=1024, Assumed "as NVIDIA's Ampere, compute capability 8.6 and 8.7";
        /// Shaded warps sent to the colour unit per cycle.
        warps_out_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "eight quads: twice the maximum of the colour unit", only_if WARP_RESULTS;
        /// Arithmetic for fragments that f32 cannot place above or below the alpha cut: exact, as in the
        /// reference renderer, or f32, as in a shader core.
        near_cut: NearCutRule = NearCutRule::Exact, .., Assumed "fragment counts that can be compared with the reference renderer's";
        /// Instructions of the fragment shader.
        fragment_instructions: u64 = 20, 1..=100_000, Assumed "offset, two dot products, exponential, cut, four products", only_if SPLAT_PIPELINE;
        /// Cycles of the fragment shader's dependent chain.
        fragment_latency_cycles: u64 = 150, 1..=1_000_000, Assumed "20 instructions of ALU latency 4 and SFU latency 21, a hit in the first-level cache, export", only_if SPLAT_PIPELINE;
        /// Bytes of each core's first-level cache.
        l1_bytes: u64 = 49_152, 128..=16_777_216, Published "VR-Pipe Table I", only_if SPLAT_PIPELINE;
        /// Ways per set of the first-level cache.
        l1_ways: u64 = 4, 1..=64, Assumed "common for first-level caches", only_if SPLAT_PIPELINE;
        /// Bytes per cycle from the L2 to each core.
        l1_bytes_per_cycle: u64 = 64, 1..=4096, Assumed "half a line", only_if SPLAT_PIPELINE;
        /// Additional instructions per warp with quad merging.
        merge_instructions: u64 = 6, 0..=100_000, Assumed "four shuffles, a multiply-add each, flag test", only_if QUAD_REORDERING;
        /// Additional cycles of latency with quad merging.
        merge_latency_cycles: u64 = 32, 0..=1_000_000, Assumed "a shuffle of about 24 cycles and two dependent instructions", only_if QUAD_REORDERING;
    }
}

impl CoresSpec {
    /// Number of schedulers of all cores.
    pub fn all_schedulers(&self) -> u64 {
        self.cores * self.schedulers
    }

    /// Creates idle schedulers and empty warp slots of all cores.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(
            self.all_schedulers(),
            self.issue_cycles,
            self.slots(),
            self.warps_out_per_cycle,
        )
    }

    fn first_level(&self) -> AttributeCacheSpec {
        AttributeCacheSpec {
            bytes: self.l1_bytes,
            ways: self.l1_ways,
            l2_bytes_per_cycle: self.l1_bytes_per_cycle,
        }
    }

    /// Number of warp slots of all cores.
    pub fn slots(&self) -> u64 {
        self.cores * self.warps_per_core
    }
}

statistics! {
    /// Fragments and quads by outcome in the shader.
    pub struct CoresCounters {
        /// Warps run.
        pub warps: u64,
        /// Quads shaded.
        pub quads_shaded: u64,
        /// Quads by the number (0 to 4) of fragments above the alpha cut, before quad merging.
        pub quads_survived: [u64; 5],
        /// Quads removed by quad merging, from pairs whose quads both have fragments above the alpha cut.
        pub quads_merged: u64,
        /// Fragments shaded: covered, and not dropped by an earlier test.
        pub fragments_shaded: u64,
        /// Fragments below the alpha cut.
        pub fragments_pruned: u64,
        /// Fragments removed by quad merging.
        pub fragments_merged: u64,
        /// Warp instructions issued for fragments.
        pub instructions: u64,
    }
}

/// Shader cores of one GPC: run the fragment shader on warps.
#[derive(Debug)]
pub struct Cores {
    gpc: usize,
    program: WarpProgram,
    attributes: Option<AttributeCaches>,
    update: Option<UpdateShader>,
    blending: Option<Box<ShaderBlend>>,
    imitated_merging: Option<ImitatedMerging>,
    /// Warp slots and schedulers, with their issue cycles.
    pub schedule: Schedule,
    /// Counts of warps, quads and fragments so far.
    pub counters: CoresCounters,
    ledger: Ledger,
}

impl Cores {
    /// Creates idle cores; their shader merges pairs of quads if `merging`.
    pub fn new(spec: &CoresSpec, merging: bool) -> Self {
        let (more, longer) =
            if merging { (spec.merge_instructions, spec.merge_latency_cycles) } else { (0, 0) };
        Self {
            gpc: 0,
            program: WarpProgram {
                instructions: spec.fragment_instructions + more,
                latency: spec.fragment_latency_cycles + longer,
            },
            schedule: spec.schedule(),
            attributes: None,
            update: None,
            blending: None,
            imitated_merging: None,
            counters: CoresCounters::default(),
            ledger: Ledger::default(),
        }
    }

    /// Makes the shader read `attribute_bytes` per primitive of a warp through first-level caches.
    #[must_use]
    pub fn reading(self, spec: &CoresSpec, attribute_bytes: u64) -> Self {
        Self {
            attributes: AttributeCaches::new(spec.first_level(), spec.cores, attribute_bytes),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn updating(self, update: Option<UpdateShader>) -> Self {
        Self { update, ..self }
    }

    #[must_use]
    pub(crate) fn blending(self, blending: Option<ShaderBlend>) -> Self {
        Self { blending: blending.map(Box::new), ..self }
    }

    /// Merges neighbouring quads of warps in a given share.
    #[must_use]
    pub(crate) fn imitating(self, share: Option<MergeShare>) -> Self {
        Self { imitated_merging: share.map(ImitatedMerging::new), ..self }
    }

    /// Assigns the cores to GPC `gpc`; the default is GPC 0.
    #[must_use]
    pub fn in_gpc(self, gpc: usize) -> Self {
        Self { gpc, ..self }
    }

    #[inline(always)]
    fn shade(&mut self, warp: &Warp, state: &mut DrawState<'_>) -> ShadedWarp {
        let mut out =
            ShadedWarp { tile: warp.tile, quads: state.spare_quads.pop().unwrap_or_default() };
        let slots = out.quads.slots();
        let counts = state.shade(warp, slots);
        let (quads, survivors) = (warp.quads.len() as u64, u64::from(counts.survivors));
        let [covered, survived] = [counts.covered, counts.survived].map(u64::from);
        self.counters.fragments_shaded += covered;
        self.counters.fragments_pruned += covered - survived;
        self.counters.quads_shaded += quads;
        self.counters.quads_survived[0] += quads - survivors;
        counts.masks.count(&mut self.counters.quads_survived);
        if warp.merge == 0 {
            out.quads.keep(counts.survivors as usize, survived);
        } else {
            let merged = self.merge(warp, state, slots);
            out.quads.keep_surviving(survived - merged);
        }
        if let Some(merging) = &mut self.imitated_merging {
            let [quads, fragments] = merging.merge(&mut out, state.maps.as_deref_mut());
            self.counters.quads_merged += quads;
            self.counters.fragments_merged += fragments;
        }
        out
    }

    /// Shades and blends a warp that arrived at `arrival`; returns the cycle at which it gets a slot.
    fn shade_and_blend(
        &mut self,
        blending: &mut ShaderBlend,
        warp: &Warp,
        arrival: Cycle,
        state: &mut DrawState<'_>,
    ) -> Cycle {
        let out = self.shade(warp, state);
        let (taken, scheduler) = blending.launch(warp.tile, warp.begins_flush, arrival);
        let owed = state.shader_issue.pay(self.gpc, scheduler);
        let mut program = self.program(warp, scheduler, taken.at, state);
        program.instructions += blending.instructions(&out);
        self.counters.instructions += program.instructions;
        let schedule = &mut self.schedule;
        let shaded = schedule.issue(
            scheduler,
            taken.at,
            program,
            owed,
            [(0, taken.idle_before), (taken.at, taken.idle_before)],
        );
        blending.run(out, taken, shaded, state);
        taken.at
    }

    /// Instructions and latency of a warp that gets its slot at `at`, including the wait for attributes.
    #[inline]
    fn program(
        &mut self,
        warp: &Warp,
        scheduler: usize,
        at: Cycle,
        state: &mut DrawState<'_>,
    ) -> WarpProgram {
        let mut program = self.program;
        if let Some(attributes) = &mut self.attributes {
            let (buffer, memory) = (&mut state.vertex_buffer, &mut state.memory);
            let ready = attributes.fetch(scheduler, &warp.quads, at, buffer, memory);
            // Latency, not instructions: other warps fill the cycles in which this one waits.
            program.latency += ready - at;
        }
        program
    }

    /// Merges the marked pairs into their older quad; the younger one becomes empty. Returns the number of removed
    /// fragments.
    fn merge(&mut self, warp: &Warp, state: &mut DrawState<'_>, shaded: &mut [ColourQuad]) -> u64 {
        let before = self.counters.fragments_merged;
        for (n, pair) in shaded.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            if warp.merge >> n & 1 == 0 {
                continue;
            }
            let [first, second] = pair;
            let both = first.mask & second.mask;
            self.counters.quads_merged += u64::from(first.mask != 0 && second.mask != 0);
            self.counters.fragments_merged += fragments(both);
            if let Some(maps) = &mut state.maps {
                maps.count(MapKind::Merged, quad_index(warp.tile, first.position), both);
            }
            first.colour = under(&first.colour, &second.colour);
            first.mask |= second.mask;
            second.mask = 0;
        }
        self.counters.fragments_merged - before
    }
}

impl Unit for Cores {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let contended = |activity: &Activity| activity.idle[StallReason::Contended as usize];
        let waited = self.schedule.activity.iter().map(contended).sum();
        if let Some(blending) = self.blending.as_ref().filter(|_| waited > 0) {
            visitor.waits(blending.lock(), "cores", StallReason::Contended, waited);
        }
        for activity in &mut self.schedule.activity {
            visitor.activity("cores", activity);
        }
        visitor.statistics("cores", &self.counters);
        visitor.ledger("cores", None, &mut self.ledger, &self.counters);
        if let Some(attributes) = &self.attributes {
            attributes.visit(visitor);
        }
        if let Some(update) = &self.update {
            visitor.statistics("update", &update.counters);
        }
        if let Some(blending) = &self.blending {
            blending.visit(visitor);
        }
    }
}

impl<'m> Stage<DrawState<'m>> for Cores {
    type In = Warp;
    type Out = ShadedWarp;

    fn accept(
        &mut self,
        warp: Warp,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<ShadedWarp, DrawState<'m>>,
    ) -> Cycle {
        if state.update.active
            && let Some(update) = &mut self.update
        {
            return update.run(&warp, arrival, self.gpc, &mut self.schedule, state);
        }
        state.framebuffer.prefetch(warp.tile, &warp.quads);
        let mark = self.ledger.mark(&self.counters, None);
        self.counters.warps += 1;
        if let Some(mut blending) = self.blending.take() {
            let got_slot = self.shade_and_blend(&mut blending, &warp, arrival, state);
            self.blending = Some(blending);
            (self.ledger).record(mark, &self.counters, None, Some(warp.tile), arrival);
            return got_slot;
        }
        self.counters.instructions += self.program.instructions;
        let scheduler = self.schedule.next_scheduler();
        let owed = state.shader_issue.pay(self.gpc, scheduler);
        let program = self.program(&warp, scheduler, arrival, state);
        let done = self.schedule.run(arrival, program, owed);
        let out = self.shade(&warp, state);
        (self.ledger).record(mark, &self.counters, None, Some(warp.tile), arrival);
        if out.quads.is_empty() {
            state.spare_quads.push(out.quads);
            return self.schedule.leave(done, None::<fn(Cycle) -> Cycle>);
        }
        self.schedule.leave(done, Some(|ready| next.offer(out, ready, state)))
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<ShadedWarp, DrawState<'m>>,
    ) -> Cycle {
        if let Some(blending) = &mut self.blending {
            blending.drain(state);
        }
        at.max(self.done())
    }

    fn done(&self) -> Cycle {
        self.schedule.left_at().max(self.blending.as_ref().map_or(0, |blending| blending.done()))
    }
}
