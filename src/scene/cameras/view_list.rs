//! Lists of views, such as `0,2,5`, `3..9`, `..:8` or names.

use super::camera_file::{LISTED_NAMES, ViewSplit};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::whole;
use quadrille_base::words::did_you_mean;

/// Names of the views to select from: `names` of this program, and `in_file` as the file has them (may be empty).
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewNames<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) in_file: &'a [String],
    pub(super) split: SplitSource<'a>,
}

/// What decides which views are for tests.
#[derive(Debug, Clone, Copy)]
pub(super) enum SplitSource<'a> {
    /// Nothing: the views come from no file.
    None,
    /// The file, or else the names of its views.
    File {
        stated: Option<&'a ViewSplit>,
        /// Lists that only nerfstudio reads.
        nerfstudio: Option<&'a ViewSplit>,
        image_ids: &'a [u32],
    },
}

/// Step between test views in the order of names: `llffhold` of the 3DGS trainer, `test_every` of gsplat, `eval_interval`
/// of nerfstudio.
const TEST_STEP: usize = 8;

/// Share of the views that nerfstudio trains on (`train_split_fraction`).
const TRAIN_FRACTION: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewPart {
    Train,
    Val,
    Test,
}

/// Rule of a split, written behind the part: `test:RULE`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SplitRule {
    /// As the file states, else [`Self::Every`] with [`TEST_STEP`].
    Default,
    /// As the file or its `test.txt` states.
    Listed,
    /// As nerfstudio: as the file or its own lists state, else [`Self::EveryId`] for a COLMAP model and [`Self::Fraction`]
    /// for others.
    Nerfstudio,
    /// Every Nth view by the identifier of its image in a COLMAP model is for tests.
    EveryId(usize),
    /// Every Nth view by name is for tests.
    Every(usize),
    /// This share of the views is for training, at equal distances by name, the first and the last among them.
    Fraction(f64),
}

fn part_and_rule(item: &str) -> Option<(ViewPart, SplitRule)> {
    let (part, rule) = match item.split_once(':') {
        Some((part, rule)) => (part, Some(rule)),
        None => (item, None),
    };
    let part = match part {
        "train" => ViewPart::Train,
        "val" => ViewPart::Val,
        "test" => ViewPart::Test,
        _ => return None,
    };
    let rule = match rule {
        None => SplitRule::Default,
        Some("list") => SplitRule::Listed,
        Some("nerfstudio") => SplitRule::Nerfstudio,
        Some("inria" | "gsplat") => SplitRule::Every(TEST_STEP),
        Some(number) => match plain_index(number) {
            Some(step) => SplitRule::Every(Some(step).filter(|step| *step > 1)?),
            None => {
                let share = number.parse().ok().filter(|share| *share > 0.0 && *share < 1.0)?;
                SplitRule::Fraction(share)
            }
        },
    };
    Some((part, rule))
}

/// True if a list selects from several views: by `all`, a part of a split, or a range with an end or a step.
pub(super) fn is_of_several(list: &str) -> bool {
    let is_range = |item: &str| item.contains("..") && item != "..";
    list.split(',')
        .map(str::trim)
        .any(|item| item == "all" || is_range(item) || part_and_rule(item).is_some())
}

impl ViewNames<'_> {
    /// Indices that `list` selects, in its order, without repetitions; at least one.
    pub(super) fn selected(&self, list: &str) -> Result<Vec<usize>> {
        // The whole list is tried as one item first, since a name may contain a comma.
        let mut selected = match self.item(list) {
            Ok(found) => found,
            Err(_) => {
                let items = list.split(',').map(|item| self.item(item.trim()));
                items.collect::<Result<Vec<_>>>()?.concat()
            }
        };
        let mut seen = vec![false; self.names.len()];
        selected.retain(|&index| !std::mem::replace(&mut seen[index], true));
        if selected.is_empty() {
            let expected = format!("a selection of at least one of {} views", self.names.len());
            let found = format!("\"{list}\", which selects none");
            return Err(Error::argument("view", expected, found));
        }
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
        if let Some((part, rule)) = part_and_rule(item) {
            return self.part(part, rule, item);
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

    /// The rule of `item` if it is a part of a split that follows from the names of the views.
    fn rule_by_name(&self, rule: SplitRule) -> Option<SplitRule> {
        let SplitSource::File { stated, nerfstudio, image_ids } = self.split else { return None };
        let is_stated = stated.is_some_and(|split| !split.is_optional);
        match rule {
            SplitRule::Default | SplitRule::Nerfstudio if is_stated => None,
            SplitRule::Listed => None,
            SplitRule::Nerfstudio if nerfstudio.is_some() => None,
            SplitRule::Nerfstudio if image_ids.is_empty() => {
                Some(SplitRule::Fraction(TRAIN_FRACTION))
            }
            SplitRule::Nerfstudio => Some(SplitRule::EveryId(TEST_STEP)),
            SplitRule::Default => Some(SplitRule::Every(TEST_STEP)),
            by_name => Some(by_name),
        }
    }

    /// True if an item of `list` is a part of a split that follows from the names of the views.
    pub(super) fn is_split_by_name(&self, list: &str) -> bool {
        let items = list.split(',').map(str::trim);
        let mut parts = items.filter(|item| self.named(item).is_none()).filter_map(part_and_rule);
        parts.any(|(_, rule)| self.rule_by_name(rule).is_some())
    }

    /// Views of a part: as the file states, or by the names of the views.
    fn part(&self, part: ViewPart, rule: SplitRule, item: &str) -> Result<Vec<usize>> {
        let SplitSource::File { stated, nerfstudio, image_ids } = self.split else {
            let expected = "views of a camera file, since only data sets are split";
            return Err(Error::argument("view", expected, format!("\"{item}\"")));
        };
        let Some(by_name) = self.rule_by_name(rule) else {
            let nerfstudio = nerfstudio.filter(|_| rule == SplitRule::Nerfstudio);
            let Some(split) = nerfstudio.or(stated) else {
                let expected = "a part of a split that the camera file states (test:8 takes every eighth view)";
                return Err(Error::argument(
                    "view",
                    expected,
                    format!("\"{item}\", and it states none"),
                ));
            };
            return Ok(match part {
                ViewPart::Train => &split.train,
                ViewPart::Val => &split.val,
                ViewPart::Test => &split.test,
            }
            .clone());
        };
        // nerfstudio validates and tests on the same views; the other trainers have no views for validation.
        if part == ViewPart::Val && rule != SplitRule::Nerfstudio {
            let expected = "train or test, since the camera file states no views for validation";
            return Err(Error::argument("view", expected, format!("\"{item}\"")));
        }
        let count = self.names.len();
        let name = |index: usize| self.in_file.get(index).map_or(self.names[index], String::as_str);
        let mut sorted: Vec<usize> = (0..count).collect();
        // nerfstudio compares paths part by part, the others compare texts.
        match by_name {
            SplitRule::Fraction(_) => sorted.sort_by_cached_key(|index| {
                plain_path(name(*index)).split('/').map(str::to_owned).collect::<Vec<_>>()
            }),
            SplitRule::EveryId(_) => sorted.sort_by_key(|index| image_ids.get(*index)),
            _ => sorted.sort_by_key(|index| name(*index)),
        }
        let is_train: Vec<bool> = match by_name {
            SplitRule::Fraction(share) => at_equal_distances(count, share),
            SplitRule::Every(step) | SplitRule::EveryId(step) => {
                (0..count).map(|number| number % step != 0).collect()
            }
            _ => vec![true; count],
        };
        let numbered = sorted.into_iter().zip(is_train);
        let chosen = numbered.filter(|(_, is_train)| *is_train == (part == ViewPart::Train));
        let mut chosen: Vec<usize> = chosen.map(|(index, _)| index).collect();
        chosen.sort_unstable();
        Ok(chosen)
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
                "an index below {0}, a range within 0..{0} (..:8 is every eighth), \"all\", \"test\", \"train\", \"test:nerfstudio\", a name, or several of them separated by commas; names: {1}",
                self.names.len(),
                names.join(", ")
            ),
            format!("\"{item}\"{similar}"),
        )
    }
}

/// Marks the share of `count` views at equal distances, rounded up, as `numpy.linspace` with whole numbers does.
fn at_equal_distances(count: usize, share: f64) -> Vec<bool> {
    let chosen = whole::<usize>((count as f64 * share).ceil()).min(count);
    let step = count.saturating_sub(1) as f64 / chosen.saturating_sub(1).max(1) as f64;
    let mut is_chosen = vec![false; count];
    for number in 0..chosen {
        // The last one is the end itself, as rounding could miss it.
        let is_last = chosen > 1 && number + 1 == chosen;
        let index = if is_last { count - 1 } else { whole((number as f64 * step).floor()) };
        is_chosen[index] = true;
    }
    is_chosen
}

pub(super) fn plain_path(path: &str) -> String {
    path.replace('\\', "/").trim_start_matches("./").to_owned()
}

/// Parses a whole number without leading zeros: `007` is a name, since photographs are often named so.
fn plain_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}
