use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use super::yuv::{Subsampling, frame_of_planes};
use crate::error::{Error, Result};
use crate::image::Frame;
use crate::image::files::stated_size;

pub(super) const MAGIC: &[u8] = b"YUV4MPEG2";
/// Limit of a header line (assumed); writers use fewer than 200 bytes.
const MAX_LINE_BYTES: u64 = 4096;

pub(super) struct Y4mReader<R> {
    source: R,
    path: PathBuf,
    size: [u32; 2],
    subsampling: Subsampling,
    is_full_range: bool,
    read: u64,
}

impl<R: BufRead> Y4mReader<R> {
    pub(super) fn begin(mut source: R, path: &Path) -> Result<Self> {
        let line = line(&mut source, path)?;
        let (mut size, mut chroma, mut is_full_range) = ([0; 2], "420", false);
        for tag in line.split(' ').skip(1).filter(|tag| !tag.is_empty()) {
            let value = tag.get(1..).unwrap_or_default();
            let number = || {
                let wrong = || Error::malformed(path, "header", "a whole number of pixels", tag);
                value.parse::<u64>().map_err(|_| wrong())
            };
            match tag.as_bytes()[0] {
                b'W' => size[0] = number()?,
                b'H' => size[1] = number()?,
                b'C' => chroma = value,
                b'I' if !matches!(value, "p" | "?") => {
                    return Err(Error::malformed(path, "header", "a progressive film (Ip)", tag));
                }
                b'X' if value == "COLORRANGE=FULL" => is_full_range = true,
                _ => {}
            }
        }
        let checked = stated_size(path, size[0], size[1])?;
        let subsampling = match chroma {
            "mono" => Subsampling::Mono,
            "420" | "420jpeg" | "420mpeg2" | "420paldv" => Subsampling::Both,
            "422" => Subsampling::Columns,
            "444" => Subsampling::None,
            other => {
                let expected =
                    "8 bits: C420, C422, C444 or Cmono (`ffmpeg -pix_fmt yuv420p` converts others)";
                return Err(Error::malformed(path, "header", expected, format!("C{other}")));
            }
        };
        Ok(Self {
            source,
            path: path.to_owned(),
            size: [checked.width, checked.height],
            subsampling,
            is_full_range,
            read: 0,
        })
    }

    pub(super) fn count_rest(mut self) -> Result<u64> {
        let mut planes = Vec::new();
        let before = self.read;
        while self.next_planes(&mut planes)? {}
        Ok(self.read - before)
    }

    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>> {
        let mut planes = Vec::new();
        if !self.next_planes(&mut planes)? {
            return Ok(None);
        }
        Ok(Some(frame_of_planes(&planes, self.size, self.subsampling, self.is_full_range)))
    }

    fn next_planes(&mut self, planes: &mut Vec<u8>) -> Result<bool> {
        let path = &self.path;
        let failed = |e| Error::read(path, e);
        if self.source.fill_buf().map_err(failed)?.is_empty() {
            return Ok(false);
        }
        let place = format!("frame {}", self.read);
        let line = line(&mut self.source, path)?;
        let is_wrong = line.split(' ').next() != Some("FRAME");
        Error::malformed_if(is_wrong, path, &place, "a line that begins with FRAME", line)?;
        let bytes = self.subsampling.bytes(self.size);
        planes.clear();
        self.source.by_ref().take(bytes).read_to_end(planes).map_err(failed)?;
        if (planes.len() as u64) < bytes {
            let found = format!("{} bytes", planes.len());
            return Err(Error::malformed(path, place, format!("{bytes} bytes"), found));
        }
        self.read += 1;
        Ok(true)
    }
}

fn line(source: &mut impl BufRead, path: &Path) -> Result<String> {
    let mut line = Vec::new();
    let read = source.take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
    read.map_err(|e| Error::read(path, e))?;
    let expected = format_args!("a line of at most {MAX_LINE_BYTES} bytes");
    Error::malformed_if(line.pop() != Some(b'\n'), path, "header", expected, "no line feed")?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}
