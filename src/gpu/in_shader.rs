//! Additional counts of draws whose fragment shader blends.

use serde::{Deserialize, Serialize};

use super::coalesce::bins::Flushes;
use super::warp::interlock::InterlockCounters;
use super::warp::raced_picture::RacedPicture;
use super::warp::shader_blend::{ShaderBlendCounters, ShaderOrder};
use super::zrop::framebuffer::Framebuffer;
use quadrille_base::image::metrics::psnr_and_max_abs;
use quadrille_machine::{StatisticsByUnit, documented};

documented! {
    /// Counts of unordered blending in the shader, and the effect on the picture.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
    pub struct ShaderBlendOutcome {
        /// Blended fragments missing from the picture: a fragment that had read the pixel earlier overwrote the
        /// update.
        pub lost_updates: u64,
        /// Fragments blended after a fragment that follows them in draw order.
        pub out_of_order_updates: u64,
        /// PSNR against the baseline's picture in decibels; `None` if the pictures are identical.
        pub psnr_vs_baseline_db: Option<f64>,
        /// Largest difference of a colour channel from the picture of the baseline.
        pub max_abs_vs_baseline: f64,
        /// Sectors of colour that shaders read.
        pub sectors_read: u64,
        /// Sectors of colour that shaders wrote.
        pub sectors_written: u64,
    }
}

documented! {
    /// Counts of blending in critical sections.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct InterlockOutcome {
        /// Flushes of tile coalescing before a quad whose pixel its bin already holds.
        pub conflict_flushes: u64,
        /// Tickets taken: flushes with at least one warp.
        pub tickets: u64,
        /// Tickets that a warp waited for.
        pub handoffs: u64,
        /// Warps that waited for their ticket.
        pub warps_waited: u64,
        /// Cycles in which warps kept their slots while waiting for their ticket, over all warps.
        pub wait_cycles: u64,
        /// Sectors of colour that shaders read.
        pub sectors_read: u64,
        /// Sectors of colour that shaders wrote.
        pub sectors_written: u64,
    }
}

/// Counts of blending in the shader, which differ by the order of blending.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InShader {
    /// Counts of blending without order (`shader-blend`).
    Unordered(ShaderBlendOutcome),
    /// Counts of blending in critical sections (`interlock`).
    Interlocked(InterlockOutcome),
}

impl InShader {
    /// Collects the counts of a draw that blended in `order`. `race` holds the pictures of an unordered draw.
    pub(super) fn collect(
        order: ShaderOrder,
        statistics: &StatisticsByUnit,
        tc: &Flushes,
        framebuffer: &Framebuffer,
        race: Option<&RacedPicture>,
    ) -> Self {
        let blended: ShaderBlendCounters = statistics.of();
        let [sectors_read, sectors_written] = [blended.sectors_read, blended.sectors_written];
        match (order, race) {
            (ShaderOrder::Unordered, Some(race)) => {
                let in_order = framebuffer.frame_of(race.in_order());
                // The comparison cannot fail, since both pictures have the same size and at least one pixel.
                let compared = psnr_and_max_abs(&framebuffer.frame(), &in_order);
                let (psnr_db, max_abs) = compared.unwrap_or_default();
                Self::Unordered(ShaderBlendOutcome {
                    lost_updates: blended.fragments.saturating_sub(race.fragments()),
                    out_of_order_updates: race.out_of_order(),
                    psnr_vs_baseline_db: psnr_db,
                    max_abs_vs_baseline: max_abs,
                    sectors_read,
                    sectors_written,
                })
            }
            _ => {
                let tickets: InterlockCounters = statistics.of();
                Self::Interlocked(InterlockOutcome {
                    conflict_flushes: tc.conflict,
                    tickets: tickets.tickets,
                    handoffs: tickets.handoffs,
                    warps_waited: tickets.warps_waited,
                    wait_cycles: tickets.wait_cycles,
                    sectors_read,
                    sectors_written,
                })
            }
        }
    }
}
