//! Units of one GPC, in sections of the pipeline.

use super::coalesce::binning::Binning;
use super::coalesce::flush_policy::{Evict, FlushPolicy, Timeout};
use super::coalesce::quad_reorder::QuadReorder;
use super::coalesce::tile_coalescing::TileCoalescing;
use super::coalesce::tile_grid_coalescing::TileGridCoalescing;
use super::coalesce::warp_packing::WarpPacking;
use super::config::Config;
use super::crop::unit::Crop;
use super::draw_state::DrawState;
use super::geometry::position_fetch::PositionFetch;
use super::raster::coarse::Coarse;
use super::raster::fine::Fine;
use super::raster::hi_z::HiZ;
use super::raster::setup::Setup;
use super::tile_gpu::TileMethod;
use super::tile_gpu::tile_buffer::TileBuffer;
use super::tile_owner::TileOwner;
use super::variant::Variant;
use super::warp::cores::Cores;
use super::warp::imitated_merging::MergeShare;
use super::warp::launch::Launch;
use super::warp::shader_blend::{BlendingCores, ShaderBlend, ShaderOrder};
use super::warp::tile_fetch::TileFetch;
use super::warp::update::{UpdateCores, UpdateShader};
use super::zrop::framebuffer::{FramebufferLines, bytes_per_quad};
use super::zrop::prop::Prop;
use super::zrop::termination::Termination;
use super::zrop::unit::Zrop;
use quadrille_base::math::narrow;
use quadrille_base::raster::tiles::TileLayout;
use quadrille_machine::{
    Beat, Cycle, Primitive, RasterTile, Retired, ShadedWarp, Sink, Unit, chain,
};

/// Builder of one GPC's units, in sections nested from the last to the first.
#[derive(Debug, Clone)]
pub struct Gpc<'c> {
    pub(crate) config: &'c Config,
    pub(crate) variant: Variant,
    pub(crate) owner: TileOwner,
    pub(crate) layout: TileLayout,
    pub(crate) lines: FramebufferLines,
    pub(crate) updating: bool,
    pub(crate) blending: Option<ShaderOrder>,
    pub(crate) imitated_merging: Option<MergeShare>,
    pub(crate) reordered: Cycle,
    /// Method of a tile-based GPU, with the address of its lists.
    pub(crate) tiles: Option<(TileMethod, u64)>,
}

impl Gpc<'_> {
    /// Units from primitives to raster tiles: tile-grid coalescing, setup, coarse raster, Hi-Z, fine raster.
    pub fn raster<'m, N: Sink<RasterTile, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Primitive, DrawState<'m>> + Unit + use<'m, N> {
        let c = self.config;
        self.coarse_raster(chain! {
            c.hi_z.queue => HiZ::new(&c.hi_z),
            c.fine.queue => Fine::new(&c.fine),
            next
        })
    }

    /// The first units of [`Self::raster`], for pipelines with another Hi-Z or fine raster: tile-grid coalescing, setup and
    /// coarse raster.
    pub fn coarse_raster<'m, N: Sink<RasterTile, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Primitive, DrawState<'m>> + Unit + use<'m, N> {
        let c = self.config;
        let again = self.variant.tgc().then_some(c.tgc.fetch_queue);
        chain! {
            c.tgc.queue => TileGridCoalescing::new(&c.tgc, self.variant.tgc(), self.layout, self.owner),
            PositionFetch::new(["tgc_fetch", "tgc_out"], again, chain! {
                c.setup.queue => Setup::new(&c.setup),
                c.coarse.queue => Coarse::new(&c.coarse, self.owner),
                next
            })
        }
    }

    /// Units of a tile-based GPU from primitives to raster tiles: binning, and tile by tile setup, coarse raster, Hi-Z, fine
    /// raster.
    pub(crate) fn binned_raster<'m, N: Sink<RasterTile, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Primitive, DrawState<'m>> + Unit + use<'m, N> {
        let c = self.config;
        let address = self.tiles.map_or(0, |(_, address)| address);
        chain! {
            c.binning.queue => Binning::new(&c.binning, self.layout, address),
            PositionFetch::new(["list_fetch", "binning_out"], Some(c.binning.fetch_queue), chain! {
                c.setup.queue => Setup::new(&c.setup),
                c.coarse.queue => Coarse::new(&c.coarse, self.owner),
                c.hi_z.queue => HiZ::new(&c.hi_z),
                c.fine.queue => Fine::new(&c.fine),
                next
            })
        }
    }

    /// Flush policy of tile coalescing with the configured eviction rule and timeout.
    pub fn flush_policy(&self) -> Timeout<Evict> {
        self.config.tc.policy()
    }

    /// Units from raster tiles to tested quads: tile coalescing with a flush policy, PROP, ZROP.
    pub fn tests<'m, P: FlushPolicy, N: Sink<Beat, DrawState<'m>> + Unit>(
        &self,
        policy: P,
        next: N,
    ) -> impl Sink<RasterTile, DrawState<'m>> + Unit + use<'m, P, N> {
        let (c, lines) = (self.config, self.lines.tests.clone());
        let gpc = self.owner.gpc as usize;
        let tc = TileCoalescing::new(&c.tc, policy, self.layout.tiles());
        let pixels_once = self.blending == Some(ShaderOrder::Interlocked) || self.fetches_tiles();
        let on_chip = self.tiles.map(|_| c.zrop.on_chip(&lines));
        let zrop = on_chip.as_ref().unwrap_or(&c.zrop);
        chain! {
            c.tc.queue => tc.holding_pixels_once(&c.tc, pixels_once),
            c.prop.queue => Prop::new(&c.prop),
            c.zrop.queue => Zrop::new(zrop, self.variant.het() || self.updating, gpc, lines),
            next
        }
    }

    /// Units from tested quads to the framebuffer: quad reordering, warp packing, launch, shader cores, CROP.
    pub fn shading<'m>(&self) -> impl Sink<Beat, DrawState<'m>> + Unit + use<'m> {
        let (c, lines) = (self.config, self.lines.colour.clone());
        let gpc = self.owner.gpc as usize;
        self.cores(chain! {
            c.crop.queue => Crop::new(&c.crop, self.termination(), gpc, lines),
            Retired::default()
        })
    }

    /// As [`Self::shading`], with a tile buffer in place of CROP.
    pub(crate) fn shading_in_tiles<'m>(&self) -> impl Sink<Beat, DrawState<'m>> + Unit + use<'m> {
        let (spec, format) = (&self.config.tile_buffer, self.config.crop.format);
        let gpc = self.owner.gpc as usize;
        self.cores(chain! {
            spec.queue => TileBuffer::new(spec, format, self.termination(), gpc),
            Retired::default()
        })
    }

    fn termination(&self) -> Option<Termination> {
        let zrop = &self.config.zrop;
        self.variant.het().then_some(Termination {
            threshold: narrow(zrop.threshold),
            feedback_cycles: zrop.feedback_cycles,
            feedback: zrop.feedback,
        })
    }

    /// Units from tested quads to shaded warps.
    fn cores<'m, N: Sink<ShadedWarp, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Beat, DrawState<'m>> + Unit + use<'m, N> {
        let (c, variant) = (self.config, self.variant);
        let on = UpdateCores {
            cores: c.cores.cores,
            l2_bytes_per_cycle: c.cores.l1_bytes_per_cycle,
            format: c.crop.format,
            threshold: narrow(c.zrop.threshold),
        };
        let update = self.updating.then(|| UpdateShader::new(&c.passes, on));
        let gpc = self.owner.gpc as usize;
        let blending = match self.blending {
            Some(order) => Some(self.shader_blend(order)),
            None => self.fetches_tiles().then(|| {
                let bytes = bytes_per_quad(c.crop.format);
                let fetch = TileFetch::new(&c.tile_fetch, bytes, self.reordered);
                self.shader_blend(ShaderOrder::Interlocked).in_tile(fetch)
            }),
        };
        let merging = variant.qru() || self.imitated_merging.is_some();
        let cores_queue = if blending.is_some() { 1 } else { c.cores.slots() };
        chain! {
            c.qru.queue => QuadReorder::new(&c.qru, variant.qru()),
            c.pack.queue => WarpPacking::new(&c.pack, c.prop.quads_out_per_cycle),
            c.launch.queue => Launch::new(&c.launch),
            cores_queue => Cores::new(&c.cores, merging).in_gpc(gpc).reading(&c.cores, c.vertex.entry().attributes).updating(update).blending(blending).imitating(self.imitated_merging),
            next
        }
    }

    fn fetches_tiles(&self) -> bool {
        self.tiles.is_some_and(|(method, _)| method == TileMethod::FramebufferFetch)
    }

    fn shader_blend(&self, order: ShaderOrder) -> ShaderBlend {
        let c = self.config;
        let on = BlendingCores {
            cores: c.cores.cores,
            schedulers: c.cores.all_schedulers(),
            slots: c.cores.slots(),
            l2_bytes_per_cycle: c.cores.l1_bytes_per_cycle,
            format: c.crop.format,
            tiles: self.layout.tiles(),
            reordered: self.reordered,
        };
        ShaderBlend::new(&c.shader_blend, &c.interlock, order, on)
    }
}
