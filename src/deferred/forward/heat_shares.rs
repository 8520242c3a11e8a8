//! Shader executions per pixel: the cost of a quad is divided among the samples that use its colours (section 5.2).

/// Shader executions per quad.
pub(crate) const EXECUTIONS_PER_QUAD: u32 = 4;

/// Shader executions per pixel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatShares {
    /// Executions per pixel, row by row.
    pub executions: Vec<f64>,
}

impl HeatShares {
    /// Creates a map of `pixels` zeros.
    pub(crate) fn new(pixels: usize) -> Self {
        Self { executions: vec![0.0; pixels] }
    }

    /// Adds the cost of a quad; `served` holds the pixels that use it, each with a number of samples.
    pub fn add(&mut self, served: &[(u32, u32)]) {
        let samples: u32 = served.iter().map(|(_, samples)| samples).sum();
        let cost = f64::from(EXECUTIONS_PER_QUAD) / f64::from(samples.max(1));
        for &(pixel, samples) in served {
            if let Some(executions) = self.executions.get_mut(pixel as usize) {
                *executions += cost * f64::from(samples);
            }
        }
    }

    /// Total number of executions.
    pub fn sum(&self) -> f64 {
        self.executions.iter().sum()
    }
}

/// Adds a sample of a pixel to a list of pixels with numbers of samples. Consecutive samples of a pixel share an entry.
#[inline]
pub fn serve(served: &mut Vec<(u32, u32)>, pixel: usize) {
    let pixel = u32::try_from(pixel).unwrap_or(u32::MAX);
    match served.last_mut() {
        Some((last, samples)) if *last == pixel => *samples += 1,
        _ => served.push((pixel, 1)),
    }
}
