//! Steps of a conversion, in the form that users write.

use super::action::Action;
use super::condition::Condition;
use super::decimate::Amount;
use quadrille_base::error::{Error, Result};
use quadrille_base::parse::{finite, numbers, parsed, positive, whole_number};
use quadrille_scene::SplatAxes;

/// A step of a conversion: a change of the splats, and its text in results and messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Number of the only input that the step applies to, from 0, before inputs are joined; `None` for all of them together.
    pub input: Option<usize>,
    /// The step as the user wrote it.
    pub text: String,
    /// Parsed form of the text.
    pub change: Change,
}

/// A change of the splats: an action on the table, or pruning, which needs views.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// An action on the table alone.
    Action(Action),
    /// Drops splats whose largest weight in any pixel of the views is below this threshold.
    Prune(f32),
}

/// Name, syntax and parser of a kind of [`Change`].
#[derive(Debug, Clone, Copy)]
pub struct ChangeKind {
    /// Name on the command line and in Python.
    pub name: &'static str,
    /// Placeholder of the value in help texts; `None` for a step without a value.
    pub value: Option<&'static str>,
    /// Description for help texts.
    pub help: &'static str,
    /// Parses the value; the error says what was expected.
    pub parse: fn(&str) -> std::result::Result<Change, String>,
}

impl Change {
    /// All kinds of changes that users can request.
    pub const KINDS: [ChangeKind; 14] = KINDS;

    /// Names of the changes that `render` and other commands apply to the scene that they read.
    pub const FILTERS: [&str; 5] = ["keep-box", "keep-sphere", "where", "sh", "splat-scale"];

    /// Parses the change of the kind `name`. `value` must be empty for a kind without a value.
    pub fn parse(name: &str, value: &str) -> Result<Self> {
        let kind = KINDS.into_iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names = KINDS.map(|kind| kind.name);
            Error::unknown_name("action", format!("one of {}", names.join(", ")), name, names)
        })?;
        Error::refuse_if(kind.value.is_none() && !value.is_empty(), name, "no value", value)?;
        (kind.parse)(value).map_err(|message| {
            Error::argument(name, message.strip_prefix("expected ").unwrap_or(&message), value)
        })
    }
}

const KINDS: [ChangeKind; 14] = [
    ChangeKind {
        name: "keep-box",
        value: Some("X,Y,Z,X,Y,Z"),
        help: "Keep splats whose centre is inside a box, from its least to its greatest corner",
        parse: |text| {
            let [x, y, z, u, v, w] = finite_numbers(text, "six numbers such as -1,-1,-1,1,1,1")?;
            if x > u || y > v || z > w {
                return Err("expected the least corner first, then the greatest".into());
            }
            Ok(Change::Action(Action::KeepBox([x, y, z], [u, v, w])))
        },
    },
    ChangeKind {
        name: "keep-sphere",
        value: Some("X,Y,Z,RADIUS"),
        help: "Keep splats whose centre is inside a sphere",
        parse: |text| {
            let [x, y, z, radius] = finite_numbers(text, "four numbers such as 0,0,0,2.5")?;
            if radius < 0.0 {
                return Err("expected a radius of at least 0".into());
            }
            Ok(Change::Action(Action::KeepSphere([x, y, z], radius)))
        },
    },
    ChangeKind {
        name: "where",
        value: Some("CONDITION"),
        help: "Keep splats for which a condition holds, such as 'opacity > 0.1 && scale_max < 2': opacity is \
         0 to 1, scale_min and scale_max are standard deviations, other names are columns of a PLY",
        parse: |text| {
            // The condition may be long: the message quotes the place of the error in it.
            let condition = Condition::parse(text).map_err(|error| match error {
                Error::Argument { expected, found, .. } => {
                    format!("expected {expected} in place of {found}")
                }
                other => other.to_string(),
            })?;
            Ok(Change::Action(Action::Where(condition)))
        },
    },
    ChangeKind {
        name: "sh",
        value: Some("DEGREE"),
        help: "Drop spherical harmonics above a degree, 0 to 4",
        parse: |text| {
            let degree = whole_number(text).ok().filter(|degree| *degree <= 4);
            Ok(Change::Action(Action::LimitSh(degree.ok_or("expected a degree from 0 to 4")?)))
        },
    },
    ChangeKind {
        name: "splat-scale",
        value: Some("FACTOR"),
        help: "Scale all splats around their own centres; a factor such as 0.001 leaves their centres as dots",
        parse: |text| positive(text).map(|factor| Change::Action(Action::ScaleSplats(factor))),
    },
    ChangeKind {
        name: "drop-nan",
        value: None,
        help: "Drop rows with a number that is not finite or a rotation of zero",
        parse: |_| Ok(Change::Action(Action::DropNan)),
    },
    ChangeKind {
        name: "translate",
        value: Some("X,Y,Z"),
        help: "Move all splats",
        parse: |text| {
            finite_numbers(text, "three numbers such as 0,1,0")
                .map(|value| Change::Action(Action::Translate(value)))
        },
    },
    ChangeKind {
        name: "rotate",
        value: Some("X,Y,Z"),
        help: "Rotate all splats around the origin, with their spherical harmonics, by degrees around x, then \
         y, then z",
        parse: |text| {
            finite_numbers(text, "three numbers such as 90,0,0")
                .map(|value| Change::Action(Action::Rotate(value)))
        },
    },
    ChangeKind {
        name: "scale",
        value: Some("FACTOR"),
        help: "Scale all splats around the origin",
        parse: |text| positive(text).map(|value| Change::Action(Action::Scale(value))),
    },
    ChangeKind {
        name: "flip-axes",
        value: Some("AXES"),
        help: "Turn the scene from these axes to right, down, forward: three letters such as RUB (right, up, back) \
         or, with z up, RFU; axes such as RBU mirror it",
        parse: |text| {
            parsed(text, str::parse::<SplatAxes>).map(|value| Change::Action(Action::Axes(value)))
        },
    },
    ChangeKind {
        name: "prune",
        value: Some("WEIGHT"),
        help: "Drop splats whose largest weight (transmittance times alpha) in any pixel of the views stays below \
         this, for example 0.01; the views are the cameras beside the scene, or given by flags",
        parse: |text| {
            let weight = text.parse().ok().filter(|w| (0.0..=1.0).contains(w));
            Ok(Change::Prune(weight.ok_or("expected a weight from 0 to 1, such as 0.01")?))
        },
    },
    ChangeKind {
        name: "drop-floaters",
        value: Some("FACTOR"),
        help: "Drop isolated splats: the distances to the 16 nearest neighbours exceed the distances usual among \
         these neighbours by this factor, for example 3",
        parse: |text| positive(text).map(|factor| Change::Action(Action::DropFloaters(factor))),
    },
    ChangeKind {
        name: "decimate",
        value: Some("N|P%"),
        help: "Merge neighbours of similar colour until N splats, or P percent of them, are left",
        parse: |text| amount(text).map(|amount| Change::Action(Action::Decimate(amount))),
    },
    ChangeKind {
        name: "morton",
        value: None,
        help: "Order splats along a Morton curve, so that neighbours are close in the file",
        parse: |_| Ok(Change::Action(Action::Morton)),
    },
];

fn finite_numbers<const N: usize>(
    text: &str,
    example: &str,
) -> std::result::Result<[f64; N], String> {
    let numbers: Option<[f64; N]> = numbers(text);
    let is_finite = |numbers: &[f64; N]| numbers.iter().all(|n| finite(&n.to_string()).is_ok());
    numbers.filter(is_finite).ok_or_else(|| format!("expected {example}"))
}

fn amount(text: &str) -> std::result::Result<Amount, String> {
    let percent = |text: &str| positive(text).ok().filter(|p| *p <= 100.0);
    let amount = match text.strip_suffix('%') {
        Some(text) => percent(text).map(|percent| Amount::Share(percent / 100.0)),
        None => whole_number(text).ok().filter(|n| *n > 0).map(Amount::Splats),
    };
    amount.ok_or_else(|| "expected a number of splats or a percentage such as 50%".to_owned())
}
