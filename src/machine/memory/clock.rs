//! Conversion of nanoseconds to cycles.

use quadrille_base::math::whole;

use crate::timing::Cycle;

pub(super) fn cycles_in(ns: f64, clock_mhz: f64) -> Cycle {
    whole(ns * clock_mhz / 1e3)
}
