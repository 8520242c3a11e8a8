//! Building blocks of every emulated machine: the stage contract, ports and queues, packets,
//! specifications, statistics, memory, and maps. Nothing here is specific to one machine.

pub mod collect;
pub mod issue_port;
pub mod maps;
pub mod memory;
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

pub use quadrille_base::Result;
