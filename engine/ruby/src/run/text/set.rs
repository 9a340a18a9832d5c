//! Sets of characters in the notation of `tr` and `delete`, padding, and `succ`.

use std::collections::HashMap;

/// Characters that a set may name.
const NAMED_MAX: usize = 1 << 17;

/// `a-z`, `^0-9`
pub(super) struct CharacterSet {
    /// As they were written.
    ranges: Vec<(char, char)>,
    /// In order, none touching another, to be searched.
    merged: Vec<(char, char)>,
    negated: bool,
}

impl CharacterSet {
    pub(super) fn of(text: &str) -> Self {
        let negated = text.len() > 1 && text.starts_with('^');
        let characters: Vec<char> = text[usize::from(negated)..].chars().collect();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < characters.len() {
            if characters[at] == '\\' && at + 1 < characters.len() {
                at += 1;
                ranges.push((characters[at], characters[at]));
                at += 1;
            } else if at + 2 < characters.len() && characters[at + 1] == '-' {
                ranges.push((characters[at], characters[at + 2]));
                at += 3;
            } else {
                ranges.push((characters[at], characters[at]));
                at += 1;
            }
        }
        let merged = merged(&ranges);
        Self { ranges, merged, negated }
    }

    pub(super) fn has(&self, character: char) -> bool {
        let after = self.merged.partition_point(|(low, _)| *low <= character);
        let inside = after > 0 && character <= self.merged[after - 1].1;
        inside != self.negated
    }

    /// Its characters in order; nothing when there are too many.
    fn all(&self) -> Option<Vec<char>> {
        let mut all = Vec::new();
        for (low, high) in &self.ranges {
            if (*high as usize).saturating_sub(*low as usize) + all.len() > NAMED_MAX {
                return None;
            }
            all.extend(*low..=*high);
        }
        Some(all)
    }
}

fn merged(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut sorted: Vec<(char, char)> =
        ranges.iter().filter(|(low, high)| low <= high).copied().collect();
    sorted.sort_unstable();
    let mut merged: Vec<(char, char)> = Vec::with_capacity(sorted.len());
    for (low, high) in sorted {
        match merged.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

/// Ruby's `tr`, and `tr_s`, which makes one of equal characters beside each other. `None` when a set names too many.
pub(super) fn translate(text: &str, from: &str, to: &str, squeezes: bool) -> Option<String> {
    let set = CharacterSet::of(from);
    let targets = CharacterSet::of(to).all()?;
    let mut places = HashMap::new();
    if !set.negated {
        for (place, character) in set.all()?.into_iter().enumerate() {
            places.entry(character).or_insert(place);
        }
    }
    let map = |character: char| {
        if !set.has(character) {
            return Some(character);
        }
        let place = match set.negated {
            true => targets.len(),
            false => places.get(&character).copied().unwrap_or(0),
        };
        targets.get(place).or(targets.last()).copied()
    };
    let mut out = String::with_capacity(text.len());
    let mut last = None;
    for character in text.chars() {
        let Some(new) = map(character) else { continue };
        let is_changed = set.has(character);
        if !(squeezes && is_changed && last == Some(new)) {
            out.push(new);
        }
        last = is_changed.then_some(new);
    }
    Some(out)
}

pub(super) fn pad(text: &str, width: usize, fill: &str, how: &str) -> String {
    let length = text.chars().count();
    if length >= width || fill.is_empty() {
        return text.to_string();
    }
    let missing = width - length;
    let left = match how {
        "ljust" => 0,
        "rjust" => missing,
        _ => missing / 2,
    };
    let fill = |count: usize| fill.chars().cycle().take(count).collect::<String>();
    format!("{}{text}{}", fill(left), fill(missing - left))
}

/// The next text: its last letter or digit counted up, with carry to the one before it. Without any, its last
/// character is.
pub(in super::super) fn successor(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if !characters.iter().any(char::is_ascii_alphanumeric) {
        if let Some(last) = characters.last_mut() {
            *last = char::from_u32(*last as u32 + 1).unwrap_or(*last);
        }
        return characters.into_iter().collect();
    }
    // The place that was counted up last.
    let mut counted: Option<usize> = None;
    for at in (0..characters.len()).rev() {
        let character = characters[at];
        if !character.is_ascii_alphanumeric() {
            continue;
        }
        // Over other characters digits carry to digits only, and letters to letters.
        let apart = counted.is_some_and(|before| {
            before > at + 1 && characters[before].is_ascii_digit() != character.is_ascii_digit()
        });
        if apart {
            break;
        }
        counted = Some(at);
        let (next, carry) = match character {
            'z' => ('a', true),
            'Z' => ('A', true),
            '9' => ('0', true),
            other => (char::from(other as u8 + 1), false),
        };
        characters[at] = next;
        if !carry {
            return characters.into_iter().collect();
        }
    }
    if let Some(at) = counted {
        let first = if characters[at] == '0' { '1' } else { characters[at] };
        characters.insert(at, first);
    }
    characters.into_iter().collect()
}
