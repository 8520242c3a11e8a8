//! Names of units by their specifications, so that a renamed unit cannot lose its figures.

use quadrille_gpu::config::Config;
use quadrille_machine::Specification;

const fn named<S: Specification>(_: fn(&Config) -> &S) -> &'static str {
    S::UNIT
}

pub(super) const VERTEX: &str = named(|gpu| &gpu.vertex);
pub(super) const VPO: &str = named(|gpu| &gpu.vpo);
pub(super) const TGC: &str = named(|gpu| &gpu.tgc);
pub(super) const SETUP: &str = named(|gpu| &gpu.setup);
pub(super) const COARSE: &str = named(|gpu| &gpu.coarse);
pub(super) const HI_Z: &str = named(|gpu| &gpu.hi_z);
pub(super) const FINE: &str = named(|gpu| &gpu.fine);
pub(super) const TC: &str = named(|gpu| &gpu.tc);
pub(super) const PROP: &str = named(|gpu| &gpu.prop);
pub(super) const ZROP: &str = named(|gpu| &gpu.zrop);
pub(super) const QRU: &str = named(|gpu| &gpu.qru);
pub(super) const PACK: &str = named(|gpu| &gpu.pack);
pub(super) const LAUNCH: &str = named(|gpu| &gpu.launch);
pub(super) const CORES: &str = named(|gpu| &gpu.cores);
pub(super) const CROP: &str = named(|gpu| &gpu.crop);
pub(super) const DRAM: &str = named(|gpu| &gpu.dram);

/// All units, in pipeline order.
pub(super) const ALL: [&str; 16] = [
    VERTEX, VPO, TGC, SETUP, COARSE, HI_Z, FINE, TC, PROP, ZROP, QRU, PACK, LAUNCH, CORES, CROP,
    DRAM,
];
