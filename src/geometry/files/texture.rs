//! Textures from PNG, JPEG, WebP, BMP and TGA files.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

use image::{ImageFormat, ImageReader, Limits};

use super::build::MeshBuilder;
use super::material::{Sampler, Texture};
use quadrille_base::error::Error;
use quadrille_scene::bytes::Bytes;

/// Limit on each side of a texture, in texels.
const MAX_SIDE: u32 = 16384;
/// Limit on the texels of all textures of a mesh: 64 Mi.
const MAX_TEXELS: u64 = 64 << 20;
/// Limit on the memory for decoding one texture, in bytes.
const MAX_DECODER_BYTES: u64 = 1 << 30;
/// Number of texels that the header of a file of any size may claim: 4096x4096. A lossless WebP of one colour
/// holds such a picture in a few bytes.
const FREE_TEXELS: u64 = 1 << 24;
/// Number of further texels that a header may claim per byte of the file: twice what deflate reaches
/// for 8-bit pictures, so a header that claims more is wrong.
const TEXELS_PER_BYTE: u64 = 2048;

/// Reader of a mesh's textures; each texture is read once.
#[derive(Default)]
pub(crate) struct TextureReader {
    by_name: HashMap<(String, Sampler), Option<u32>>,
    /// Number of texels read so far.
    used: u64,
}

impl TextureReader {
    /// Returns the index of the texture `name`, whose file `bytes` reads. A texture that cannot be
    /// read is left out with a warning.
    pub(super) fn get<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        builder: &mut MeshBuilder,
        bytes: impl FnOnce() -> Result<B, String>,
    ) -> Option<u32> {
        self.sampled(name, Sampler::default(), builder, bytes)
    }

    /// As [`Self::get`], with a sampler. A texture with several samplers is read for each.
    pub(super) fn sampled<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        sampler: Sampler,
        builder: &mut MeshBuilder,
        bytes: impl FnOnce() -> Result<B, String>,
    ) -> Option<u32> {
        let key = (name.to_owned(), sampler);
        if let Some(&known) = self.by_name.get(&key) {
            return known;
        }
        let texture =
            bytes().and_then(|bytes| decode(bytes.as_ref(), name, MAX_TEXELS - self.used));
        let at = match texture {
            Ok(mut texture) => {
                texture.sampler = sampler;
                self.used += texture.texels.len() as u64;
                let textures = &mut builder.mesh.textures;
                textures.push(texture);
                u32::try_from(textures.len() - 1).ok()
            }
            Err(reason) => {
                builder.warn(format!("texture {name:?} is left out: {reason}"));
                None
            }
        };
        self.by_name.insert(key, at);
        at
    }
}

impl Texture {
    /// Reads a PNG, JPEG, WebP, BMP or TGA of at most 64 Mi texels.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] when it is no such picture.
    pub fn read(path: &Path) -> quadrille_base::error::Result<Self> {
        let bytes = Bytes::open(path)?;
        let expected = "a PNG, JPEG, WebP, BMP or TGA";
        decode(&bytes, &path.to_string_lossy(), MAX_TEXELS)
            .map_err(|found| Error::malformed(path, "picture", expected, found))
    }
}

/// The format of a picture, by its first bytes or, for TGA, which has none of its own, by its name.
fn format_of(bytes: &[u8], name: &str) -> Option<ImageFormat> {
    match image::guess_format(bytes) {
        Ok(
            format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Bmp),
        ) => Some(format),
        Ok(_) => None,
        Err(_) => {
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            let is_tga = extension.is_some_and(|e| e.eq_ignore_ascii_case("tga"));
            is_tga.then_some(ImageFormat::Tga)
        }
    }
}

/// Decodes the picture `name` of at most `most` texels, or returns the reason why it cannot.
fn decode(bytes: &[u8], name: &str, most: u64) -> Result<Texture, String> {
    let format = format_of(bytes, name).ok_or("neither PNG, JPEG, WebP, BMP nor TGA")?;
    let reader = || ImageReader::with_format(Cursor::new(bytes), format);
    let size = reader().into_dimensions().map_err(|e| e.to_string())?;
    let (width, height) = size;
    let texels = u64::from(width) * u64::from(height);
    if width == 0 || height == 0 || width.max(height) > MAX_SIDE {
        return Err(format!("{width} x {height} texels, sides 1 to {MAX_SIDE}"));
    }
    if texels > most {
        return Err(format!(
            "{width} x {height} texels, of {MAX_TEXELS} in all {most} are left"
        ));
    }
    let credible = FREE_TEXELS.saturating_add(TEXELS_PER_BYTE * bytes.len() as u64);
    if texels > credible {
        let bytes = bytes.len();
        return Err(format!("{width} x {height} texels in {bytes} bytes"));
    }
    let mut reader = reader();
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(|e| e.to_string())?.into_rgba8();
    if picture.dimensions() != size {
        return Err("a size unlike its header's".into());
    }
    Ok(Texture {
        width,
        height,
        texels: picture.pixels().map(|pixel| pixel.0).collect(),
        sampler: Sampler::default(),
    })
}
