//! The kernel that every emulated machine is made of: the contract of a stage, ports and queues,
//! packets, specifications, statistics, memory, maps. Nothing in it belongs to one machine alone.

pub mod collect;
pub mod issue_port;
pub mod maps;
pub mod memory;
pub mod packets;
pub mod rigid_unit;
pub mod spec;
pub mod stage;
pub mod statistics;
pub mod timing;
pub mod unit;
