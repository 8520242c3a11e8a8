//! Perceptual distances (LPIPS) in the variants that papers print.

use std::path::Path;

use serde::{Deserialize, Serialize};

use quadrille_base::choice;
use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::Protocol;
use quadrille_base::image::metrics::lpips::{
    InputScale, Lpips, LpipsNet, LpipsWeights, find_weights,
};

choice! {
    /// LPIPS network with the range of its input.
    #[derive(Hash)]
    pub enum LpipsKind {
        /// VGG-16 on values from 0 to 1, as in the original trainer and gsplat (--lpips_net vgg)
        Vgg = "vgg",
        /// AlexNet on values scaled to -1 to 1, as in nerfstudio and, by default, gsplat
        Alex = "alex",
        /// VGG-16 on values scaled to -1 to 1, as the authors of LPIPS define it
        VggScaled = "vgg-scaled",
    }
}

impl LpipsKind {
    fn net(self) -> LpipsNet {
        match self {
            Self::Vgg | Self::VggScaled => LpipsNet::Vgg,
            Self::Alex => LpipsNet::Alex,
        }
    }

    fn scale(self) -> InputScale {
        match self {
            Self::Vgg => InputScale::Unit,
            Self::Alex | Self::VggScaled => InputScale::Signed,
        }
    }

    /// Key of the distance in JSON and CSV.
    pub fn key(self) -> &'static str {
        match self {
            Self::Vgg => "lpips_vgg",
            Self::Alex => "lpips_alex",
            Self::VggScaled => "lpips_vgg_scaled",
        }
    }

    /// Description of the metric in a sentence.
    pub fn clause(self) -> &'static str {
        match self {
            Self::Vgg => "LPIPS 0.1 VGG-16 of values of 0 to 1",
            Self::Alex => "LPIPS 0.1 AlexNet of values scaled to -1 to 1",
            Self::VggScaled => "LPIPS 0.1 VGG-16 of values scaled to -1 to 1",
        }
    }
}

/// Distances of a pair; `None` for kinds that were not requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LpipsDistances {
    /// Distance of [`LpipsKind::Vgg`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lpips_vgg: Option<f64>,
    /// Distance of [`LpipsKind::Alex`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lpips_alex: Option<f64>,
    /// Distance of [`LpipsKind::VggScaled`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lpips_vgg_scaled: Option<f64>,
}

/// Kinds of distances to measure, with their networks.
#[derive(Default)]
pub struct LpipsMetrics {
    kinds: Vec<LpipsKind>,
    nets: Vec<(LpipsNet, Lpips)>,
}

impl LpipsMetrics {
    /// Reads the weights of the networks of `kinds` from `weights`, a file or a folder, or from the file that
    /// [`find_weights`] returns.
    ///
    /// # Errors
    /// Errors of reading, which say how weights are made.
    pub fn load(kinds: &[LpipsKind], weights: Option<&Path>) -> Result<Self> {
        let mut metrics = Self::default();
        for kind in kinds {
            if metrics.kinds.contains(kind) {
                continue;
            }
            metrics.kinds.push(*kind);
            let net = kind.net();
            if metrics.nets.iter().all(|(loaded, _)| *loaded != net) {
                let weights = LpipsWeights::read(&find_weights(weights, net)?, net)?;
                metrics.nets.push((net, Lpips::new(&weights)));
            }
        }
        Ok(metrics)
    }

    /// Kinds of distances that are measured, each once.
    pub fn kinds(&self) -> &[LpipsKind] {
        &self.kinds
    }

    /// Measures the distances of two premultiplied pictures, which count as over black, under `protocol`.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for pictures of different sizes, or smaller than a network
    /// accepts.
    pub fn measure(&self, [a, b]: [&Frame; 2], protocol: Protocol) -> Result<LpipsDistances> {
        let mut distances = LpipsDistances::default();
        for kind in &self.kinds {
            let net = self.nets.iter().find(|(net, _)| *net == kind.net());
            let distance = net.map(|(_, lpips)| lpips.distance(a, b, protocol, kind.scale()));
            let place = match kind {
                LpipsKind::Vgg => &mut distances.lpips_vgg,
                LpipsKind::Alex => &mut distances.lpips_alex,
                LpipsKind::VggScaled => &mut distances.lpips_vgg_scaled,
            };
            *place = distance.transpose()?;
        }
        Ok(distances)
    }
}
