//! Ports, queues and memory by hand, cycle by cycle.
#![allow(clippy::unwrap_used, reason = "tests")]

mod issue_port;
mod memory;
mod rate_limiter;
mod timing;
mod unit_cache;
