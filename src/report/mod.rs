//! Results for people and for programs: pages, JSON, maps, traces, configurations.
//!
//! | file | turns into |
//! |---|---|
//! | [`json`] | the document of `sim --json` |
//! | [`screen`] | a screenful of text |
//! | [`maps`] | counts a pixel, as heat maps with a legend ([`heat`], [`legend`], [`font`]) |
//! | [`table`] | aligned columns |
//! | [`trace`] | a Chrome trace, for Perfetto |
//! | [`config`] | a configuration as TOML that reads back, each field explained |
//!
//! Most of them read a [`Simulated`](simulated::Simulated) view; [`ratios`] is what variants are compared by.

pub(crate) mod config;
pub(crate) mod font;
pub(crate) mod heat;
pub(crate) mod json;
pub(crate) mod legend;
pub(crate) mod maps;
#[cfg(feature = "cli")]
pub(crate) mod mesh;
pub(crate) mod ratios;
pub(crate) mod screen;
pub(crate) mod simulated;
#[cfg(feature = "cli")]
pub(crate) mod table;
pub(crate) mod trace;
