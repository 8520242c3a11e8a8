//! Words that are near to each other, and proposals for misspelt names.

/// A word may differ from the word that was meant by one edit per this number of letters.
const LETTERS_PER_EDIT: usize = 3;
/// Letters of the shortest word that is recognized as a part of another one.
const LEAST_PART: usize = 4;

/// Smallest number of insertions, deletions and replacements of characters, and of exchanges of two neighbours, that
/// make `a` into `b`, where no part is edited twice (optimal string alignment).
pub fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Rows of the table of the two prefixes of `a` before the current one.
    let mut second: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut before = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != *y);
            let mut least = replaced.min(row[j] + 1).min(last[j + 1] + 1);
            if j > 0 && before == Some(*y) && x == b[j - 1] {
                least = least.min(second[j - 1] + 1);
            }
            row.push(least);
        }
        before = Some(x);
        second = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The name that a misspelt `word` most likely stands for: the nearest one that differs by few letters, or that is
/// longer or shorter at an end. Case is ignored; of equally near names, the first counts.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.trim().to_lowercase();
    let near = names.into_iter().filter_map(|name| {
        let lower = name.to_lowercase();
        let distance = edit_distance(&word, &lower);
        // Of two letters or fewer, not all may differ.
        let longest = word.chars().count().max(lower.chars().count());
        let is_edited = distance <= most_edits(&word) && 2 * distance <= longest;
        let is_near = is_edited || is_part(&word, &lower);
        is_near.then_some((distance, name))
    });
    let nearest = near.min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, name)| name)
}

/// The end of a message about a misspelt `word`, `"; did you mean NAME?"`; empty if no name is near.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let name = nearest(word, names);
    name.map_or(String::new(), |name| format!("; did you mean {name}?"))
}

/// As [`did_you_mean`], of a parser's message about an unknown key or value, which puts this word and then the valid
/// ones between backquotes: ``unknown field `widht`, expected `width` or `height` ``.
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
    fn edit_distances() {
        for (a, b, distance) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("widht", "width", 1),
            // The exchanged pair is not edited once more.
            ("ca", "abc", 3),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

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
