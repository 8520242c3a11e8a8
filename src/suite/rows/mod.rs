//! Rows of results: the elements of the documents of `sim --json`, `mesh --json` and `deferred --json`, read back as they
//! are written.
//!
//! A row is serialized with the keys of its fields. Tables, bars and figures read the fields.

mod deferred;
mod limits;
mod mesh;
mod mesh_draw;
mod method;
mod units;

pub use deferred::{
    DeferredPipeline, DeferredRow, Gops, PipelineHostMs, RasterRow, ShadingGridKind, ShadingRow,
    SortRow, SpidRow, TrafficRow, VertexRow,
};
pub use limits::{BufferEntries, MemoQuads, TileSide};
pub use mesh::{
    ColourRow, FrameHostMs, MergingUnit, MeshQuads, MeshRow, TimedMeshRow, UnitCounters,
};
pub use mesh_draw::{CyclesWithMeshes, DrawnMeshRow, MeshDrawRow};
pub use method::{
    AddedStorage, BlendedFragments, ColourCacheRow, FlushRow, FlushesByUnit, MethodCounts,
    MethodRow, PipelineCounts,
};
pub use units::{LimitRow, UnitRow, units};
