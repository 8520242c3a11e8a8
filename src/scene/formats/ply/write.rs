//! Writes splats as PLY in the layout of the 3DGS trainer, one splat at a time.

use std::io::{self, Write};

use crate::splats::{MAX_SH_DEGREE, Splat, rest_coefficients};

/// Size of the output buffer, large enough that the cost of system calls does not matter.
const BUFFER_BYTES: usize = 1 << 18;

/// Range of stored logits. The sigmoid of its ends rounds to 0 and 1 in f32, which preserves these two opacities.
const LOGIT_RANGE: (f32, f32) = (-104.0, 20.0);

/// Streaming writer of splats: little-endian floats `x y z f_dc_* f_rest_* opacity scale_* rot_*`, scales as logarithms
/// and opacities as logits, as the 3DGS trainer saves them (without its normals, which are always zero).
///
/// It needs constant memory. The number of splats is fixed at the start, because it is in the header.
#[derive(Debug)]
pub struct PlyWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    sh_degree: u8,
    missing: u64,
}

impl<W: Write> PlyWriter<W> {
    /// Writes the header for `count` splats of degree `sh_degree` (0 to 4), with each line of `comments` as a comment line.
    ///
    /// # Errors
    /// Errors of the output, and [`io::ErrorKind::InvalidInput`] for a degree above 4.
    pub fn new(out: W, count: u64, sh_degree: u8, comments: &[&str]) -> io::Result<Self> {
        if sh_degree > MAX_SH_DEGREE {
            return Err(invalid(format!(
                "SH degree: expected 0 to {MAX_SH_DEGREE}, found {sh_degree}"
            )));
        }
        let mut buffer = Vec::with_capacity(BUFFER_BYTES + 4 * 14 + 12 * 24);
        writeln!(buffer, "ply\nformat binary_little_endian 1.0")?;
        for line in comments.iter().flat_map(|comment| comment.lines()) {
            writeln!(buffer, "comment {line}")?;
        }
        writeln!(buffer, "element vertex {count}")?;
        for name in property_names(sh_degree) {
            writeln!(buffer, "property float {name}")?;
        }
        writeln!(buffer, "end_header")?;
        Ok(Self { out, buffer, sh_degree, missing: count })
    }

    /// Writes a splat. A scale of 0 becomes the least normal float; coefficients beyond the degree are ignored.
    ///
    /// # Errors
    /// Errors of the output, and [`io::ErrorKind::InvalidInput`] when all splats are written already.
    pub fn push(&mut self, splat: &Splat) -> io::Result<()> {
        self.missing = self
            .missing
            .checked_sub(1)
            .ok_or_else(|| invalid("more splats than the header announced".into()))?;
        encode(splat, self.sh_degree, &mut self.buffer);
        if self.buffer.len() >= BUFFER_BYTES {
            self.drain()?;
        }
        Ok(())
    }

    /// Writes rows that [`encoded_rows`] has encoded.
    ///
    /// # Errors
    /// Errors of the output, and [`io::ErrorKind::InvalidInput`] for an incomplete row or more rows than announced.
    pub fn push_rows(&mut self, rows: &[u8]) -> io::Result<()> {
        let row_bytes = row_bytes(self.sh_degree);
        if !rows.len().is_multiple_of(row_bytes) {
            let found = format!("{} bytes", rows.len());
            return Err(invalid(format!(
                "encoded splats: expected {row_bytes} bytes each, found {found}"
            )));
        }
        let missing = self.missing.checked_sub((rows.len() / row_bytes) as u64);
        self.missing =
            missing.ok_or_else(|| invalid("more splats than the header announced".into()))?;
        self.drain()?;
        self.out.write_all(rows)
    }

    /// Writes the rest of the buffer, flushes the output and returns it.
    ///
    /// # Errors
    /// Errors of the output, and [`io::ErrorKind::InvalidInput`] when splats are missing.
    pub fn finish(mut self) -> io::Result<W> {
        if self.missing > 0 {
            return Err(invalid(format!(
                "fewer splats than the header announced; splats missing: {}",
                self.missing
            )));
        }
        self.drain()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn drain(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Encodes `splats` as rows for [`PlyWriter::push_rows`], so that threads can encode parts of a scene in parallel.
/// Coefficients beyond the degree are ignored.
pub fn encoded_rows(sh_degree: u8, splats: impl ExactSizeIterator<Item = Splat>) -> Vec<u8> {
    let sh_degree = sh_degree.min(MAX_SH_DEGREE);
    let mut rows = Vec::with_capacity(splats.len() * row_bytes(sh_degree));
    splats.for_each(|splat| encode(&splat, sh_degree, &mut rows));
    rows
}

fn row_bytes(sh_degree: u8) -> usize {
    size_of::<f32>() * (14 + 3 * rest_coefficients(sh_degree))
}

fn encode(splat: &Splat, sh_degree: u8, row: &mut Vec<u8>) {
    let rest = rest_coefficients(sh_degree);
    let mut put = |values: &[f32]| {
        for value in values {
            row.extend_from_slice(&value.to_le_bytes());
        }
    };
    put(&splat.mean);
    put(&splat.sh[0]);
    for channel in 0..3 {
        for rgb in &splat.sh[1..=rest] {
            put(&[rgb[channel]]);
        }
    }
    put(&[logit(splat.opacity)]);
    put(&splat.scale.map(|s| s.max(f32::MIN_POSITIVE).ln()));
    put(&splat.rotation);
}

fn property_names(sh_degree: u8) -> impl Iterator<Item = String> {
    let numbered = |stem: &'static str, count| (0..count).map(move |i| format!("{stem}_{i}"));
    ["x", "y", "z"]
        .into_iter()
        .map(String::from)
        .chain(numbered("f_dc", 3))
        .chain(numbered("f_rest", 3 * rest_coefficients(sh_degree)))
        .chain(["opacity".to_owned()])
        .chain(numbered("scale", 3))
        .chain(numbered("rot", 4))
}

/// Inverse sigmoid. `1 - o` is exact from one half on, so the error is a few ulp.
fn logit(opacity: f32) -> f32 {
    (opacity / (1.0 - opacity)).ln().clamp(LOGIT_RANGE.0, LOGIT_RANGE.1)
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
