//! Results for people and for programs.
//!
//! | file | output |
//! |---|---|
//! | `accelerator` | the accelerator on the pages of `sim` |
//! | [`json`] | the document of `sim --json` |
//! | [`screen`] | the pages of `sim`, in `columns` |
//! | `software` | the software renderer on the pages of `sim` |
//! | `estimates` | frame times and energy on the pages and in the document of `sim` |
//! | [`deferred`] | the tables and rows of `deferred` |
//! | [`mesh`] | the tables and rows of `mesh` |
//! | [`maps`] | counts per pixel and per screen tile, as pictures with a legend ([`heat`], [`scale`]) and arrays |
//! | [`overlay`] | shaded quads, outlines of triangles and samples over an enlarged picture |
//! | [`cameras`] | cameras as JSON, as flags, and as the path of a film |
//! | [`layer_colours`] | layers such as depth as colours |
//! | [`bars`] | stacked bars of bytes by buffer, as a picture |
//! | [`table`] | text tables |
//! | [`typeset`] | tables in Markdown and LaTeX |
//! | [`sensitivity`] | speedups at other values of the configuration |
//! | [`stats`] | counters as flat text, as gem5 writes them |
//! | [`dram_trace`] | requests to DRAM, for Ramulator 2 |
//! | [`trace`] | a Chrome trace, for Perfetto |
//! | [`config`] | a configuration as TOML with the meaning and source of each field |
//!
//! Most of them read a [`Simulated`](simulated::Simulated) view; [`ratios`] compare its methods.

pub(crate) mod accelerator;
pub mod bars;
pub mod cameras;
mod canvas;
pub(crate) mod columns;
pub mod config;
pub mod deferred;
pub mod dram_trace;
pub mod error_map;
pub(crate) mod estimates;
pub mod heat;
pub mod json;
pub mod layer_colours;
pub mod maps;
pub mod mesh;
pub mod overlay;
pub mod ratios;
pub mod relief;
pub mod scale;
pub mod screen;
pub mod sensitivity;
pub mod simulated;
pub(crate) mod software;
pub mod stats;
pub mod table;
pub mod trace;
pub mod typeset;
