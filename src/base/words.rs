//! Edit distances, and proposals for misspelt names.

/// Number of insertions, deletions, substitutions and swaps of neighbours between two words; no part is edited twice.
pub use strsim::osa_distance as edit_distance;

/// Letters of a word per tolerated edit.
const LETTERS_PER_EDIT: usize = 3;
/// Length of the shortest word that matches as the start or end of another one.
const LEAST_PART: usize = 4;

/// The name that a misspelt `word` most likely stands for: the nearest name within a few edits, or one that extends or
/// shortens the word at one end. Case is ignored; ties go to the first name.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.trim().to_lowercase();
    let near = names.into_iter().filter_map(|name| {
        let lower = name.to_lowercase();
        let distance = edit_distance(&word, &lower);
        // At most half of the letters may differ, so that short words need a part in common.
        let longest = word.chars().count().max(lower.chars().count());
        let is_edited = distance <= most_edits(&word) && 2 * distance <= longest;
        let is_near = is_edited || is_part(&word, &lower);
        is_near.then_some((distance, name))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The end of a message about a misspelt `word`, `"; did you mean NAME?"`; empty if no name is near.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let name = nearest(word, names);
    name.map_or(String::new(), |name| format!("; did you mean {name}?"))
}

/// As [`did_you_mean`], for a parser's message that has the unknown word and then the valid ones between backquotes:
/// ``unknown field `widht`, expected `width` or `height` ``.
pub fn did_you_mean_one_of(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let word = words.next().filter(|_| message.starts_with("unknown "));
    word.map_or(String::new(), |word| did_you_mean(word, words))
}

fn most_edits(word: &str) -> usize {
    (word.chars().count() / LETTERS_PER_EDIT).max(1)
}

/// Whether one word is the beginning or the end of the other one.
fn is_part(word: &str, other: &str) -> bool {
    let is_in = |short: &str, long: &str| {
        short.len() >= LEAST_PART && (long.starts_with(short) || long.ends_with(short))
    };
    is_in(word, other) || is_in(other, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_by_few_letters_or_as_parts() {
        let names = ["width", "drop-floaters", "height", "quiet", "cameras"];
        for (word, name) in [
            ("camera", "cameras"),
            ("heigth", "height"),
            ("WIDHT", "width"),
            ("floaters", "drop-floaters"),
        ] {
            assert_eq!(nearest(word, names), Some(name));
        }
        for word in ["crop", "depth", "quality", ""] {
            assert_eq!(nearest(word, names), None, "{word}");
        }
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("fp", ["fps"]), Some("fps"));
        assert_eq!(did_you_mean("hieght", names), "; did you mean height?");
        assert_eq!(did_you_mean("depth", names), "");
        let message = "unknown field `widht`, expected `width` or `height`";
        assert_eq!(did_you_mean_one_of(message), "; did you mean width?");
        let message = "missing field `width` or `widths`";
        assert_eq!(did_you_mean_one_of(message), "");
    }
}
