//! Ports, queues and memory, against cycles worked out by hand.
#![allow(clippy::unwrap_used, reason = "tests")]

mod issue_port;
mod memory;
mod rate_limiter;
mod timing;
mod unit_cache;
