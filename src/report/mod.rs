//! Results for people and for programs.
//!
//! | file | output |
//! |---|---|
//! | [`accelerator`] | the accelerator on the pages of `sim` |
//! | [`json`] | the document of `sim --json` |
//! | [`screen`] | the pages of `sim`, of [`columns`] |
//! | [`software`] | the software renderer on the pages of `sim` |
//! | [`estimates`] | frame times and energy on the pages and in the document of `sim` |
//! | [`deferred`] | the tables and rows of `deferred` |
//! | [`mesh`] | the tables and rows of `mesh` |
//! | [`maps`] | counts per pixel, as pictures with a legend ([`heat`], [`scale`]) and arrays |
//! | [`bars`] | stacked bars of bytes by buffer, as a picture |
//! | [`table`] | text tables |
//! | [`sensitivity`] | speedups at other values of the configuration |
//! | [`trace`] | a Chrome trace, for Perfetto |
//! | [`figures`] | the figures and tables of the VR-Pipe paper, beside the numbers of [`published`] |
//! | [`deferred_figures`] | the figures and tables of the paper on sort-based deferred shading |
//! | [`page`], [`svg`] | the page of the figures, and charts |
//! | [`config`] | a configuration as TOML with the meaning and source of each field |
//!
//! Most of them read a [`Simulated`](simulated::Simulated) view; [`ratios`] compare its variants.

pub(crate) mod accelerator;
#[cfg(feature = "cli")]
pub(crate) mod bars;
mod canvas;
pub(crate) mod columns;
pub(crate) mod config;
#[cfg(feature = "cli")]
pub(crate) mod deferred;
#[cfg(feature = "cli")]
pub(crate) mod deferred_figures;
pub(crate) mod estimates;
#[cfg(feature = "cli")]
pub(crate) mod figures;
pub(crate) mod heat;
pub(crate) mod json;
pub(crate) mod maps;
#[cfg(feature = "cli")]
pub(crate) mod mesh;
#[cfg(feature = "cli")]
pub(crate) mod page;
#[cfg(feature = "cli")]
pub(crate) mod published;
pub(crate) mod ratios;
pub(crate) mod scale;
pub(crate) mod screen;
#[cfg(feature = "cli")]
pub(crate) mod sensitivity;
pub(crate) mod simulated;
pub(crate) mod software;
#[cfg(feature = "cli")]
pub(crate) mod svg;
#[cfg(feature = "cli")]
pub(crate) mod table;
pub(crate) mod trace;
