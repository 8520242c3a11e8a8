//! Conditions of a comparison in words, from which a reader can measure the same numbers.

use quadrille_base::image::metrics::Protocol;

use super::summary::Summary;

/// Conditions under which the pairs of a comparison are measured.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// Conversion of values before they are compared.
    pub protocol: Protocol,
    /// Colour behind both pictures, in sRGB.
    pub background: [f32; 3],
    /// Further conditions, one clause each, such as the filter that resized the photos.
    pub clauses: Vec<String>,
}

impl Conditions {
    /// Describes the conditions in one line, without a full stop.
    pub fn sentence(&self, summary: &Summary) -> String {
        let background = match self.background {
            [0.0, 0.0, 0.0] => "black".to_owned(),
            [r, g, b] => format!("{r},{g},{b}"),
        };
        let (values, windows) = match self.protocol {
            Protocol::Inria => ("clamped and rounded to 8 bits", "zeros beyond the edge"),
            Protocol::Gsplat => ("clamped and not rounded", "mirrored beyond the edge"),
            Protocol::Nerfstudio => ("clamped and not rounded", "within the picture"),
            Protocol::Float => ("neither clamped nor rounded", "zeros beyond the edge"),
        };
        let identical = match summary.identical {
            identical if summary.count > 1 && identical > 0 => {
                format!("; {identical} identical, left out of the mean PSNR")
            }
            _ => String::new(),
        };
        let protocol = self.protocol.name();
        let clauses: String = self.clauses.iter().map(|clause| format!("; {clause}")).collect();
        format!(
            "protocol {protocol}: RGB over {background}, {values}{identical}; SSIM of 11 x 11 Gaussian windows, {windows}{clauses}"
        )
    }
}
