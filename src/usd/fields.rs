//! Prims of splats, as the schemas of `UsdVol` describe them.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Matrix4;
use quadrille_base::math::whole;
use quadrille_base::{Error, Result};

use crate::layer::{NumberArray, Value};
use crate::stage::{Composed, UsdStage};

/// Highest degree of spherical harmonics that is read.
const MAX_SH_DEGREE: u8 = 4;
/// Degree of prims that state none (schema).
const DEFAULT_SH_DEGREE: f64 = 3.0;
/// Splats that any stage may have. Larger files may have one per byte, so that references multiply no small file.
const MIN_SPLATS: usize = 1 << 16;
/// Types of prims that an error lists.
const LISTED_TYPES: usize = 5;

/// Values of `sortingModeHint`, and whether they sort by the distance from the camera. The first is the default.
const SORTING_MODES: [(&str, bool); 3] =
    [("zDepth", false), ("cameraDistance", true), ("rayHitDistance", true)];

/// Splats of one prim. Missing and short arrays have the schema's defaults.
pub struct SplatField<'s, 'a> {
    /// Map from the prim to the world of the stage, for column vectors.
    pub to_world: Matrix4<f64>,
    /// Path of the prim.
    pub path: String,
    /// Degree of the spherical harmonics, 0 to 4.
    pub sh_degree: u8,
    positions: &'s NumberArray<'a>,
    orientations: Option<&'s NumberArray<'a>>,
    scales: Option<&'s NumberArray<'a>>,
    opacities: Option<&'s NumberArray<'a>>,
    /// Coefficients, and their number per splat.
    coefficients: Option<(&'s NumberArray<'a>, usize)>,
}

impl SplatField<'_, '_> {
    /// Number of splats.
    pub fn rows(&self) -> usize {
        self.positions.len()
    }

    /// Centre of a splat.
    pub fn position(&self, row: usize) -> [f32; 3] {
        [0, 1, 2].map(|axis| self.positions.get(row, axis))
    }

    /// Quaternion w, x, y, z.
    pub fn orientation(&self, row: usize) -> [f32; 4] {
        let of = |array: &NumberArray<'_>| [3, 0, 1, 2].map(|component| array.get(row, component));
        self.orientations.map_or([1.0, 0.0, 0.0, 0.0], of)
    }

    /// Standard deviations along the axes.
    pub fn scale(&self, row: usize) -> [f32; 3] {
        self.scales.map_or([1.0; 3], |array| [0, 1, 2].map(|axis| array.get(row, axis)))
    }

    /// Opacity from 0 to 1.
    pub fn opacity(&self, row: usize) -> f32 {
        self.opacities.map_or(1.0, |array| array.get(row, 0))
    }

    /// Coefficient `k` of a channel.
    pub fn coefficient(&self, row: usize, k: usize, channel: usize) -> f32 {
        self.coefficients.map_or(0.0, |(array, count)| array.get(row * count + k, channel))
    }
}

/// All splats of a stage.
pub struct SplatScene<'s, 'a> {
    /// Prims of splats that are drawn, in order.
    pub fields: Vec<SplatField<'s, 'a>>,
    /// True if z points up in the world of the stage, and y forward; else y points up and z back.
    pub is_z_up: bool,
    /// True if the prims hold discs in place of ellipsoids.
    pub are_discs: bool,
    /// Order in which the first prim is blended (`sortingModeHint`), and whether it is by the distance from the camera.
    /// Rasterizers take the distance of hits by rays for it (schema).
    pub sorting: (&'static str, bool),
    /// Remarks, one clause each.
    pub notes: Vec<String>,
    /// Warnings about content that is left out or approximated, one sentence each.
    pub warnings: Vec<String>,
}

/// What the prims of a stage have in common.
#[derive(Default)]
struct Findings {
    sortings: Vec<(&'static str, bool)>,
    are_discs: Vec<bool>,
    sampled: usize,
    left_out: BTreeMap<&'static str, usize>,
    others: BTreeSet<String>,
    is_nurec: bool,
    rows: u64,
}

impl<'a> UsdStage<'a> {
    /// Finds the prims of splats, and warns of content that is not drawn.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a stage without visible splats and for unknown transforms; [`Error::Limit`].
    pub fn splats<'s>(&'s self) -> Result<SplatScene<'s, 'a>> {
        let mut warnings = self.warnings.clone();
        let (mut fields, mut found) = (Vec::new(), Findings::default());
        self.visit(&mut warnings, &mut |prim, warnings| {
            fields.extend(found.field(prim, warnings));
            let most = self.bytes.max(MIN_SPLATS) as u64;
            Error::check_limit("splats in a stage of this size", most, found.rows)
        })?;
        if fields.is_empty() {
            let expected = "splats (prims of the type ParticleField3DGaussianSplat)";
            return Err(Error::malformed(self.path, "stage", expected, found.instead(&warnings)));
        }
        let mut notes = Vec::new();
        let is_z_up = matches!(self.metadata("upAxis"), Some(Value::Text(axis)) if axis == "Z");
        if let Some(Value::Number(metres)) = self.metadata("metersPerUnit") {
            notes.push(format!("a unit of its positions is {metres} metres, as it states"));
        }
        for (reason, count) in &found.left_out {
            notes.push(format!(
                "prims of splats that are left out, since they are {reason}: {count}"
            ));
        }
        if found.sampled > 0 {
            warnings.insert(format!(
                "attributes with values over time, of which the earliest ones are drawn: {}",
                found.sampled
            ));
        }
        let sorting = found.sortings[0];
        if found.sortings.iter().any(|other| *other != sorting) {
            warnings.insert(format!(
                "parts of it state another sortingModeHint than the first, {}, which all have in the picture",
                sorting.0
            ));
        }
        let are_discs = found.are_discs[0];
        if found.are_discs.iter().any(|other| *other != are_discs) {
            warnings.insert(
                "it has both discs and ellipsoids, and all are drawn as ellipsoids".to_owned(),
            );
        }
        Ok(SplatScene {
            fields,
            is_z_up,
            are_discs: found.are_discs.iter().all(|own| *own),
            sorting,
            notes,
            warnings: warnings.into_iter().collect(),
        })
    }
}

impl Findings {
    /// Description of a stage without splats.
    fn instead(&self, warnings: &BTreeSet<String>) -> String {
        if self.is_nurec {
            return "a volume of NuRec (export the scene by 3dgrut with --format standard, or as PLY)".to_owned();
        }
        if let Some((reason, count)) = self.left_out.first_key_value() {
            return format!("{count} that are {reason}");
        }
        if !warnings.is_empty() {
            let warnings: Vec<&str> = warnings.iter().map(String::as_str).collect();
            return format!("none ({})", warnings.join("; "));
        }
        let types: Vec<&str> = self.others.iter().take(LISTED_TYPES).map(String::as_str).collect();
        match types.is_empty() {
            true => "no prims".to_owned(),
            false => format!("prims of other types: {}", types.join(", ")),
        }
    }

    fn field<'s, 'a>(
        &mut self,
        prim: &Composed<'s, 'a>,
        warnings: &mut BTreeSet<String>,
    ) -> Option<SplatField<'s, 'a>> {
        let type_name = prim.type_name();
        let applies =
            |kernel: &str| prim.lists("apiSchemas", &format!("ParticleFieldKernel{kernel}API"));
        let is_disc = applies("GaussianSurflet");
        match type_name {
            "ParticleField3DGaussianSplat" => {}
            "ParticleField" if is_disc || applies("GaussianEllipsoid") => {}
            _ => {
                self.is_nurec |= prim.value("omni:nurec:isNuRecVolume").is_some();
                if !type_name.is_empty() {
                    self.others.insert(type_name.to_owned());
                }
                if type_name == "ParticleField" {
                    warnings.insert(format!(
                        "{} has a kernel that is not Gaussian, and is left out",
                        prim.path
                    ));
                }
                return None;
            }
        }
        if let Some(reason) = prim.left_out {
            *self.left_out.entry(reason).or_default() += 1;
            return None;
        }
        let mut array = |name: &str, width: usize| {
            // Single precision is preferred to half (schema).
            let values = [name.to_owned(), format!("{name}h")].into_iter();
            let mut values = values.filter_map(|name| prim.sampled(&name));
            let (array, samples) = values.find_map(|(value, samples)| match value {
                Value::Array(array) if array.width == width => Some((array, samples)),
                _ => None,
            })?;
            self.sampled += usize::from(samples > 1);
            Some(array)
        };
        let [positions, orientations, scales, opacities] =
            [("positions", 3), ("orientations", 4), ("scales", 3), ("opacities", 1)]
                .map(|(name, width)| array(name, width));
        let coefficients = array("radiance:sphericalHarmonicsCoefficients", 3);
        let Some(positions) = positions else {
            warnings.insert(format!("{} has no positions, and no splats", prim.path));
            return None;
        };
        let rows = positions.len();
        let mut fitting = |name: &str, array: Option<&'s NumberArray<'a>>, rows: usize| {
            let len = array.map_or(rows, NumberArray::len);
            if len != rows {
                let instead =
                    if len < rows { "its default is drawn" } else { "the last ones are left out" };
                warnings.insert(format!(
                    "{} has {len} {name} in place of {rows}: {instead}",
                    prim.path
                ));
            }
            array.filter(|_| len >= rows)
        };
        let degree = match prim.value("radiance:sphericalHarmonicsDegree") {
            Some(Value::Number(degree)) => *degree,
            _ => DEFAULT_SH_DEGREE,
        };
        // Degrees are whole; the cast saturates, and such arrays are too short.
        let per_splat: usize = whole((degree + 1.0) * (degree + 1.0));
        let needed = rows.saturating_mul(per_splat);
        let coefficients =
            fitting("spherical harmonics", coefficients, needed).filter(|_| per_splat > 0);
        let sh_degree: u8 = whole(degree);
        let field = SplatField {
            to_world: prim.to_world,
            path: prim.path.clone(),
            sh_degree: if coefficients.is_some() { sh_degree.min(MAX_SH_DEGREE) } else { 0 },
            positions,
            orientations: fitting("orientations", orientations, rows),
            scales: fitting("scales", scales, rows),
            opacities: fitting("opacities", opacities, rows),
            coefficients: coefficients.map(|array| (array, per_splat)),
        };
        if sh_degree > MAX_SH_DEGREE {
            warnings.insert(format!(
                "its spherical harmonics above degree {MAX_SH_DEGREE} are left out"
            ));
        }
        self.rows += rows as u64;
        self.are_discs.push(is_disc);
        self.hints(prim, warnings);
        Some(field)
    }

    /// Takes the hints of a prim, and warns of those that are not followed.
    fn hints(&mut self, prim: &Composed<'_, '_>, warnings: &mut BTreeSet<String>) {
        let [default, ..] = SORTING_MODES;
        let sorting = prim.text("sortingModeHint").unwrap_or(default.0);
        let known = SORTING_MODES.into_iter().find(|(name, _)| *name == sorting);
        self.sortings.push(known.unwrap_or_else(|| {
            warnings
                .insert(format!("its sortingModeHint {sorting} is not known, and zDepth is drawn"));
            default
        }));
        let projection = prim.text("projectionModeHint").unwrap_or("perspective");
        if projection != "perspective" {
            warnings.insert(format!(
                "its projectionModeHint {projection} is not supported, and perspective is drawn"
            ));
        }
        let colours = prim.text("colorSpace:name").unwrap_or("srgb_rec709_display");
        if colours != "srgb_rec709_display" {
            warnings.insert(format!(
                "its colour space {colours} is not supported, and its colours are drawn as srgb_rec709_display"
            ));
        }
    }
}
