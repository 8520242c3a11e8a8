//! Writing of streamed SOG: levels of detail in a tree over SOGs.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

use super::write::sog_files;
use super::{FILES, LOD_META};
use crate::morton::improved_order;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::{Result, Task};

pub(in crate::formats) struct Sizes {
    /// Maximum splats per leaf at the finest level, unless they all share one position.
    leaf: usize,
    /// Maximum splats per file, unless a leaf has more.
    file: usize,
}

/// Sizes that are written (assumed). Viewers switch levels per leaf; other writers use files of the same size.
pub(in crate::formats) const SIZES: Sizes = Sizes { leaf: 1 << 15, file: 512 << 10 };
/// Radius of a splat in units of its largest standard deviation, for bounds of leaves (assumed: 99.7 % of a Gaussian).
const REACH: f64 = 3.0;

/// Names and contents of files. The description is the last one.
type Files = Vec<(String, Vec<u8>)>;

/// Files of a streamed SOG from tables, finest level first.
pub(in crate::formats) fn write_streamed_files(
    levels: &[&SplatTable],
    sizes: &Sizes,
    path: &Path,
    task: &Task,
) -> Result<Files> {
    let raw = levels.iter().map(|table| table.raw(path, task));
    let mut raw: Vec<RawColumns> = raw.collect::<Result<_>>()?;
    let Some(finest) = raw.first() else { return Ok(Files::new()) };
    let tree = Node::over(finest, sizes.leaf, task)?;
    let mut ranges = Vec::new();
    for level in &mut raw {
        ranges.push(order_by_leaf(level, &tree, task)?);
    }
    let steps = task.steps(ranges.iter().map(|level| level.len() as u64).sum());
    let (mut files, mut names, mut placed) = (Files::new(), Vec::new(), Vec::new());
    for (number, (level, leaves)) in raw.iter().zip(&ranges).enumerate() {
        let mut rest = leaves.as_slice();
        let mut places = Vec::new();
        while let Some(first) = rest.first() {
            let fits = |leaf: &&Range<usize>| leaf.end - first.start <= sizes.file;
            let (inside, after) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            rest = after;
            let rows = first.start..inside.last().map_or(first.end, |leaf| leaf.end);
            let place = |leaf: &Range<usize>| (names.len(), leaf.start - rows.start, leaf.len());
            places.extend(inside.iter().map(place));
            let mut part = RawColumns::zeroed(0, level.sh_degree());
            part.append(level, rows);
            let folder = format!("{number}_{}", names.len());
            for (name, bytes) in sog_files(&part, levels[number].model(), path, task)? {
                files.push((format!("{folder}/{name}"), bytes));
            }
            names.push(format!("{folder}/{}", super::META));
            steps.advance(inside.len() as u64)?;
        }
        placed.push(places);
    }
    let leaf = |leaf: usize| {
        let reached =
            raw.iter().zip(&ranges).map(|(raw, ranges)| bounds(raw, ranges[leaf].clone()));
        // A scene without splats has an empty leaf.
        let [least, greatest] = reached.flatten().reduce(joined).unwrap_or_default();
        let place = |(level, places): (usize, &Vec<(usize, usize, usize)>)| {
            let (file, offset, count) = places[leaf];
            (level.to_string(), json!({"file": file, "offset": offset, "count": count}))
        };
        let lods: serde_json::Map<_, _> = placed.iter().enumerate().map(place).collect();
        (json!({"lods": lods}), [least, greatest])
    };
    let description = json!({
        "version": 1,
        "lodLevels": levels.len(),
        "counts": raw.iter().map(RawColumns::rows).collect::<Vec<_>>(),
        "filenames": names,
        "tree": tree.description(&leaf).0,
    });
    files.push((LOD_META.to_owned(), Value::to_string(&description).into_bytes()));
    Ok(files)
}

pub(in crate::formats) fn streamed_order(raw: &RawColumns, task: &Task) -> Result<Vec<u32>> {
    Ok(leaves_of(raw, &Node::over(raw, SIZES.leaf, task)?, task)?.concat())
}

/// True if the file `name` may be part of a streamed SOG, which a new one replaces. Names of folders end with a slash.
pub(in crate::formats) fn is_streamed_part(name: &str) -> bool {
    let Some((folder, file)) = name.split_once('/') else { return name == LOD_META };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_folder = folder.split('_').count() == 2 && folder.split('_').all(is_number);
    is_folder && (file.is_empty() || FILES.contains(&file))
}

type Bounds = [[f64; 3]; 2];

/// Node of a tree over space: a leaf with its number, or two halves.
enum Node {
    Leaf(usize),
    Split { axis: usize, at: f64, halves: Box<[Node; 2]> },
}

impl Node {
    /// Halves the rows of `raw` at the median of their longest axis, down to leaves of `most` rows or of equal positions.
    fn over(raw: &RawColumns, most: usize, task: &Task) -> Result<Self> {
        Self::numbered(raw, (0..).take(raw.rows()).collect(), most, &mut 0, task)
    }

    /// [`Self::over`] for the given rows; `leaves` counts the leaves so far.
    fn numbered(
        raw: &RawColumns,
        mut rows: Vec<u32>,
        most: usize,
        leaves: &mut usize,
        task: &Task,
    ) -> Result<Self> {
        task.check()?;
        let split = if rows.len() > most { median(raw, &mut rows) } else { None };
        let Some((axis, at)) = split else {
            *leaves += 1;
            return Ok(Self::Leaf(*leaves - 1));
        };
        let is_below = |row: &u32| raw.mean[axis][*row as usize] < at;
        let (below, above) = rows.into_iter().partition(is_below);
        let halves = [
            Self::numbered(raw, below, most, leaves, task)?,
            Self::numbered(raw, above, most, leaves, task)?,
        ];
        Ok(Self::Split { axis, at, halves: Box::new(halves) })
    }

    fn leaves(&self) -> usize {
        match self {
            Self::Leaf(_) => 1,
            Self::Split { halves, .. } => halves.iter().map(Self::leaves).sum(),
        }
    }

    fn leaf_of(&self, position: [f64; 3]) -> usize {
        match self {
            Self::Leaf(number) => *number,
            Self::Split { axis, at, halves } => {
                halves[usize::from(position[*axis] >= *at)].leaf_of(position)
            }
        }
    }

    fn description(&self, leaf: &impl Fn(usize) -> (Value, Bounds)) -> (Value, Bounds) {
        let (mut node, bounds) = match self {
            Self::Leaf(number) => leaf(*number),
            Self::Split { halves, .. } => {
                let [(first, a), (second, b)] =
                    halves.each_ref().map(|half| half.description(leaf));
                (json!({"children": [first, second]}), joined(a, b))
            }
        };
        node["bound"] = json!({"min": bounds[0], "max": bounds[1]});
        (node, bounds)
    }
}

/// Longest axis of the positions of `rows`, and a coordinate that halves them; `None` if all are equal.
fn median(raw: &RawColumns, rows: &mut [u32]) -> Option<(usize, f64)> {
    let extent = |column: &Vec<f64>| {
        let values = rows.iter().map(|row| column[*row as usize]);
        let fold = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), fold)
    };
    let extents = raw.mean.each_ref().map(extent);
    let length = |axis: &usize| extents[*axis].1 - extents[*axis].0;
    let axis = (0..3).max_by(|a, b| length(a).total_cmp(&length(b)))?;
    let column = &raw.mean[axis];
    let middle = rows.len() / 2;
    let by_place = |a: &u32, b: &u32| column[*a as usize].total_cmp(&column[*b as usize]);
    let (_, median, above) = rows.select_nth_unstable_by(middle, by_place);
    let (least, at) = (extents[axis].0, column[*median as usize]);
    if at > least {
        return Some((axis, at));
    }
    // More than half of the splats lie at the least coordinate, so the split is at the next coordinate.
    let next = above.iter().map(|row| column[*row as usize]).filter(|v| *v > least);
    next.reduce(f64::min).map(|at| (axis, at))
}

/// Rows of each leaf, ordered so that neighbours are close in space.
fn leaves_of(raw: &RawColumns, tree: &Node, task: &Task) -> Result<Vec<Vec<u32>>> {
    let mut leaves = vec![Vec::new(); tree.leaves()];
    for row in improved_order(raw, task)?.unwrap_or_else(|| (0..).take(raw.rows()).collect()) {
        leaves[tree.leaf_of(raw.mean.each_ref().map(|column| column[row as usize]))].push(row);
    }
    Ok(leaves)
}

fn order_by_leaf(raw: &mut RawColumns, tree: &Node, task: &Task) -> Result<Vec<Range<usize>>> {
    let leaves = leaves_of(raw, tree, task)?;
    raw.select(&leaves.concat(), task)?;
    let mut start = 0;
    let range = |leaf: &Vec<u32>| {
        start += leaf.len();
        start - leaf.len()..start
    };
    Ok(leaves.iter().map(range).collect())
}

/// Box around splats including their radii; `None` without splats.
fn bounds(raw: &RawColumns, rows: Range<usize>) -> Option<Bounds> {
    let boxes = rows.map(|row| {
        let largest = raw.scale.iter().map(|column| f64::from(column[row]));
        let deviation = largest.fold(f64::NEG_INFINITY, f64::max).exp();
        // JSON has no infinity.
        let reach = REACH * deviation.min(f64::from(f32::MAX));
        let centre = raw.mean.each_ref().map(|column| column[row]);
        [centre.map(|v| v - reach), centre.map(|v| v + reach)]
    });
    boxes.reduce(joined)
}

fn joined([low, high]: Bounds, [other_low, other_high]: Bounds) -> Bounds {
    let axes = [0, 1, 2];
    [
        axes.map(|axis| low[axis].min(other_low[axis])),
        axes.map(|axis| high[axis].max(other_high[axis])),
    ]
}

#[cfg(test)]
#[path = "tests/lod_write.rs"]
mod tests;
