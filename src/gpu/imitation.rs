//! VR-Pipe's additions imitated on a GPU without them, as the paper does to measure energy (section VI-D).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::variant::Variant;
use quadrille_base::error::{Error, Result};
use quadrille_machine::documented;

const PREFIX: &str = "imitated:";

/// Additions that the stencil test and the fragment shader imitate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imitation(Variant);

impl Imitation {
    /// Early termination, quad merging, and both.
    pub const ALL: [Self; 3] = [Self(Variant::HET), Self(Variant::QM), Self(Variant::HET_QM)];

    /// Variant of the pipeline that is imitated.
    pub fn variant(self) -> Variant {
        self.0
    }

    /// Parses `imitated:VARIANT`; `None` for a name with another prefix.
    pub(crate) fn parse(text: &str) -> Option<Result<Self>> {
        text.starts_with(PREFIX).then(|| {
            let known = Self::ALL.into_iter().find(|imitation| imitation.to_string() == text);
            let names = || Self::ALL.map(|imitation| imitation.to_string()).join(", ");
            known.ok_or_else(|| Error::argument("variant", names(), text))
        })
    }
}

impl fmt::Display for Imitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

documented! {
    /// Results of the draws that an imitation needs before the timed one.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
    pub struct ImitationOutcome {
        /// Fragments ahead of the termination of their pixels that stencil values of eight bits do not count, so that they fail
        /// the stencil test.
        pub fragments_uncounted: u64,
        /// Share of the quads above the alpha cut that simulated quad merging removes.
        pub merge_share: f64,
    }
}
