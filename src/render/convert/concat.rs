//! Concatenation of splat tables whose columns and degrees may differ.

use std::path::Path;

use quadrille_base::math::narrow;
use quadrille_base::{Result, Task};
use quadrille_scene::formats::ply::Scalar;
use quadrille_scene::table::{Column, ColumnValues};
use quadrille_scene::{SplatModel, SplatTable};

/// Joins the splats of `tables` in order. Columns that a table lacks are filled with zeros, spherical harmonics above its
/// degree are zero, and a missing third scale is flat. `None` without tables.
///
/// # Errors
/// Errors of the conversion of tables to a common form, and [`Error::Cancelled`](quadrille_base::Error::Cancelled).
pub fn concatenate(tables: Vec<SplatTable>, task: &Task) -> Result<Option<SplatTable>> {
    let names = |table: &SplatTable| -> Vec<String> { table.names().map(str::to_owned).collect() };
    let mut tables = tables;
    let degree = tables.iter().map(SplatTable::sh_degree).max().unwrap_or(0);
    let has_third = |table: &SplatTable| table.column("scale_2").is_some();
    let is_mixed = tables.iter().any(has_third) && !tables.iter().all(has_third);
    for table in &mut tables {
        if table.sh_degree() != degree || is_mixed {
            let mut raw = table.raw(Path::new("<table>"), task)?;
            raw.set_sh_degree(degree);
            table.set_raw(raw);
        }
    }
    let mut all: Vec<String> = Vec::new();
    for table in &tables {
        let new = names(table).into_iter().filter(|name| !all.contains(name));
        let new: Vec<String> = new.collect();
        all.extend(new);
    }
    let joined = |name: String| {
        task.check()?;
        let values = joined_values(&tables, &name);
        Ok(Column { name, values })
    };
    let columns = all.into_iter().map(joined).collect::<Result<_>>()?;
    let rows = tables.iter().map(SplatTable::rows).sum();
    let mut tables = tables.into_iter();
    let Some(mut first) = tables.next() else { return Ok(None) };
    for other in tables {
        first.comments.extend(other.comments);
        first.file_bytes += other.file_bytes;
        first.encoding.order =
            first.encoding.order.filter(|own| other.encoding.order == Some(*own));
        // Comments of all inputs are kept; a model of mixed inputs follows them.
        if first.encoding.model != other.encoding.model {
            first.encoding.model = Some(SplatModel::Plain);
            first.profile_hint = first.profile_hint.filter(|_| !first.profile().is_disc);
        }
    }
    first.replace_columns(rows, columns);
    Ok(Some(first))
}

/// Values of a column over all tables: in the common type, otherwise doubles if f32 would round any, otherwise floats.
fn joined_values(tables: &[SplatTable], name: &str) -> ColumnValues {
    let parts: Vec<_> = tables
        .iter()
        .map(|table| table.columns.iter().find(|column| column.name == name))
        .collect();
    let kind = |column: &Column| match column.values {
        ColumnValues::F32(_) => None,
        ColumnValues::Other(scalar, _) => Some(scalar),
    };
    let kinds: Vec<Option<Scalar>> = parts.iter().flatten().map(|column| kind(column)).collect();
    let is_uniform = kinds.iter().all(|kind| *kind == kinds[0]);
    let is_fine = |kind: &Option<Scalar>| kind.is_some_and(Scalar::is_finer_than_f32);
    let common = match is_uniform {
        true => kinds.first().copied().flatten(),
        false => kinds.iter().any(is_fine).then_some(Scalar::F64),
    };
    let values = tables.iter().zip(&parts).flat_map(|(table, part)| {
        (0..table.rows()).map(move |row| part.map_or(0.0, |column| column.values.get(row)))
    });
    match common {
        Some(scalar) => ColumnValues::Other(scalar, values.collect()),
        None => ColumnValues::F32(values.map(narrow).collect()),
    }
}
