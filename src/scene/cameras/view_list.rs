//! Lists of views: `0,2,5`, `3..9`, `..:8`, names.

use super::camera_file::{LISTED_NAMES, ViewSplit};
use quadrille_base::error::{Error, Result};
use quadrille_base::words::edit_distance;

/// Maximum edit distance of a suggested name, as a share of its length.
const SUGGESTED_SHARE: usize = 3;

/// Names of views: those that this program uses and, as far as a file gave some, those in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewNames<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) in_file: &'a [String],
    /// The split that the file states.
    pub(super) split: Option<&'a ViewSplit>,
}

/// Every view of this number in the order of names is for tests, by the rule of the trainers (`llffhold`).
const TEST_STEP: usize = 8;

impl ViewNames<'_> {
    /// The indices that `list` selects, in its order, each once.
    pub(super) fn selected(&self, list: &str) -> Result<Vec<usize>> {
        // A name may contain a comma.
        if let Ok(found) = self.item(list) {
            return Ok(found);
        }
        let mut selected = Vec::new();
        for item in list.split(',') {
            selected.extend(self.item(item.trim())?);
        }
        let mut seen = vec![false; self.names.len()];
        selected.retain(|&index| !std::mem::replace(&mut seen[index], true));
        Ok(selected)
    }

    fn item(&self, item: &str) -> Result<Vec<usize>> {
        let count = self.names.len();
        if item == "all" {
            return Ok((0..count).collect());
        }
        if let Some(index) = plain_index(item).or_else(|| self.named(item)) {
            return match index < count {
                true => Ok(vec![index]),
                false => Err(self.no_such_view(item)),
            };
        }
        if let "test" | "train" = item {
            return Ok(self.part(item == "test"));
        }
        let range = || {
            let (start, rest) = item.split_once("..")?;
            let (end, step) = rest.split_once(':').unwrap_or((rest, "1"));
            let end_of = |text: &str, default| match text {
                "" => Some(default),
                text => plain_index(text),
            };
            let step = plain_index(step).filter(|step| *step > 0)?;
            Some((end_of(start, 0)?, end_of(end, count)?, step))
        };
        match range() {
            Some((start, end, step)) if start < end && end <= count => {
                Ok((start..end).step_by(step).collect())
            }
            _ => Err(self.no_such_view(item)),
        }
    }

    /// The views for tests or for training: as the file states them, else by the rule of the trainers.
    fn part(&self, is_test: bool) -> Vec<usize> {
        let count = self.names.len();
        if let Some(split) = self.split {
            let part = if is_test { &split.test } else { &split.train };
            let is_in = |index: &usize| {
                self.in_file
                    .get(*index)
                    .is_some_and(|name| part.contains(name))
            };
            return (0..count).filter(is_in).collect();
        }
        let name = |index: usize| {
            self.in_file
                .get(index)
                .map_or(self.names[index], String::as_str)
        };
        let mut sorted: Vec<usize> = (0..count).collect();
        sorted.sort_by_key(|index| name(*index));
        let numbered = sorted.into_iter().enumerate();
        let chosen = numbered.filter(|(number, _)| (number % TEST_STEP == 0) == is_test);
        let mut chosen: Vec<usize> = chosen.map(|(_, index)| index).collect();
        chosen.sort_unstable();
        chosen
    }

    /// The view of this name; a name as it stands in the file may lack its folder or its extension where
    /// that is unambiguous.
    fn named(&self, name: &str) -> Option<usize> {
        if let Some(index) = self.names.iter().position(|own| *own == name) {
            return Some(index);
        }
        let wanted = plain_path(name);
        let forms: [fn(&str) -> &str; 4] = [
            |path| path,
            |path| super::names::of_picture(path),
            |path| path.rsplit('/').next().unwrap_or(path),
            super::names::of_last_component,
        ];
        forms.into_iter().find_map(|form| {
            let mut found = (0..self.in_file.len())
                .filter(|&index| form(&plain_path(&self.in_file[index])) == wanted);
            let first = found.next()?;
            found.next().is_none().then_some(first)
        })
    }

    fn no_such_view(&self, item: &str) -> Error {
        let shown = self.names.iter().take(LISTED_NAMES).copied();
        let more = (self.names.len() > LISTED_NAMES).then_some("...");
        let names: Vec<&str> = shown.chain(more).collect();
        let similar = match self.similar(item) {
            Some(name) => format!("; did you mean {name}?"),
            None => String::new(),
        };
        Error::argument(
            "view",
            format!(
                "an index below {0}, a range within 0..{0} (..:8 is every eighth), \"all\", \"test\", \"train\", a name, or several of them separated by commas; names: {1}",
                self.names.len(),
                names.join(", ")
            ),
            format!("\"{item}\"{similar}"),
        )
    }

    /// The name closest to a misspelt one.
    fn similar(&self, item: &str) -> Option<&str> {
        let item = item.to_lowercase();
        let distances = self.names.iter().map(|name| {
            let lower = name.to_lowercase();
            (edit_distance(&item, &lower), lower.chars().count(), *name)
        });
        let (distance, length, name) = distances.min_by_key(|(distance, ..)| *distance)?;
        (distance <= length / SUGGESTED_SHARE).then_some(name)
    }
}

/// A path with slashes and without a leading `./`.
fn plain_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

/// Parses a whole number without leading zeros: `007` is a name, as of photographs.
fn plain_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 10] = [
        "a", "b", "a,b", "007", "x1", "x2", "x3", "x4", "x5", "view_02",
    ];

    fn selected(list: &str) -> Option<Vec<usize>> {
        let in_file = NAMES.map(|name| format!("./images/{name}.jpg"));
        let views = ViewNames {
            names: &NAMES,
            in_file: &in_file,
            split: None,
        };
        views.selected(list).ok()
    }

    #[test]
    fn lists_ranges_steps_and_names() {
        for (list, expected) in [
            ("0,2,5", &[0, 2, 5][..]),
            ("5, 0,5", &[5, 0]),
            ("3..6", &[3, 4, 5]),
            ("..:8", &[0, 8]),
            ("1..9:3", &[1, 4, 7]),
            ("2..:4", &[2, 6]),
            ("a,b", &[2]),
            ("b,a", &[1, 0]),
            ("007", &[3]),
            ("7,..2", &[7, 0, 1]),
            ("images/x2.jpg", &[5]),
            ("./images/x2.jpg", &[5]),
            ("images\\x2.jpg,x3.jpg", &[5, 6]),
            ("images/x2", &[5]),
            ("all", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ] {
            assert_eq!(selected(list).as_deref(), Some(expected), "{list}");
        }
        for list in [
            "10", "3..3", "..:0", "2..1", "0..11", "..x", "", "a,,b", "x9.jpg",
        ] {
            assert_eq!(selected(list), None, "{list}");
        }
    }

    #[test]
    fn test_views_are_every_eighth_by_name_or_the_ones_of_the_file() {
        // Names that sort as 0, 1, 10 to 16, 2 to 9.
        let in_file: Vec<String> = (0..17).rev().map(|i| format!("{i}.jpg")).collect();
        let names: Vec<&str> = in_file.iter().map(String::as_str).collect();
        let of = |split| ViewNames {
            names: &names,
            in_file: &in_file,
            split,
        };
        let named = |list: &str, split| -> Vec<&str> {
            let chosen = of(split).selected(list).unwrap();
            chosen.into_iter().map(|index| names[index]).collect()
        };
        assert_eq!(named("test", None), ["16.jpg", "9.jpg", "0.jpg"]);
        assert_eq!(named("train", None).len(), 14);
        assert_eq!(named("test,3.jpg", None).len(), 4);
        let stated = ViewSplit {
            train: vec!["3.jpg".to_owned()],
            test: vec!["5.jpg".to_owned(), "4.jpg".to_owned()],
        };
        assert_eq!(named("test", Some(&stated)), ["5.jpg", "4.jpg"]);
        assert_eq!(named("train", Some(&stated)), ["3.jpg"]);
        // A view of that name comes first.
        let own = ViewNames {
            names: &["a", "test"],
            in_file: &[],
            split: None,
        };
        assert_eq!(own.selected("test").unwrap(), [1]);
    }

    #[test]
    fn an_ambiguous_file_name_selects_nothing() {
        let in_file = ["cam0/1.png", "cam1/1.png"].map(str::to_owned);
        let views = ViewNames {
            names: &["1_a", "1_b"],
            in_file: &in_file,
            split: None,
        };
        assert!(views.selected("1.png").is_err());
        assert_eq!(views.selected("cam1/1.png").unwrap(), [1]);
    }

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        let views = ViewNames {
            names: &NAMES,
            in_file: &[],
            split: None,
        };
        for misspelt in ["vew_02", "VIEW_02", "view02"] {
            let message = views.selected(misspelt).unwrap_err().to_string();
            assert!(message.ends_with("did you mean view_02?"), "{message}");
        }
        let message = views.selected("nothing").unwrap_err().to_string();
        assert!(!message.contains("did you mean"), "{message}");
    }
}
