//! Conditions that choose lines: `scene=island,vase`, `method!=baseline`, `tc.bins>=16`.

use std::str::FromStr;

use crate::fields::{Fields, number};
use quadrille_base::error::{Error, Result};

/// Longer signs first, since shorter ones are their prefixes.
const RELATIONS: [(&str, Relation); 6] = [
    ("!=", Relation::NoneOf),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::OneOf),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    OneOf,
    NoneOf,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// A condition on a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    field: String,
    relation: Relation,
    values: Vec<String>,
}

/// Whether a cell has a value: as text, or as the same number.
fn is_equal(cell: &str, value: &str) -> bool {
    let numbers = || number(cell).zip(number(value));
    cell == value || numbers().is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
}

impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || {
            let expected = "FIELD=VALUE or FIELD=VALUE,VALUE; also with !=, <, <=, > and >=";
            Error::argument("condition", expected, text)
        };
        let at = text.find(['=', '!', '<', '>']).ok_or_else(malformed)?;
        let (field, rest) = text.split_at(at);
        let found = RELATIONS
            .into_iter()
            .find_map(|(sign, relation)| Some((relation, rest.strip_prefix(sign)?)));
        let (relation, value) = found.ok_or_else(malformed)?;
        let values: Vec<String> = match relation {
            Relation::OneOf | Relation::NoneOf => {
                value.split(',').map(|one| one.trim().to_owned()).collect()
            }
            _ => vec![value.trim().to_owned()],
        };
        let is_order = !matches!(relation, Relation::OneOf | Relation::NoneOf);
        if is_order && number(&values[0]).is_none() || field.trim().is_empty() {
            return Err(malformed());
        }
        Ok(Self { field: field.trim().to_owned(), relation, values })
    }
}

impl Filter {
    pub(crate) fn field(&self) -> &str {
        &self.field
    }

    pub(crate) fn lines(filters: &[Self], fields: &Fields) -> Result<Vec<usize>> {
        let mut lines: Vec<usize> = (0..fields.len()).collect();
        for filter in filters {
            let column = fields.column(&filter.field)?;
            let mut values: Vec<&str> = Vec::new();
            lines.retain(|line| {
                let cell = fields.cell(*line, column);
                if values.len() < 8 && !values.contains(&cell) {
                    values.push(cell);
                }
                filter.is_met(cell)
            });
            if lines.is_empty() {
                let expected =
                    format!("a condition that some rows meet (values: {})", values.join(", "));
                let found = format!("{} {}", filter.field, filter.values.join(","));
                return Err(Error::argument("where", expected, found));
            }
        }
        Ok(lines)
    }

    fn is_met(&self, cell: &str) -> bool {
        let is_listed = || self.values.iter().any(|value| is_equal(cell, value));
        let order = |is_met: fn(&f64, &f64) -> bool| {
            number(cell).zip(number(&self.values[0])).is_some_and(|(a, b)| is_met(&a, &b))
        };
        match self.relation {
            Relation::OneOf => is_listed(),
            Relation::NoneOf => !is_listed(),
            Relation::AtMost => order(f64::le),
            Relation::AtLeast => order(f64::ge),
            Relation::Below => order(f64::lt),
            Relation::Above => order(f64::gt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_choose_lines() {
        let text = "scene,tc.bins\nisland,8\nvase,16\nroom,32\n";
        let fields = Fields::parse_csv(text.as_bytes(), "a.csv".as_ref()).unwrap();
        let lines = |conditions: &[&str]| {
            let filters = conditions.iter().map(|text| text.parse().unwrap());
            Filter::lines(&filters.collect::<Vec<_>>(), &fields)
        };
        for (conditions, expected) in [
            (&[][..], &[0, 1, 2][..]),
            (&["scene=island,room"], &[0, 2]),
            (&["scene!=island"], &[1, 2]),
            (&["tc.bins=8.0"], &[0]),
            (&["tc.bins>8", "tc.bins<32"], &[1]),
            (&["tc.bins<=16"], &[0, 1]),
            (&["tc.bins >= 16"], &[1, 2]),
        ] {
            assert_eq!(lines(conditions).unwrap(), expected, "{conditions:?}");
        }
        let error = lines(&["scene=boat"]).unwrap_err().to_string();
        assert!(error.contains("island, vase, room"), "{error}");
        assert!(lines(&["scen=island"]).unwrap_err().to_string().contains("scene"));
    }

    #[test]
    fn wrong_conditions_are_refused() {
        for text in ["", "scene", "=island", "tc.bins>x", "a!b"] {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
