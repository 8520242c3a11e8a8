//! Splats of a file as raw columns, before activation.
//!
//! Columns have the names and the meaning of a trainer's PLY: logarithms of scales, logits of opacities,
//! spherical harmonics channel-major, axes right, down, forward. Columns of other names are kept.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;

use super::activate::ValueEncoding;
use super::assemble::{PLAIN_SLOTS, RawBlock, RowLayout, assemble};
use super::column_names::{PLAIN, rest_name, sh_degree_of, slot};
use super::encoding::{SceneEncoding, SplatModel};
use super::origin::{Placed, Resolution, SAMPLES};
pub use super::raw_columns::RawColumns;
use super::scene_file::{Dropped, Scene, SceneFormat, profile_of_hint};
use super::splats::{BLOCK, Splats, rest_coefficients};
use quadrille_base::math::narrow;
use quadrille_base::scalar::Scalar;
use quadrille_base::shading::{OpacityFactor, Profile};
use quadrille_base::{Error, Result, Task};

/// Numbers of a column, with the precision of its type in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnValues {
    /// Numbers of a `float` property.
    F32(Vec<f32>),
    /// Numbers of a property of any other type, which f64 holds exactly.
    Other(Scalar, Vec<f64>),
}

/// Column of a table: a named number per splat.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name, as in a PLY file.
    pub name: String,
    /// One value per splat.
    pub values: ColumnValues,
}

/// Splats of a file as raw columns, for [`load_table`](crate::load_table) and [`write_table`](crate::write_table).
#[derive(Debug, Clone, PartialEq)]
pub struct SplatTable {
    rows: usize,
    /// All columns, each with one value per splat.
    pub columns: Vec<Column>,
    /// Comments of the file, in order.
    pub comments: Vec<String>,
    /// Name of the profile that the scene was trained for, if the file says so.
    pub profile_hint: Option<&'static str>,
    /// Format that the file was read as.
    pub format: SceneFormat,
    /// Size of the file in bytes; for a format of several files, their total size.
    pub file_bytes: u64,
    /// Storage format of the splats in the file.
    pub encoding: SceneEncoding,
}

/// Name of the profile of files with this model; `None` for the default profile.
pub(crate) fn profile_of_model(model: Option<SplatModel>) -> Option<&'static str> {
    match model? {
        SplatModel::Plain => None,
        SplatModel::Antialiased => Some("inria-aa"),
        SplatModel::Discs => Some("2dgs"),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableSource {
    pub(crate) format: SceneFormat,
    pub(crate) file_bytes: u64,
    pub(crate) encoding: SceneEncoding,
}

impl ColumnValues {
    /// True if the column has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values, one per row.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::Other(_, values) => values.len(),
        }
    }

    /// Returns the number of row `row`, as it is stored.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::F32(values) => f64::from(values[row]),
            Self::Other(_, values) => values[row],
        }
    }

    /// True if all numbers are equal or, unless `exactly`, round to the same f32.
    fn agree(&self, others: &Self, exactly: bool) -> bool {
        let bits = |v: f64| if exactly { v.to_bits() } else { u64::from(narrow(v).to_bits()) };
        let same = |row: usize| bits(self.get(row)) == bits(others.get(row));
        self.len() == others.len() && (0..self.len()).all(same)
    }

    fn is_fine(&self) -> bool {
        matches!(self, Self::Other(scalar, _) if scalar.is_finer_than_f32())
    }

    fn as_f32(&self) -> Cow<'_, [f32]> {
        match self {
            Self::F32(values) => Cow::Borrowed(values),
            Self::Other(_, values) => Cow::Owned(values.iter().map(|v| narrow(*v)).collect()),
        }
    }
}

impl SplatTable {
    pub(crate) fn of_columns(rows: usize, columns: Vec<Column>, source: TableSource) -> Self {
        let profile_hint = profile_of_model(source.encoding.model);
        Self {
            rows,
            columns,
            comments: Vec::new(),
            profile_hint,
            format: source.format,
            file_bytes: source.file_bytes,
            encoding: source.encoding,
        }
    }

    /// Table with the columns of `raw` in single precision, except that positions far from the origin are doubles.
    pub(crate) fn of_raw(raw: RawColumns, source: TableSource) -> Self {
        let rows = raw.rows();
        let is_rounded = |v: &f64| f64::from(narrow(*v)).total_cmp(v).is_ne();
        let is_far = raw.origin() != [0.0; 3] && raw.mean.iter().flatten().any(is_rounded);
        Self::of_columns(rows, columns_of(raw, |name| is_far && PLAIN[..3].contains(&name)), source)
    }

    /// Number of splats.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of all columns, in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Names of the columns that do not describe splats, such as normals.
    pub(crate) fn other_names(&self) -> impl Iterator<Item = &str> {
        let rest = 3 * rest_coefficients(self.sh_degree());
        self.names().filter(move |name| slot(name, rest).is_none())
    }

    /// Degree of the spherical harmonics, 0 to 4.
    pub fn sh_degree(&self) -> u8 {
        sh_degree_of(self.names()).unwrap_or(0)
    }

    /// Numbers of the column called `name`, as they are stored; `None` without such a column.
    pub fn values(&self, name: &str) -> Option<&ColumnValues> {
        Some(&self.columns.iter().find(|column| column.name == name)?.values)
    }

    /// Numbers of the column called `name`, rounded to f32; `None` without such a column.
    pub fn column(&self, name: &str) -> Option<Cow<'_, [f32]>> {
        self.values(name).map(ColumnValues::as_f32)
    }

    /// Profile that the scene was trained for, or the default profile if the file does not say.
    pub fn profile(&self) -> Profile {
        profile_of_hint(self.profile_hint)
    }

    /// Kind of Gaussians that the scene was trained as; `None` if neither the model nor the profile is known.
    pub(crate) fn model(&self) -> Option<SplatModel> {
        let profile = self.profile();
        let of_profile = self.profile_hint.map(|_| match profile.is_disc {
            true => SplatModel::Discs,
            false => SplatModel::of_flag(profile.opacity_factor != OpacityFactor::None),
        });
        self.encoding.model.or(of_profile)
    }

    /// Resolution of single precision at the centre; `None` without splats or positions.
    fn resolution(&self) -> Option<Resolution> {
        Resolution::of(self.placed(self.rows.div_ceil(SAMPLES).max(1))?)
    }

    /// Every `step`th splat; `None` without positions.
    fn placed(&self, step: usize) -> Option<impl Iterator<Item = Placed>> {
        let centre = ["x", "y", "z"].map(|name| self.values(name));
        let [Some(x), Some(y), Some(z)] = centre else { return None };
        let scales: Vec<&ColumnValues> =
            PLAIN[3..6].iter().filter_map(|name| self.values(name)).collect();
        Some((0..self.rows).step_by(step).map(move |row| {
            let log = scales.iter().map(|column| column.get(row)).fold(f64::NEG_INFINITY, f64::max);
            ([x, y, z].map(|column| column.get(row)), log.exp())
        }))
    }

    /// Warning about positions so far from the origin that even double precision does not resolve the splats.
    pub fn double_rounding(&self) -> Option<String> {
        self.resolution()?.double_warning(self.placed(1)?)
    }

    /// Reference point of [`Self::splats`]: zero, unless positions are doubles that f32 does not resolve.
    pub(crate) fn origin(&self) -> [f64; 3] {
        match self.has_doubles() {
            true => self.resolution().map_or([0.0; 3], |found| found.origin()),
            false => [0.0; 3],
        }
    }

    /// True if positions are in double precision, or in integers that f32 rounds.
    fn has_doubles(&self) -> bool {
        ["x", "y", "z"].into_iter().filter_map(|name| self.values(name)).any(ColumnValues::is_fine)
    }

    pub(crate) fn warn_of_rounding(&mut self) {
        if !self.has_doubles() {
            self.encoding.warnings.extend(self.resolution().and_then(|found| found.warning()));
        }
    }

    /// Replaces all columns, each of which must have `rows` values.
    pub fn replace_columns(&mut self, rows: usize, columns: Vec<Column>) {
        self.rows = rows;
        self.columns = columns;
    }

    /// Rows whose numbers are finite and whose quaternion is not zero. Infinite logits of opacities 0 and 1, and
    /// logarithms of minus infinity of scales of 0, are valid too.
    pub fn finite_rows(&self, task: &Task) -> Result<Vec<u32>> {
        let rest = 3 * rest_coefficients(self.sh_degree());
        let mut valid = vec![true; self.rows];
        let mut squares = vec![0.0_f64; self.rows];
        for column in &self.columns {
            let Some(slot) = slot(&column.name, rest) else { continue };
            task.check()?;
            for (row, value) in column.values.as_f32().iter().enumerate() {
                let is_log_of_0 = (3..6).contains(&slot) && *value == f32::NEG_INFINITY;
                let is_opacity = slot == 10 && !value.is_nan();
                valid[row] &= value.is_finite() || is_opacity || is_log_of_0;
                if (6..10).contains(&slot) {
                    squares[row] += f64::from(*value) * f64::from(*value);
                }
            }
        }
        let rows = (0u32..).zip(valid.iter().zip(squares));
        let kept = rows.filter(|(_, (valid, squares))| **valid && *squares > 0.0);
        Ok(kept.map(|(row, _)| row).collect())
    }

    /// Keeps the rows with the indices `rows`, in that order.
    ///
    /// # Errors
    /// [`Error::Cancelled`], after which the table is inconsistent.
    pub fn select(&mut self, rows: &[u32], task: &Task) -> Result<()> {
        self.columns.par_iter_mut().try_for_each(|column| {
            task.check()?;
            let pick = |row: &u32| *row as usize;
            column.values = match &column.values {
                ColumnValues::F32(v) => {
                    ColumnValues::F32(rows.iter().map(|row| v[pick(row)]).collect())
                }
                ColumnValues::Other(scalar, v) => {
                    ColumnValues::Other(*scalar, rows.iter().map(|row| v[pick(row)]).collect())
                }
            };
            Ok(())
        })?;
        self.rows = rows.len();
        Ok(())
    }

    /// Returns the activated splats, and the counts of invalid rows.
    ///
    /// # Errors
    /// [`Error::Limit`] for too many rows.
    pub fn splats(&self) -> Result<(Splats, Dropped)> {
        self.splats_with(&Task::NEVER)
    }

    /// [`Self::splats`] as a task, whose progress is in rows.
    pub fn splats_with(&self, task: &Task) -> Result<(Splats, Dropped)> {
        let sh_degree = self.sh_degree();
        let rest = 3 * rest_coefficients(sh_degree);
        let slots: Vec<Option<usize>> = self.names().map(|name| slot(name, rest)).collect();
        let origin = self.origin();
        let layout = RowLayout {
            rows: self.rows,
            sh_degree,
            encoding: ValueEncoding::Raw,
            scales: if slots.contains(&Some(5)) { 3 } else { 2 },
            filtered: slots.contains(&Some(PLAIN_SLOTS + rest)),
        };
        let (splats, dropped) = assemble(layout, task, |batch| {
            batch.fill(|rows, mut raw: RawBlock<'_>| {
                for (column, slot) in self.columns.iter().zip(&slots) {
                    let Some(slot) = *slot else { continue };
                    let lanes = raw.slot(slot);
                    let offset = origin.get(slot).copied().unwrap_or(0.0);
                    match &column.values {
                        ColumnValues::F32(values) if offset == 0.0 => {
                            lanes[..rows.len()].copy_from_slice(&values[rows.clone()]);
                        }
                        values => {
                            for (lane, row) in lanes.iter_mut().zip(rows.clone()).take(BLOCK) {
                                *lane = narrow(values.get(row) - offset);
                            }
                        }
                    }
                }
                Ok(())
            })
        })?;
        Ok((splats.with_origin(origin).with_order(self.encoding.order), dropped))
    }

    /// Returns the columns that every splat format has, for encoders. A missing third scale becomes flat, and a 3D
    /// filter is applied. Errors name `path`.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a missing column, or a row with a number that is not finite, and [`Error::Cancelled`].
    pub fn raw(&self, path: &Path, task: &Task) -> Result<RawColumns> {
        let (mut raw, rest) = self.raw_apart(path, task)?;
        raw.sh_rest = rest.into_iter().map(Cow::into_owned).collect();
        Ok(raw)
    }

    /// [`Self::raw`] with the higher coefficients, most of the bytes of a scene, returned separately and borrowed.
    pub(crate) fn raw_apart(
        &self,
        path: &Path,
        task: &Task,
    ) -> Result<(RawColumns, Vec<Cow<'_, [f32]>>)> {
        let rest = 3 * rest_coefficients(self.sh_degree());
        let mut values = vec![Cow::Borrowed(&[][..]); PLAIN_SLOTS + rest + 1];
        let mut mean: [Vec<f64>; 3] = Default::default();
        for column in &self.columns {
            task.check()?;
            match slot(&column.name, rest) {
                Some(axis @ 0..3) => {
                    mean[axis] = (0..self.rows).map(|row| column.values.get(row)).collect();
                }
                Some(slot) => values[slot] = column.values.as_f32(),
                None => {}
            }
        }
        if values[5].is_empty() {
            values[5] = Cow::Owned(vec![f32::MIN_POSITIVE.ln(); self.rows]);
        }
        let filter = values.pop().unwrap_or_default();
        let lengths =
            mean.iter().map(Vec::len).chain(values[3..].iter().map(|values| values.len()));
        if let Some(slot) = lengths.into_iter().position(|len| len != self.rows) {
            let name = PLAIN.get(slot).map_or("f_rest_*", |name| name);
            return Err(Error::malformed(path, "columns", format!("a column \"{name}\""), "none"));
        }
        let sh_rest = values.split_off(PLAIN_SLOTS);
        let mut plain = values.into_iter().skip(3);
        let mut next = || plain.next().unwrap_or_default().into_owned();
        let mut raw = RawColumns {
            mean,
            scale: [next(), next(), next()],
            rotation: [next(), next(), next(), next()],
            opacity: next(),
            sh_constant: [next(), next(), next()],
            sh_rest: Vec::new(),
        };
        raw.clamp_infinite();
        if filter.len() == self.rows {
            raw.apply_filter(&filter, task)?;
        }
        raw.check_finite(&sh_rest, path, task)?;
        Ok((raw, sh_rest))
    }

    /// Replaces the columns that every splat format has. Other columns stay, except the 3D filter, which [`Self::raw`] has
    /// applied. Columns of doubles stay doubles, and columns whose numbers are equal in single precision stay unchanged.
    pub fn set_raw(&mut self, raw: RawColumns) {
        let rest = 3 * rest_coefficients(self.sh_degree());
        let (others, before): (Vec<Column>, Vec<Column>) = std::mem::take(&mut self.columns)
            .into_iter()
            .partition(|column| slot(&column.name, rest).is_none());
        self.rows = raw.rows();
        // A scene that was moved far from the origin needs doubles to keep its positions.
        let is_far = raw.origin() != [0.0; 3];
        self.columns = columns_of(raw, |name| {
            let known = before.iter().find(|column| column.name == name);
            known.is_some_and(|column| column.values.is_fine())
                || is_far && PLAIN[..3].contains(&name)
        });
        for column in before {
            // Only the positions of raw columns are in double precision.
            let exactly = PLAIN[..3].contains(&column.name.as_str());
            let new = self.columns.iter_mut().find(|new| new.name == column.name);
            if let Some(new) = new.filter(|new| new.values.agree(&column.values, exactly)) {
                *new = column;
            }
        }
        let fits = |column: &Column| column.values.len() == self.rows;
        self.columns.extend(others.into_iter().filter(fits));
    }

    /// Activates the splats, and returns them as a scene with the metadata of the table.
    pub fn into_scene(self) -> Result<Scene> {
        self.into_scene_with(&Task::NEVER)
    }

    pub(crate) fn into_scene_with(self, task: &Task) -> Result<Scene> {
        let splats = self.splats_with(task)?;
        Ok(self.with_splats(splats))
    }

    pub(crate) fn with_splats(self, (splats, dropped): (Splats, Dropped)) -> Scene {
        Scene {
            splats,
            dropped,
            profile_hint: self.profile_hint,
            format: self.format,
            comments: self.comments,
            file_bytes: self.file_bytes,
            encoding: self.encoding,
        }
    }
}

/// Columns in the order of the trainer: mean, SH constants, higher coefficients, opacity, scales, rotation. Columns
/// whose names satisfy `is_double` are doubles, the others floats.
fn columns_of(raw: RawColumns, is_double: impl Fn(&str) -> bool) -> Vec<Column> {
    let mut columns = Vec::new();
    let named = |slots: std::ops::Range<usize>| PLAIN[slots].iter().map(|n| (*n).to_owned());
    let RawColumns { mean, scale, rotation, opacity, sh_constant, sh_rest } = raw;
    for (name, values) in named(0..3).zip(mean) {
        let values = match is_double(&name) {
            true => ColumnValues::Other(Scalar::F64, values),
            false => ColumnValues::F32(values.into_iter().map(narrow).collect()),
        };
        columns.push(Column { name, values });
    }
    let mut add = |name: String, values: Vec<f32>| {
        let values = match is_double(&name) {
            true => ColumnValues::Other(Scalar::F64, values.into_iter().map(f64::from).collect()),
            false => ColumnValues::F32(values),
        };
        columns.push(Column { name, values });
    };
    named(11..14).zip(sh_constant).for_each(|(n, v)| add(n, v));
    for (at, values) in sh_rest.into_iter().enumerate() {
        add(rest_name(at), values);
    }
    add("opacity".to_owned(), opacity);
    named(3..6).zip(scale).for_each(|(n, v)| add(n, v));
    named(6..10).zip(rotation).for_each(|(n, v)| add(n, v));
    columns
}
