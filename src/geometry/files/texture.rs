//! Textures from PNG, JPEG, WebP, BMP and TGA files.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

use image::{ImageFormat, ImageReader, Limits};

use super::build::MeshBuilder;
use super::material::{Sampler, Texture, UvMap};
use quadrille_base::error::Error;
use quadrille_base::image::check_memory;
use quadrille_base::math::byte;
use quadrille_scene::bytes::FileBytes;

const MAX_SIDE: u32 = 16384;
/// Default limit on the texels of all textures of a mesh, in bytes: an assumption.
pub const TEXTURE_BYTES: u64 = 1 << 30;
const TEXEL_BYTES: u64 = size_of::<[u8; 4]>() as u64;
/// Bytes per texel during drawing: as read, and 8 bytes in a mip pyramid with 4/3 of the texels.
const DRAWN_TEXEL_BYTES: u64 = TEXEL_BYTES + 8 * 4 / 3;
const MAX_DECODER_BYTES: u64 = 1 << 30;
/// Texels that the header of any file may claim: 4096x4096. A lossless WebP of one colour has that size in a few bytes.
const FREE_TEXELS: u64 = 1 << 24;
/// Additional texels that a header may claim per byte of the file: twice the maximum of deflate for 8-bit pictures.
const TEXELS_PER_BYTE: u64 = 2048;

/// How a material uses a picture. A picture is read once per use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextureUse {
    pub(super) sampler: Sampler,
    /// Value of black, and what white adds to it.
    pub(super) range: [f32; 2],
    pub(super) uv_map: UvMap,
    pub(super) has_second_uvs: bool,
}

impl Default for TextureUse {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            range: [0.0, 1.0],
            uv_map: UvMap::IDENTITY,
            has_second_uvs: false,
        }
    }
}

#[derive(Default)]
pub(crate) struct TextureReader {
    by_name: HashMap<String, Vec<(TextureUse, Option<u32>)>>,
}

impl TextureReader {
    /// Index of the texture `name` for a use, which `bytes` reads if it is new. Unreadable textures are left out with a
    /// warning.
    pub(super) fn get<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        of: TextureUse,
        builder: &mut MeshBuilder,
        bytes: impl FnOnce() -> Result<B, String>,
    ) -> Option<u32> {
        let known = self.by_name.entry(name.to_owned()).or_default();
        if let Some((_, at)) = known.iter().find(|(known, _)| *known == of) {
            return *at;
        }
        let left = builder.texture_bytes;
        let texture = bytes().and_then(|bytes| decode(bytes.as_ref(), name, left));
        let at = match texture {
            Ok(mut texture) => {
                (texture.sampler, texture.uv_map) = (of.sampler, of.uv_map);
                texture.has_second_uvs = of.has_second_uvs;
                texture.map_range(of.range);
                builder.texture_bytes -= texture.texels.len() as u64 * TEXEL_BYTES;
                let textures = &mut builder.mesh.textures;
                textures.push(texture);
                u32::try_from(textures.len() - 1).ok()
            }
            Err(reason) => {
                builder.warn(format!("texture {name:?} is left out: {reason}"));
                None
            }
        };
        known.push((of, at));
        at
    }
}

impl Texture {
    /// Maps the channels of colour from 0 to 1 to a value of black, and what white adds to it.
    fn map_range(&mut self, [black, gain]: [f32; 2]) {
        if [black, gain] == [0.0, 1.0] {
            return;
        }
        let [black, gain] = [black, gain].map(f64::from);
        let mapped: [u8; 256] =
            std::array::from_fn(|value| byte(black * f64::from(u8::MAX) + gain * value as f64));
        for [r, g, b, _] in &mut self.texels {
            [*r, *g, *b] = [*r, *g, *b].map(|channel| mapped[usize::from(channel)]);
        }
    }

    /// Reads a PNG, JPEG, WebP, BMP or TGA whose texels take at most 1 GiB.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] when it has none of these formats.
    pub fn read(path: &Path) -> quadrille_base::error::Result<Self> {
        let bytes = FileBytes::open(path)?;
        let expected = "a PNG, JPEG, WebP, BMP or TGA";
        decode(&bytes, &path.to_string_lossy(), TEXTURE_BYTES)
            .map_err(|found| Error::malformed(path, "picture", expected, found))
    }
}

/// Format by the first bytes, or by the extension of `name` for TGA, which has no mark.
fn format_of(bytes: &[u8], name: &str) -> Option<ImageFormat> {
    match image::guess_format(bytes) {
        Ok(
            format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Bmp),
        ) => Some(format),
        Ok(_) => None,
        Err(_) => {
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            extension.is_some_and(|e| e.eq_ignore_ascii_case("tga")).then_some(ImageFormat::Tga)
        }
    }
}

fn decode(bytes: &[u8], name: &str, most: u64) -> Result<Texture, String> {
    let format = format_of(bytes, name)
        .ok_or("neither PNG, JPEG, WebP nor BMP, nor a TGA by the extension of its name")?;
    let reader = || ImageReader::with_format(Cursor::new(bytes), format);
    let size = reader().into_dimensions().map_err(|e| e.to_string())?;
    let (width, height) = size;
    let texels = u64::from(width) * u64::from(height);
    if width == 0 || height == 0 || width.max(height) > MAX_SIDE {
        return Err(format!("{width} x {height} texels, with a side outside 1 to {MAX_SIDE}"));
    }
    if texels * TEXEL_BYTES > most {
        let [needed, left] = [texels * TEXEL_BYTES, most].map(|bytes| bytes.div_ceil(1 << 20));
        return Err(format!(
            "{width} x {height} texels, which take {needed} MiB; the limit on memory leaves {left} MiB"
        ));
    }
    check_memory(size.into(), DRAWN_TEXEL_BYTES).map_err(|error| error.to_string())?;
    if texels > FREE_TEXELS.saturating_add(TEXELS_PER_BYTE * bytes.len() as u64) {
        let bytes = bytes.len();
        return Err(format!("{width} x {height} texels, which {bytes} bytes cannot hold"));
    }
    let mut reader = reader();
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(|e| e.to_string())?.into_rgba8();
    if picture.dimensions() != size {
        return Err("a picture whose size differs from its header".into());
    }
    Ok(Texture {
        width,
        height,
        texels: picture.pixels().map(|pixel| pixel.0).collect(),
        ..Texture::default()
    })
}
