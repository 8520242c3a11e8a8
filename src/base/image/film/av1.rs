//! AV1 in MP4 (AV1 Bitstream & Decoding Process Specification; AV1 Codec ISO Media File Format Binding).
//!
//! The encoder is rav1e. Packets stay in memory until the end, since the index at the beginning of the
//! file holds their sizes; players can then start before they have the whole file.

use std::io::{self, Write};

use mp4_atom::{
    Av01, Av1c, Codec, Colr, Dinf, Dref, DrefEntry, Encode, FourCC, Ftyp, Hdlr, Mdhd, Mdia, Minf,
    Moov, Mvhd, Stbl, Stco, Stsc, StscEntry, Stsd, Stss, Stsz, StszSamples, Stts, SttsEntry, Tkhd,
    Trak, Url, Visual, Vmhd,
};
use rav1e::prelude::{
    ChromaSamplePosition, ChromaSampling, ColorDescription, ColorPrimaries, Config, Context,
    EncoderConfig, EncoderStatus, FrameType, MatrixCoefficients, PixelRange, Rational,
    TransferCharacteristics,
};

use super::facts::FilmFacts;

const SPEED: u8 = 9;
/// Quantizer of the encoder, 0 to 255. At 60, a flight over the island in `scenes` at 160 x 90 pixels has a PSNR of 40 dB.
const QUANTIZER: usize = 60;
/// Largest distance between key frames, which limits how finely players can seek.
const KEY_FRAME_INTERVAL: u64 = 120;
/// Code points of BT.709 in H.273 for primaries, transfer and matrix.
const BT_709: u16 = 1;
/// Temporal delimiter OBU, which files leave out (binding specification, section 2.4).
const TEMPORAL_DELIMITER: [u8; 2] = [0x12, 0x00];
const BOX_HEADER: usize = 8;

struct Sample {
    bytes: Vec<u8>,
    is_key: bool,
}

pub struct Av1Writer<W: Write> {
    out: W,
    film: Encoding,
}

impl<W: Write> Av1Writer<W> {
    pub(super) fn begin(out: W, facts: FilmFacts) -> io::Result<Self> {
        Ok(Self { out, film: Encoding::begin(facts)? })
    }

    pub(super) fn push(&mut self, planes: &[u8]) -> io::Result<()> {
        self.film.push(planes)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.film.finish(&mut self.out)
    }
}

/// Encoder and packets so far; independent of the writer's type, so that it is compiled once, with this crate.
struct Encoding {
    facts: FilmFacts,
    encoder: Context<u8>,
    samples: Vec<Sample>,
}

impl Encoding {
    fn begin(facts: FilmFacts) -> io::Result<Self> {
        let mut config = EncoderConfig::with_speed_preset(SPEED);
        [config.width, config.height] = facts.size.map(|side| side as usize);
        config.time_base =
            Rational::new(facts.rate.denominator.into(), facts.rate.numerator.into());
        config.chroma_sampling = ChromaSampling::Cs420;
        config.chroma_sample_position = ChromaSamplePosition::Vertical;
        config.pixel_range = PixelRange::Limited;
        config.color_description = Some(ColorDescription {
            color_primaries: ColorPrimaries::BT709,
            transfer_characteristics: TransferCharacteristics::BT709,
            matrix_coefficients: MatrixCoefficients::BT709,
        });
        config.quantizer = QUANTIZER;
        config.max_key_frame_interval = KEY_FRAME_INTERVAL;
        let encoder = Config::new().with_encoder_config(config).new_context();
        let encoder =
            encoder.map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e.to_string()))?;
        Ok(Self { facts, encoder, samples: Vec::new() })
    }

    fn push(&mut self, planes: &[u8]) -> io::Result<()> {
        let mut frame = self.encoder.new_frame();
        let [width, height] = self.facts.size.map(|side| side as usize);
        let (luma, chroma) = planes.split_at(width * height);
        let (cb, cr) = chroma.split_at(chroma.len() / 2);
        let strides = [width, width.div_ceil(2), width.div_ceil(2)];
        for ((plane, bytes), stride) in frame.planes.iter_mut().zip([luma, cb, cr]).zip(strides) {
            plane.copy_from_raw_u8(bytes, stride, 1);
        }
        self.encoder.send_frame(frame).map_err(failed)?;
        self.receive()
    }

    fn receive(&mut self) -> io::Result<()> {
        loop {
            match self.encoder.receive_packet() {
                Ok(packet) => {
                    let data = packet.data.strip_prefix(&TEMPORAL_DELIMITER);
                    self.samples.push(Sample {
                        bytes: data.unwrap_or(&packet.data).to_vec(),
                        is_key: packet.frame_type == FrameType::KEY,
                    });
                }
                Err(EncoderStatus::Encoded) => {}
                Err(EncoderStatus::NeedMoreData | EncoderStatus::LimitReached) => return Ok(()),
                Err(status) => return Err(failed(status)),
            }
        }
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.encoder.flush();
        self.receive()?;
        let ftyp = Ftyp {
            major_brand: FourCC::new(b"iso6"),
            minor_version: 0,
            compatible_brands: [b"iso6", b"mp41", b"av01"].map(FourCC::new).to_vec(),
        };
        let data: usize = self.samples.iter().map(|sample| sample.bytes.len()).sum();
        let size = u32::try_from(data + BOX_HEADER).map_err(io::Error::other)?;
        let mut head = Vec::new();
        ftyp.encode(&mut head).map_err(io::Error::other)?;
        // The size of the index does not depend on the offset in it.
        let mut index = Vec::new();
        self.index(0)?.encode(&mut index).map_err(io::Error::other)?;
        let offset = head.len() + index.len() + BOX_HEADER;
        let offset = u32::try_from(offset).map_err(io::Error::other)?;
        self.index(offset)?.encode(&mut head).map_err(io::Error::other)?;
        out.write_all(&head)?;
        out.write_all(&size.to_be_bytes())?;
        out.write_all(b"mdat")?;
        for sample in &self.samples {
            out.write_all(&sample.bytes)?;
        }
        out.flush()
    }

    fn index(&self, offset: u32) -> io::Result<Moov> {
        let rate = self.facts.rate;
        let frames = u32::try_from(self.samples.len()).map_err(io::Error::other)?;
        let duration = u64::from(frames) * u64::from(rate.denominator);
        let [width, height] = self.facts.size.map(u16::try_from);
        let (width, height) = (width.map_err(io::Error::other)?, height.map_err(io::Error::other)?);
        Ok(Moov {
            mvhd: Mvhd {
                timescale: rate.numerator,
                duration,
                rate: 1.into(),
                volume: 1.into(),
                next_track_id: 2,
                ..Mvhd::default()
            },
            trak: vec![Trak {
                tkhd: Tkhd {
                    track_id: 1,
                    duration,
                    enabled: true,
                    in_movie: true,
                    width: width.into(),
                    height: height.into(),
                    ..Tkhd::default()
                },
                mdia: Mdia {
                    mdhd: Mdhd {
                        timescale: rate.numerator,
                        duration,
                        language: "und".to_owned(),
                        ..Mdhd::default()
                    },
                    hdlr: Hdlr { handler: FourCC::new(b"vide"), name: "video".to_owned() },
                    minf: Minf {
                        vmhd: Some(Vmhd::default()),
                        dinf: Dinf { dref: Dref { entries: vec![DrefEntry::Url(Url::default())] } },
                        stbl: self.samples_table([width, height], frames, offset)?,
                        ..Minf::default()
                    },
                },
                ..Trak::default()
            }],
            ..Moov::default()
        })
    }

    fn samples_table(
        &self,
        [width, height]: [u16; 2],
        frames: u32,
        offset: u32,
    ) -> io::Result<Stbl> {
        let sizes = self.samples.iter().map(|sample| sample.bytes.len());
        let sizes: Result<Vec<_>, _> = sizes.map(u32::try_from).collect();
        let keys = (1_u32..).zip(&self.samples).filter(|(_, sample)| sample.is_key);
        Ok(Stbl {
            stsd: Stsd {
                codecs: vec![Codec::Av01(Av01 {
                    visual: Visual { data_reference_index: 1, width, height, ..Visual::default() },
                    av1c: self.codec_configuration(),
                    colr: Some(Colr::Nclx {
                        colour_primaries: BT_709,
                        transfer_characteristics: BT_709,
                        matrix_coefficients: BT_709,
                        full_range_flag: false,
                    }),
                    ..Av01::default()
                })],
            },
            stts: Stts {
                entries: vec![SttsEntry {
                    sample_count: frames,
                    sample_delta: self.facts.rate.denominator,
                }],
            },
            stss: Some(Stss { entries: keys.map(|(number, _)| number).collect() }),
            stsc: Stsc {
                entries: vec![StscEntry {
                    first_chunk: 1,
                    samples_per_chunk: frames,
                    sample_description_index: 1,
                }],
            },
            stsz: Stsz {
                samples: StszSamples::Different { sizes: sizes.map_err(io::Error::other)? },
            },
            stco: Some(Stco { entries: vec![offset] }),
            ..Stbl::default()
        })
    }

    /// Profile main, 8 bits, 4:2:0, level unstated (31), with the sequence header of the first key frame.
    fn codec_configuration(&self) -> Av1c {
        Av1c {
            seq_level_idx_0: 31,
            chroma_subsampling_x: true,
            chroma_subsampling_y: true,
            chroma_sample_position: 1,
            config_obus: self.sequence_header().to_vec(),
            ..Av1c::default()
        }
    }

    /// Sequence header of the first key frame: an OBU of type 1 with its size.
    fn sequence_header(&self) -> &[u8] {
        let first = self.samples.first().map_or(&[][..], |s| &s.bytes);
        match first {
            // A size below 128 bytes takes one byte.
            [0x0a, size, ..] if *size < 0x80 => {
                first.get(..2 + usize::from(*size)).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

fn failed(status: EncoderStatus) -> io::Error {
    io::Error::other(format!("AV1 encoder: {status}"))
}
