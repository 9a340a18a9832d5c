//! The nearest right name to a misspelt one.

/// Names further away than this share of their length are no help.
const DISTANCE_SHARE: usize = 3;
/// Names longer than this are not compared: the distance is quadratic in the length.
const NAME_CHARS_MAX: usize = 64;

/// The known name with the smallest edit distance to `wrong`, if it is near enough to be meant.
#[must_use]
pub fn nearest<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = wrong.chars().count();
    if length > NAME_CHARS_MAX {
        return None;
    }
    known
        .into_iter()
        .filter(|name| *name != wrong)
        .filter_map(|name| {
            let characters = name.chars().count();
            let near = characters.div_ceil(DISTANCE_SHARE);
            // The distance is at least the difference of the lengths; most names end here.
            let may_be = characters <= NAME_CHARS_MAX && characters.abs_diff(length) <= near;
            let distance = may_be.then(|| distance(wrong, name))?;
            (distance <= near).then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours (optimal
/// string alignment; Damerau 1964, Levenshtein 1966).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for (at, row) in rows.iter_mut().enumerate() {
        row[0] = at;
    }
    rows[0] = (0..=right.len()).collect();
    for l in 1..=left.len() {
        for r in 1..=right.len() {
            let substitute = rows[l - 1][r - 1] + usize::from(left[l - 1] != right[r - 1]);
            let mut best = substitute.min(rows[l - 1][r] + 1).min(rows[l][r - 1] + 1);
            if l > 1 && r > 1 && left[l - 1] == right[r - 2] && left[l - 2] == right[r - 1] {
                best = best.min(rows[l - 2][r - 2] + 1);
            }
            rows[l][r] = best;
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_swapped_letter_and_refuses_far_names() {
        let known = ["clientip", "response", "request"];
        assert_eq!(nearest("clientpi", known), Some("clientip"));
        assert_eq!(nearest("zzz", known), None);
    }
}
