//! The figures and tables of papers on graphics hardware, drawn again from results of quadrille and set
//! beside the published numbers.
//!
//! | module | holds |
//! |---|---|
//! | [`figures`] | the figures and tables of the VR-Pipe paper, beside the numbers of [`published`] |
//! | [`deferred_figures`] | the figures and tables of the paper on sort-based deferred shading |
//! | [`page`], [`svg`] | the page of the figures, and charts |

pub mod deferred_figures;
pub mod figures;
pub mod page;
pub mod published;
pub mod svg;
