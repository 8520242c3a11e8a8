//! Reader of COLMAP's binary files, which are little-endian.
//!
//! `cameras.bin`: u64 count; per camera u32 identifier, i32 model, u64 width, u64 height, f64 parameters. `images.bin`: u64
//! count; per image u32 identifier, 4 f64 quaternion, 3 f64 translation, u32 camera, name and 0, u64 count of points.

use std::path::Path;

use super::model::{Lens, LensModel, Lenses, MAX_PARAMETERS, PosedImage};
use quadrille_base::byte_reader::ByteReader;
use quadrille_base::error::Result;

/// Bytes per image point: f64 x, f64 y, u64 identifier.
const POINT_BYTES: usize = 24;
/// Smallest camera: the fixed part and the two parameters of a panorama.
const MIN_CAMERA_BYTES: usize = 24 + 2 * 8;
/// Smallest image: the fixed part, an empty name and no points.
const MIN_IMAGE_BYTES: usize = 64 + 1 + 8;
/// Longest name: the limit of Linux for paths.
const MAX_NAME_BYTES: usize = 4096;

pub(super) fn read_cameras(bytes: &[u8], path: &Path) -> Result<Lenses> {
    let mut source = ByteReader::new(path, bytes);
    let count = source.count(MIN_CAMERA_BYTES, "number of cameras")?;
    let mut lenses = Lenses::new();
    for index in 0..count {
        let place = format!("camera {index}");
        let id = source.u32(&place)?;
        let model = LensModel::by_id(source.i32(&place)?, path, &place)?;
        let mut size_px = [0; 2];
        for side in &mut size_px {
            let value = source.u64(&place)?;
            *side = u32::try_from(value)
                .map_err(|_| source.error(&place, "a side below 2^32 pixels", value.to_string()))?;
        }
        let mut parameters = [0.0; MAX_PARAMETERS];
        for parameter in &mut parameters[..model.parameters] {
            [*parameter] = source.f64s(&place)?;
        }
        lenses.insert(id, Lens { model, size_px, parameters });
    }
    Ok(lenses)
}

pub(super) fn read_images(bytes: &[u8], path: &Path) -> Result<Vec<PosedImage>> {
    let mut source = ByteReader::new(path, bytes);
    let count = source.count(MIN_IMAGE_BYTES, "number of images")?;
    let mut images = Vec::new();
    for index in 0..count {
        let place = format!("image {index}");
        let id = source.u32(&place)?;
        let quaternion = source.f64s(&place)?;
        let translation = source.f64s(&place)?;
        let camera_id = source.u32(&place)?;
        let name = source.text_to_zero(MAX_NAME_BYTES, &place)?;
        let points = source.count(POINT_BYTES, &place)?;
        source.take(points * POINT_BYTES, &place)?;
        images.push(PosedImage { id, place, quaternion, translation, camera_id, name });
    }
    Ok(images)
}
