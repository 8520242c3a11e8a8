//! USD: splats as prims of the type `ParticleField3DGaussianSplat`, in text, binary layers and packages.

use std::path::{Component, Path};

use super::format_reader::{FormatReader, Reader, SceneSource};
use crate::activation::{sigmoid, take_linear_opacities, take_linear_scales};
use crate::bytes::FileBytes;
use crate::encoding::{SceneEncoding, SplatAxes, SplatModel};
use crate::scene_file::SceneFormat;
use crate::splats::rest_coefficients;
use crate::table::{RawColumns, SplatTable};
use nalgebra::Vector3;
use quadrille_base::math::narrow;
use quadrille_base::shading::SplatOrder;
use quadrille_base::{Result, Task};
use quadrille_usd::{
    BINARY_MARK, SplatField, TEXT_MARK, UsdEncoding, UsdStage, WrittenSplats, is_package,
};

const LOSSES: &str = "no antialiasing flag; opacities and scales are linear";

pub(super) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("USD"),
    has_mark: |bytes| {
        bytes.starts_with(BINARY_MARK) || bytes.starts_with(TEXT_MARK) || is_package(bytes)
    },
    extensions: &["usd", "usda", "usdc", "usdz"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let mut beside = |name: &str| read_beside(source, name);
    let stage = UsdStage::open(source.bytes, source.path, &mut beside, source.task)?;
    let scene = stage.splats()?;
    let own = if scene.is_z_up { SplatAxes::RFU } else { SplatAxes::RUB };
    let axes = source.options.axes.unwrap_or(own);
    let degree = scene.fields.iter().map(|field| field.sh_degree).max().unwrap_or(0);
    let compression = match source.bytes {
        bytes if bytes.starts_with(TEXT_MARK) => "none, text",
        bytes if bytes.starts_with(BINARY_MARK) => "none, binary",
        _ => "none, USDZ",
    };
    let mut encoding = SceneEncoding::new(compression, LOSSES);
    let mut joined = RawColumns::zeroed(0, degree);
    for field in &scene.fields {
        let mut raw = columns(field, source.task)?;
        encoding.warnings.extend(take_linear_scales(&mut raw.scale));
        encoding.warnings.extend(take_linear_opacities(&mut raw.opacity));
        // One map, so that the transforms of written files cancel exactly.
        let to_world = axes.matrix() * field.to_world.fixed_view::<3, 3>(0, 0);
        let offset: Vector3<f64> = axes.matrix() * field.to_world.fixed_view::<3, 1>(0, 3);
        let place = format!("prim {}", field.path);
        let note = raw.place(&to_world, &offset, source.path, &place, source.task)?;
        encoding.warnings.extend(note);
        match scene.fields.len() {
            1 => joined = raw,
            _ => joined.append(&raw, 0..raw.rows()),
        }
    }
    let (sorting, is_by_distance) = scene.sorting;
    encoding.axes = axes;
    encoding.order = Some(if is_by_distance { SplatOrder::Distance } else { SplatOrder::Depth });
    encoding.model = scene.are_discs.then_some(SplatModel::Discs);
    if is_by_distance {
        encoding.notes.push(format!(
            "its splats are blended in the order of their distance, as it states by {sorting} (--order z blends by depth, as \
             trainers do)"
        ));
    }
    encoding.notes.extend(scene.notes);
    encoding.warnings.extend(scene.warnings);
    Ok(SplatTable::of_raw(joined, source.describe(FORMAT.format, encoding)))
}

fn read_beside(source: &SceneSource<'_>, name: &str) -> Result<Vec<u8>> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !source.has_folder || !is_plain {
        return Err(source.malformed("references", "layers beside the file", name));
    }
    Ok(FileBytes::open(&source.path.parent().unwrap_or(Path::new("")).join(name))?.to_vec())
}

/// Columns of a prim. Opacities and scales stay linear.
fn columns(field: &SplatField<'_, '_>, task: &Task) -> Result<RawColumns> {
    let rows = field.rows();
    let per_channel = rest_coefficients(field.sh_degree);
    let column = |value: &dyn Fn(usize) -> f32| -> Result<Vec<f32>> {
        task.check()?;
        Ok((0..rows).map(value).collect())
    };
    let mut raw = RawColumns::zeroed(0, 0);
    for axis in 0..3 {
        raw.mean[axis] = (0..rows).map(|row| field.position(row)[axis].into()).collect();
        raw.scale[axis] = column(&|row| field.scale(row)[axis])?;
        raw.sh_constant[axis] = column(&|row| field.coefficient(row, 0, axis))?;
        for k in 1..=per_channel {
            raw.sh_rest.push(column(&|row| field.coefficient(row, k, axis))?);
        }
    }
    for component in 0..4 {
        raw.rotation[component] = column(&|row| field.orientation(row)[component])?;
    }
    raw.opacity = column(&|row| field.opacity(row))?;
    Ok(raw)
}

pub(super) fn write(
    table: &SplatTable,
    encoding: UsdEncoding,
    path: &Path,
    task: &Task,
) -> Result<Vec<u8>> {
    let raw = table.raw(path, task)?;
    let three = |columns: &[Vec<f32>; 3], row: usize| columns.each_ref().map(|column| column[row]);
    let per_channel = raw.rest_per_channel();
    let source = WrittenSplats {
        rows: raw.rows(),
        sh_degree: raw.sh_degree(),
        is_by_distance: table.encoding.order == Some(SplatOrder::Distance),
        position: &|row| raw.mean.each_ref().map(|column| narrow(column[row])),
        orientation: &|row| raw.unit_rotation(row).map(narrow),
        scale: &|row| three(&raw.scale, row).map(|log| narrow(f64::from(log).exp())),
        opacity: &|row| narrow(sigmoid(raw.opacity[row].into())),
        coefficient: &|row, k| match k {
            0 => three(&raw.sh_constant, row),
            _ => [0, 1, 2].map(|channel| raw.sh_rest[channel * per_channel + k - 1][row]),
        },
    };
    quadrille_usd::write(&source, encoding, path, task)
}
