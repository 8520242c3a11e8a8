//! `OpenEXR`: f32, premultiplied, by the format's convention.
//!
//! One part holds the channels R, G, B and A and the channels of the layers. Depth is `Z`; other layers have names with a
//! dot, as the readers of Blender and Nuke expect. Whole numbers are stored as UINT. The attribute `colorInteropID` names
//! the colour space (ASWF Color Interop Forum, "Texture Asset Color Spaces").

use std::io::{self, Cursor, Write};
use std::path::Path;

use exr::meta::MetaData;
use exr::prelude::{
    AnyChannel, AnyChannels, AttributeValue, Encoding, FlatSamples, Image, LayerAttributes,
    ReadChannels, ReadLayers, Text, WritableImage, read,
};
use image::ImageDecoder;
use image::codecs::openexr::OpenExrDecoder;

use super::limits::{check_compressed_length, stated_size};
use super::planes::Plane;
use crate::error::{Error, Result};
use crate::image::{ColourSpace, Frame, LayerPicture};

pub(super) const MAGIC: &[u8] = &[0x76, 0x2f, 0x31, 0x01];

const MIN_BITS_PER_PIXEL: u64 = 48;

const COLOUR_SPACE: &str = "colorInteropID";

/// Start of the names of linear colour spaces.
const LINEAR: &str = "lin_";

/// Reads the display window of the first layer with R, G and B; without A, alpha is 1.
pub(super) fn decode(content: &[u8], named: &Path) -> Result<Frame> {
    let broken = |e: image::ImageError| Error::malformed(named, "OpenEXR", "a whole picture", e);
    let decoder =
        OpenExrDecoder::with_alpha_preference(Cursor::new(content), Some(true)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let size = stated_size(named, width.into(), height.into())?;
    check_compressed_length(named, content, size, MIN_BITS_PER_PIXEL)?;
    let mut frame = Frame::new(width, height);
    decoder.read_image(bytemuck::cast_slice_mut(frame.pixels_mut())).map_err(broken)?;
    Ok(frame)
}

/// Whether a file states in its attributes that its colours are linear light.
pub(super) fn states_linear_light(content: &[u8]) -> bool {
    let Ok(meta) = MetaData::read_from_buffered(content, false) else { return false };
    let name = Text::from(COLOUR_SPACE);
    let mut spaces = meta.headers.iter().flat_map(|header| {
        let all = [&header.shared_attributes.other, &header.own_attributes.other];
        all.map(|attributes| attributes.get(&name)).into_iter().flatten()
    });
    spaces.any(|value| match value {
        AttributeValue::Text(space) => space.to_string().starts_with(LINEAR),
        _ => false,
    })
}

pub(super) fn decode_planes(content: &[u8], named: &Path) -> Result<Vec<Plane>> {
    // Checks the sizes before memory is allocated for them.
    let frame = decode(content, named)?;
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(content))
        .map_err(|e| Error::malformed(named, "OpenEXR", "a whole picture", e))?;
    let channels = image.layer_data.channel_data.list.into_iter();
    let others = channels.map(|channel| (channel.name.to_string(), channel.sample_data));
    let others = others.filter(|(name, _)| !["R", "G", "B", "A"].contains(&name.as_str()));
    let plane = |(name, samples)| Plane {
        name,
        size: [frame.width(), frame.height()],
        values: match samples {
            FlatSamples::F16(values) => values.iter().map(|v| v.to_f64()).collect(),
            FlatSamples::F32(values) => values.into_iter().map(f64::from).collect(),
            FlatSamples::U32(values) => values.into_iter().map(f64::from).collect(),
        },
    };
    Ok(others.map(plane).collect())
}

/// Writes R, G, B and A in f32, and `layers`, losslessly compressed.
pub(super) fn encode(
    out: &mut impl Write,
    frame: &Frame,
    layers: &[LayerPicture],
) -> io::Result<()> {
    let colour = |channel: usize| {
        FlatSamples::F32(frame.pixels().iter().map(|pixel| pixel[channel]).collect())
    };
    let names = ["R", "G", "B", "A"].into_iter().enumerate();
    let mut channels: Vec<AnyChannel<FlatSamples>> =
        names.map(|(index, name)| AnyChannel::new(name, colour(index))).collect();
    for layer in layers {
        for (index, name) in layer.layer.exr_channels().iter().enumerate() {
            let samples = if layer.layer.is_whole() {
                FlatSamples::U32(layer.plane_bits(index).to_vec())
            } else {
                FlatSamples::F32(layer.plane(index).to_vec())
            };
            channels.push(AnyChannel::new(name.as_str(), samples));
        }
    }
    let channels = AnyChannels::sort(channels.into_iter().collect());
    let size = (frame.width() as usize, frame.height() as usize);
    let colour_space = match frame.colour_space() {
        ColourSpace::Srgb => "srgb_rec709_display",
        ColourSpace::Linear => "lin_rec709_display",
    };
    let mut layer = exr::prelude::Layer::new(
        size,
        LayerAttributes::default(),
        Encoding::FAST_LOSSLESS,
        channels,
    );
    let colour_space = AttributeValue::Text(Text::from(colour_space));
    let attributes = &mut layer.attributes.other;
    attributes.insert(Text::from(COLOUR_SPACE), colour_space);
    // The encoder seeks back to fill in its table of offsets, which a pipe cannot.
    let mut file = Cursor::new(Vec::new());
    let image = Image::from_layer(layer);
    image.write().non_parallel().to_buffered(&mut file).map_err(|error| match error {
        exr::error::Error::Io(error) => error,
        other => io::Error::other(other),
    })?;
    out.write_all(file.get_ref())
}
