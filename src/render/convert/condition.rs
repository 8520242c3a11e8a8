//! Conditions on the attributes of a splat, such as `opacity > 0.1 && scale_max < 2`.

use quadrille_base::error::{Error, Result};
use quadrille_scene::SplatTable;
use quadrille_scene::table::ColumnValues;

/// Prefixes of attributes that affect drawing, other than position.
const DRAWN: [&str; 5] = ["opacity", "scale_", "rot_", "f_dc_", "f_rest_"];

const MAX_DEPTH: usize = 32;

/// A condition on the attributes of a splat.
///
/// Comparisons (`<`, `<=`, `>`, `>=`, `==`, `!=`) of numbers and names are joined by `&&`, `||` and `!`, with parentheses.
/// `opacity` is from 0 to 1; `scale_min` and `scale_max` are the smallest and the largest standard deviation; every other
/// name is a column in its stored form (`x`, `f_dc_0`, or `scale_0`, a logarithm).
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Number(f64),
    Name(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::LessEqual),
    (">=", Comparison::GreaterEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Condition {
    /// Parses the text of a condition, with at most 32 nested parentheses.
    ///
    /// # Errors
    /// [`Error::Argument`] that quotes the text before the first error, and from there on.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, rest: text };
        let node = parser.either(0)?;
        parser.skip_blanks();
        match parser.rest {
            "" => Ok(Self(node)),
            _ => Err(parser.wrong("&&, || or the end")),
        }
    }

    pub(super) fn is_crop(&self) -> bool {
        self.0.is_crop()
    }

    /// Rows of `table` for which the condition holds. Comparisons with NaN are false, except `!=`.
    ///
    /// # Errors
    /// [`Error::Argument`] for a name that is not a column of the table; it lists the columns.
    pub fn rows(&self, table: &SplatTable) -> Result<Vec<u32>> {
        let holds = self.0.holds(table)?;
        Ok((0u32..).zip(holds).filter(|(_, holds)| *holds).map(|(row, _)| row).collect())
    }
}

impl Node {
    fn is_crop(&self) -> bool {
        match self {
            Self::And(a, b) | Self::Or(a, b) => a.is_crop() && b.is_crop(),
            Self::Not(a) => a.is_crop(),
            Self::Compare(a, _, b) => !a.is_drawn() && !b.is_drawn(),
        }
    }

    fn holds(&self, table: &SplatTable) -> Result<Vec<bool>> {
        let joined = |a: &Self, b: &Self, join: fn(bool, bool) -> bool| -> Result<Vec<bool>> {
            Ok(a.holds(table)?.into_iter().zip(b.holds(table)?).map(|(a, b)| join(a, b)).collect())
        };
        match self {
            Self::And(a, b) => joined(a, b, |a, b| a && b),
            Self::Or(a, b) => joined(a, b, |a, b| a || b),
            Self::Not(a) => Ok(a.holds(table)?.into_iter().map(|a| !a).collect()),
            Self::Compare(a, comparison, b) => {
                let (a, b) = (a.values(table)?, b.values(table)?);
                let compare = |row: usize| comparison.holds(a.at(row), b.at(row));
                Ok((0..table.rows()).map(compare).collect())
            }
        }
    }
}

impl Comparison {
    #[allow(clippy::float_cmp, reason = "the user asks for equality")]
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::LessEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterEqual => a >= b,
            Self::Equal => a == b,
            Self::NotEqual => a != b,
        }
    }
}

enum OperandValues<'t> {
    One(f64),
    Column(&'t ColumnValues),
    Derived(Vec<f64>),
}

impl OperandValues<'_> {
    fn at(&self, row: usize) -> f64 {
        match self {
            Self::One(value) => *value,
            Self::Column(values) => values.get(row),
            Self::Derived(values) => values[row],
        }
    }
}

impl Operand {
    fn is_drawn(&self) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Name(name) => DRAWN.iter().any(|prefix| name.starts_with(prefix)),
        }
    }

    fn values<'t>(&self, table: &'t SplatTable) -> Result<OperandValues<'t>> {
        let name = match self {
            Self::Number(value) => return Ok(OperandValues::One(*value)),
            Self::Name(name) => name.as_str(),
        };
        let unknown = || {
            let names: Vec<&str> = table.names().filter(|n| !n.starts_with("f_rest_")).collect();
            let expected = format!("scale_min, scale_max or a column ({})", names.join(", "));
            let names = names.into_iter().chain(["scale_min", "scale_max"]);
            Error::unknown_name("condition", expected, name, names)
        };
        let column = |name: &str| table.values(name).ok_or_else(unknown);
        let extreme = |pick: fn(f64, f64) -> f64| -> Result<OperandValues<'t>> {
            let logs = column("scale_0")?;
            let mut values: Vec<f64> = (0..table.rows()).map(|row| logs.get(row)).collect();
            for name in ["scale_1", "scale_2"] {
                let Some(axis) = table.values(name) else { continue };
                for (row, value) in values.iter_mut().enumerate() {
                    *value = pick(*value, axis.get(row));
                }
            }
            Ok(OperandValues::Derived(values.into_iter().map(f64::exp).collect()))
        };
        match name {
            "opacity" => {
                let logits = column(name)?;
                let sigmoid = |row| quadrille_scene::activation::sigmoid(logits.get(row));
                Ok(OperandValues::Derived((0..table.rows()).map(sigmoid).collect()))
            }
            "scale_max" => extreme(f64::max),
            "scale_min" => extreme(f64::min),
            _ => Ok(OperandValues::Column(column(name)?)),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn wrong(&self, expected: &str) -> Error {
        let before = self.text[..self.text.len() - self.rest.len()].trim_end();
        let behind = match before {
            "" => String::new(),
            before => format!(" behind \"{before}\""),
        };
        let found = match self.rest {
            "" => format!("the end{behind}"),
            rest => format!("\"{rest}\"{behind}"),
        };
        Error::argument("condition", expected, found)
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn either(&mut self, depth: usize) -> Result<Node> {
        let mut node = self.both(depth)?;
        while self.take("||") {
            node = Node::Or(Box::new(node), Box::new(self.both(depth)?));
        }
        Ok(node)
    }

    fn both(&mut self, depth: usize) -> Result<Node> {
        let mut node = self.single(depth)?;
        while self.take("&&") {
            node = Node::And(Box::new(node), Box::new(self.single(depth)?));
        }
        Ok(node)
    }

    fn single(&mut self, depth: usize) -> Result<Node> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("at most 32 nested parentheses"));
        }
        if self.take("!") {
            return Ok(Node::Not(Box::new(self.single(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.either(depth + 1)?;
            return if self.take(")") { Ok(inner) } else { Err(self.wrong("\")\"")) };
        }
        let left = self.operand()?;
        let Some((_, comparison)) = COMPARISONS.iter().find(|(sign, _)| self.take(sign)) else {
            return Err(self.wrong("a comparison: <, <=, >, >=, == or !="));
        };
        Ok(Node::Compare(left, *comparison, self.operand()?))
    }

    fn operand(&mut self) -> Result<Operand> {
        self.skip_blanks();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let sign = usize::from(self.rest.starts_with(['-', '+']));
        let mut end =
            sign + self.rest[sign..].find(|c| !is_part(c)).unwrap_or(self.rest.len() - sign);
        // The sign of an exponent belongs to the number.
        let head = &self.rest[..end];
        let is_number = head
            .trim_start_matches(['-', '+'])
            .starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if is_number && head.ends_with(['e', 'E']) && self.rest[end..].starts_with(['-', '+']) {
            let digits = &self.rest[end + 1..];
            end += 1 + digits.find(|c| !is_part(c)).unwrap_or(digits.len());
        }
        let (word, rest) = self.rest.split_at(end);
        let operand = match word.parse() {
            Ok(number) if is_number => Operand::Number(number),
            _ if is_number || sign > 0 || word.is_empty() => {
                return Err(self.wrong("a number or the name of a column"));
            }
            _ => Operand::Name(word.to_owned()),
        };
        self.rest = rest;
        Ok(operand)
    }
}

#[cfg(test)]
#[path = "tests/condition.rs"]
mod tests;
