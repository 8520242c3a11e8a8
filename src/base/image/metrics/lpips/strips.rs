//! The layers for two pictures, in strips of rows: the large maps of the first layers are never whole in memory.

use std::ops::Range;

use super::convolution::Convolution;
use super::layers::{difference, pool};
use super::maps::{Lanes, Maps, Size};
use super::network::{POOL_STRIDE, pooled, unpooled_rows};
use crate::math::SimdLevel;
use crate::math::buffer::Buffer;

/// Number of pooling layers up to which maps are computed in strips; later maps are small.
const STRIP_POOLS: usize = 2;

/// Picture rows per strip. VGG-16's convolutions reach 6 rows beyond either side, which are computed twice.
const STRIP_ROWS: usize = 128;

pub(super) enum Step {
    Convolution(Convolution),
    Pool { window: usize },
    Compare(Vec<Lanes>),
}

impl Step {
    fn is_pool(&self) -> bool {
        matches!(self, Self::Pool { .. })
    }

    fn size(&self, input: Size) -> Size {
        match self {
            Self::Convolution(convolution) => convolution.shape().size(input),
            Self::Pool { window } => pooled(input, *window),
            Self::Compare(_) => input,
        }
    }

    fn input_rows(&self, output: Range<usize>, height: usize) -> Range<usize> {
        match self {
            Self::Convolution(convolution) => convolution.shape().input_rows(output, height),
            Self::Pool { window } => unpooled_rows(output, *window),
            Self::Compare(_) => output,
        }
    }
}

/// Distance of two pictures. `input` makes the maps of a picture (0 or 1) and a range of rows, in the given memory.
pub(super) fn distance(
    steps: &[Step],
    level: SimdLevel,
    size: Size,
    input: impl Fn(usize, Range<usize>, Buffer<Lanes>) -> Maps,
) -> f64 {
    let pools = steps.iter().enumerate().filter(|(_, step)| step.is_pool());
    let split = pools.map(|(i, _)| i + 1).nth(STRIP_POOLS - 1);
    let (first, rest) = steps.split_at(split.unwrap_or(0));
    let size_behind = first.iter().fold(size, |size, step| step.size(size));
    let all_rows = 0..size_behind.height;
    let mut evaluation = Evaluation::new(level);
    let new_maps = || Maps::in_place_of(Buffer::default(), size_behind, all_rows.clone());
    let mut behind = [new_maps(), new_maps()];
    let strip_rows = (STRIP_ROWS * size_behind.height / size.height).max(1);
    for start in all_rows.clone().step_by(strip_rows) {
        let plan = Plan::new(first, size, start..all_rows.end.min(start + strip_rows));
        let strip = [0, 1].map(|i| input(i, plan.input.clone(), evaluation.memory()));
        let strip = evaluation.apply(first, &plan, strip);
        for (maps, strip) in behind.iter_mut().zip(strip) {
            maps.copy(&strip);
            evaluation.free.push(strip.into_buffer());
        }
    }
    let end = rest.iter().fold(size_behind, |size, step| step.size(size));
    let plan = Plan::new(rest, size_behind, 0..end.height);
    evaluation.free.clear();
    evaluation.apply(rest, &plan, behind);
    evaluation.distance
}

struct Plan {
    input: Range<usize>,
    /// Per layer: output rows, and the rows that no other strip compares.
    layers: Vec<[Range<usize>; 2]>,
}

impl Plan {
    fn new(steps: &[Step], size: Size, rows: Range<usize>) -> Self {
        let sizes = steps.iter().scan(size, |size, step| {
            let input = *size;
            *size = step.size(input);
            Some([input.height, size.height])
        });
        let heights: Vec<[usize; 2]> = sizes.collect();
        let is_last = heights.last().is_none_or(|[_, end]| rows.end == *end);
        let mut plan = Self { input: rows.clone(), layers: Vec::with_capacity(steps.len()) };
        let mut own = rows;
        for (step, [height, _]) in steps.iter().zip(heights).rev() {
            plan.layers.push([plan.input.clone(), own.clone()]);
            plan.input = step.input_rows(plan.input, height);
            if step.is_pool() {
                // The last strip includes the rows that fill no pooling window.
                let end = if is_last { height } else { own.end * POOL_STRIDE };
                own = own.start * POOL_STRIDE..end;
                plan.input.end = plan.input.end.max(end);
            }
        }
        plan.layers.reverse();
        plan
    }
}

struct Evaluation {
    level: SimdLevel,
    distance: f64,
    free: Vec<Buffer<Lanes>>,
}

impl Evaluation {
    fn new(level: SimdLevel) -> Self {
        Self { level, distance: 0.0, free: Vec::new() }
    }

    fn memory(&mut self) -> Buffer<Lanes> {
        self.free.pop().unwrap_or_default()
    }

    fn apply(&mut self, steps: &[Step], plan: &Plan, mut pair: [Maps; 2]) -> [Maps; 2] {
        let level = self.level;
        for (step, [rows, own]) in steps.iter().zip(&plan.layers) {
            match step {
                Step::Convolution(convolution) => self.replace(&mut pair, |maps, memory| {
                    convolution.apply(maps, rows.clone(), memory)
                }),
                Step::Pool { window } => self.replace(&mut pair, |maps, memory| {
                    pool(level, maps, *window, rows.clone(), memory)
                }),
                Step::Compare(weights) => {
                    self.distance += difference(level, &pair, weights, own.clone());
                }
            }
        }
        pair
    }

    fn replace(&mut self, pair: &mut [Maps; 2], layer: impl Fn(&Maps, Buffer<Lanes>) -> Maps) {
        for maps in pair {
            let output = layer(maps, self.memory());
            self.free.push(std::mem::replace(maps, output).into_buffer());
        }
    }
}
