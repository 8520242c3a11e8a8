//! Elements of drawings: texts and shapes with their places.

use crate::labels::{Anchor, Size};
use crate::style::Style;

/// Regular polygon: number of corners (0 for a circle), and direction of the first in degrees clockwise from the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    corners: u32,
    first_degrees: f64,
    /// Distance of the corners over the radius, so that all shapes look equally large.
    reach: f64,
}

/// Shapes of dots by series: circle, square, triangle, diamond, triangle on its tip, pentagon.
const SHAPES: [Shape; 6] = [
    Shape::polygon(0, 0.0, 1.0),
    Shape::polygon(4, 45.0, 1.25),
    Shape::polygon(3, -90.0, 1.4),
    Shape::polygon(4, 0.0, 1.35),
    Shape::polygon(3, 90.0, 1.4),
    Shape::polygon(5, -90.0, 1.2),
];

impl Shape {
    const fn polygon(corners: u32, first_degrees: f64, reach: f64) -> Self {
        Self { corners, first_degrees, reach }
    }

    pub(crate) fn of(series: usize) -> Self {
        SHAPES[series % SHAPES.len()]
    }

    pub(crate) fn corners(self, [x, y]: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
        let corners = (0..self.corners).map(|n| {
            let turn = 360.0 * f64::from(n) / f64::from(self.corners);
            let (sin, cos) = (self.first_degrees + turn).to_radians().sin_cos();
            [x + radius * self.reach * cos, y + radius * self.reach * sin]
        });
        corners.collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Element {
    Text {
        at: [f64; 2],
        /// Degrees clockwise about the point.
        angle: f64,
        anchor: Anchor,
        size: Size,
        text: String,
    },
    Rect {
        at: [f64; 2],
        size: [f64; 2],
        style: Style,
        title: String,
    },
    Shade {
        at: [f64; 2],
        size: [f64; 2],
        style: Style,
    },
    Dot {
        at: [f64; 2],
        radius: f64,
        shape: Shape,
        style: Style,
        title: String,
    },
    Line {
        from: [f64; 2],
        to: [f64; 2],
        style: Style,
    },
    Polyline {
        points: Vec<[f64; 2]>,
        style: Style,
    },
}
