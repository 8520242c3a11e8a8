//! YUV4MPEG2, the uncompressed stream that video encoders read from pipes.
//!
//! A header line with tags, then per frame the line `FRAME` and the planes. Readers must know the matrix, BT.709.

use std::io::{self, Write};

use super::facts::FilmFacts;

pub struct Y4mWriter<W: Write> {
    out: W,
}

impl<W: Write> Y4mWriter<W> {
    pub(super) fn begin(mut out: W, facts: FilmFacts) -> io::Result<Self> {
        let ([width, height], rate) = (facts.size, facts.rate);
        let (n, d) = (rate.numerator, rate.denominator);
        writeln!(
            out,
            "YUV4MPEG2 W{width} H{height} F{n}:{d} Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED"
        )?;
        Ok(Self { out })
    }

    pub(super) fn push(&mut self, planes: &[u8]) -> io::Result<()> {
        self.out.write_all(b"FRAME\n")?;
        self.out.write_all(planes)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
