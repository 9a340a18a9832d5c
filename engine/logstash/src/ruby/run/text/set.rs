//! Sets of characters, as `tr` and `delete` read them, and texts that are filled up or counted up.

/// `a-z`, `^0-9`
pub(super) struct CharacterSet {
    ranges: Vec<(char, char)>,
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
        Self { ranges, negated }
    }

    pub(super) fn has(&self, character: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != self.negated
    }

    /// Its characters in order.
    fn all(&self) -> Vec<char> {
        self.ranges.iter().flat_map(|(low, high)| *low..=*high).collect()
    }
}

/// Ruby's `tr`.
pub(super) fn translate(text: &str, from: &str, to: &str) -> String {
    let set = CharacterSet::of(from);
    let targets = CharacterSet::of(to).all();
    let sources = set.all();
    let map = |character: char| {
        if !set.has(character) {
            return Some(character);
        }
        let place = match set.negated {
            true => targets.len(),
            false => sources.iter().position(|one| *one == character).unwrap_or(0),
        };
        targets.get(place).or(targets.last()).copied()
    };
    text.chars().filter_map(map).collect()
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

/// The next text: the last letter or digit counted up, with carry.
pub(in super::super) fn successor(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut at = characters.len();
    while at > 0 {
        at -= 1;
        let (next, carry) = match characters[at] {
            'z' => ('a', true),
            'Z' => ('A', true),
            '9' => ('0', true),
            other => (char::from_u32(other as u32 + 1).unwrap_or(other), false),
        };
        characters[at] = next;
        if !carry {
            return characters.into_iter().collect();
        }
    }
    let first = match characters.first() {
        Some('0') => '1',
        Some(first) => *first,
        None => return String::new(),
    };
    characters.insert(0, first);
    characters.into_iter().collect()
}
