//! Building blocks of every emulated machine: the stage contract, ports and queues, packets,
//! specifications, statistics, memory, and maps. Nothing here is specific to one machine.

pub mod collect;
pub mod issue_port;
pub mod ledger;
pub mod maps;
pub mod memory;
pub mod overlay;
pub mod packets;
pub mod rate;
pub mod rate_limiter;
pub mod rigid_unit;
pub mod spec;
pub mod stage;
pub mod statistics;
pub mod timing;
pub mod unit;
pub mod warp_filler;

pub use collect::{Collected, PortKind, UnitCycles};
pub use issue_port::{IssuePort, beat_width};
pub use ledger::{Ledger, LedgerMark, LedgerSpec, Record, RecordColumn};
pub use maps::{MapKind, Maps};
pub use memory::Memory;
pub use memory::calendar::Calendar;
pub use memory::dram::{DramRequest, DramSpec};
pub use memory::l2::{HeldLines, L2Counters, L2Spec, TileLines};
pub use memory::line::{LINE_BYTES, SECTOR_BYTES, line_at, lines_of};
pub use memory::lru::LruLines;
pub use memory::sector_cache::{CacheCounters, sectors_of};
pub use memory::traffic::{Client, Traffic, TrafficByClient};
pub use memory::unit_cache::{LineAccess, UnitCache, UnitCacheSpec};
pub use packets::{
    BEAT_QUADS, Beat, ColourQuad, Primitive, Quad, QuadMasks, RasterTile, SetUp, ShadedQuads,
    ShadedWarp, WARP_QUADS, Warp, fragments,
};
pub use quadrille_base::Result;
pub use rate::Rate;
pub use rate_limiter::{RateClock, RateLimiter};
pub use rigid_unit::{CycleGroups, Process, Rigid, RigidUnit};
pub use spec::{Field, OptionalPart, Source, Specification};
pub use stage::{Retired, Sink, Stage, offer_through};
pub use statistics::{Count, Counter, Peak, Statistics, StatisticsByUnit};
pub use timing::{Activity, Cycle, Queue, STATES, StallReason, Timeline};
pub use unit::{Unit, Visitor, keep_ledgers, keep_timelines};
pub use warp_filler::{PackCounters, PackSpec, WarpFiller};
