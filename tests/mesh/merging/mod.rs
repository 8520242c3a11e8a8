//! The merging units against slow transcriptions of their papers, and their examples.

mod fragments;
mod pmu;
mod pmu_oracle;
mod qfm;
mod qfm_oracle;
