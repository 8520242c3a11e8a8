//! Lists of views, such as `0,2,5`, `3..9`, `..:8` or names.

use super::camera_file::{LISTED_NAMES, ViewSplit};
use quadrille_base::error::{Error, Result};
use quadrille_base::words::did_you_mean;

/// Names of the views to select from: `names` of this program, and `in_file` as the file has them (may be empty).
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewNames<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) in_file: &'a [String],
    pub(super) split: Option<&'a ViewSplit>,
}

/// Step between test views in the order of names, as in the trainers (`llffhold`).
const TEST_STEP: usize = 8;

impl ViewNames<'_> {
    /// Indices that `list` selects, in its order, without repetitions.
    pub(super) fn selected(&self, list: &str) -> Result<Vec<usize>> {
        // The whole list is tried as one item first, since a name may contain a comma.
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
            return if index < count { Ok(vec![index]) } else { Err(self.no_such_view(item)) };
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

    /// Views for tests or training: as the file states, else by the trainers' rule.
    fn part(&self, is_test: bool) -> Vec<usize> {
        let count = self.names.len();
        if let Some(split) = self.split {
            let part = if is_test { &split.test } else { &split.train };
            let is_in =
                |index: &usize| self.in_file.get(*index).is_some_and(|name| part.contains(name));
            return (0..count).filter(is_in).collect();
        }
        let name = |index: usize| self.in_file.get(index).map_or(self.names[index], String::as_str);
        let mut sorted: Vec<usize> = (0..count).collect();
        sorted.sort_by_key(|index| name(*index));
        let numbered = sorted.into_iter().enumerate();
        let chosen = numbered.filter(|(number, _)| (number % TEST_STEP == 0) == is_test);
        let mut chosen: Vec<usize> = chosen.map(|(_, index)| index).collect();
        chosen.sort_unstable();
        chosen
    }

    /// Index of the view of this name. Folder and extension of a name in the file may be omitted if that is unambiguous.
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
        let similar = match item.contains(char::is_alphabetic) {
            true => did_you_mean(item, self.names.iter().copied()),
            // An index out of range is not misspelt.
            false => String::new(),
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
}

fn plain_path(path: &str) -> String {
    path.replace('\\', "/").trim_start_matches("./").to_owned()
}

/// Parses a whole number without leading zeros: `007` is a name, since photographs are often named so.
fn plain_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}
