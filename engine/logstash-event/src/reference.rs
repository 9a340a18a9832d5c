//! Field references: `[a][b]`, `a`, `[@metadata][x]`.
//!
//! Invariant: reading never fails; writing fails only where a scalar is in the way or an index is too large.

use crate::datum::{Datum, Map};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use temblor_lang::value::{Arena, Key, OwnedKey};

/// The longest reference, in names.
const STEPS_MAX: usize = 256;
/// Writing behind the end of a list fills it with nulls, up to this length.
const LIST_ITEMS_MAX: usize = 100_000;

/// A parsed field reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldRef {
    /// Whether it is in `@metadata`.
    pub metadata: bool,
    /// The names from the outermost to the innermost; empty only for `[@metadata]` itself.
    pub steps: Vec<Step>,
}

/// One name of a reference, hashed once.
#[derive(Clone, PartialEq, Eq)]
pub struct Step(OwnedKey);

impl Step {
    /// The name and its hash.
    #[must_use]
    #[inline]
    pub fn key(&self) -> Key<'_> {
        self.0.key()
    }
}

impl Deref for Step {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.key().text()
    }
}

impl AsRef<str> for Step {
    fn as_ref(&self) -> &str {
        self
    }
}

impl From<&str> for Step {
    fn from(text: &str) -> Self {
        Self(OwnedKey::new(text))
    }
}

impl From<String> for Step {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.deref().hash(state);
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

/// A field that holds strings only.
pub(crate) const TAGS: &str = "tags";
/// A field that holds a time.
pub(crate) const TIMESTAMP: &str = "@timestamp";

/// Why a write was refused.
pub type Refused = &'static str;

impl FieldRef {
    /// Parses a reference.
    ///
    /// # Errors
    /// What is wrong with it, as a clause.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let steps = if text.contains(['[', ']']) { bracketed(text)? } else { vec![text.into()] };
        if steps.len() > STEPS_MAX {
            return Err("it has too many parts");
        }
        let metadata = steps.first().map(AsRef::<str>::as_ref) == Some("@metadata");
        let steps = if metadata { steps[1..].to_vec() } else { steps };
        Ok(Self { metadata, steps })
    }

    /// The name of a field at the top level of the document; `None` for any other.
    #[must_use]
    #[inline]
    pub fn top(&self) -> Option<&str> {
        match self.steps.as_slice() {
            [only] if !self.metadata => Some(only),
            _ => None,
        }
    }

    /// Whether it is a top-level field that takes values of any kind.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.top().is_some_and(|only| !matches!(only, TAGS | TIMESTAMP))
    }

    /// The last name.
    #[must_use]
    #[inline]
    pub fn last(&self) -> &str {
        self.steps.last().map_or("@metadata", |step| step)
    }

    /// This reference with further names appended.
    #[must_use]
    pub fn join(&self, further: &[Step]) -> Self {
        let mut steps = self.steps.clone();
        steps.extend_from_slice(further);
        Self { metadata: self.metadata, steps }
    }

    /// The reference in brackets: `[a][b]`.
    #[must_use]
    pub fn text(&self) -> String {
        let head = if self.metadata { "[@metadata]" } else { "" };
        let steps: String = self.steps.iter().map(|step| format!("[{step}]")).collect();
        format!("{head}{steps}")
    }
}

/// `[a][b]`, also `[[a][b]][c]`.
fn bracketed(text: &str) -> Result<Vec<Step>, &'static str> {
    let mut steps: Vec<Step> = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, character) in text.char_indices() {
        match character {
            '[' => {
                if depth > 0 && start < at {
                    return Err("text stands before an inner bracket");
                }
                depth += 1;
                start = at + 1;
            }
            ']' => {
                depth = depth.checked_sub(1).ok_or("a bracket is closed that was not opened")?;
                if start < at {
                    steps.push(text[start..at].into());
                } else if text[..at].ends_with('[') {
                    return Err("the brackets are empty");
                }
                start = at + 1;
            }
            _ if depth == 0 => return Err("text stands outside of the brackets"),
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a bracket is not closed");
    }
    Ok(steps)
}

/// The value at the end of `steps`.
#[must_use]
#[inline]
pub fn get<'m, 'a>(map: &'m Map<'a>, steps: &[Step]) -> Option<&'m Datum<'a>> {
    let (first, rest) = steps.split_first()?;
    let mut found = map.get_key(&first.key())?;
    for step in rest {
        found = match found {
            Datum::Map(map) => map.get_key(&step.key())?,
            Datum::List(items) => items.get(index(step, items.len())?)?,
            _ => return None,
        };
    }
    Some(found)
}

/// As [`get`], mutable.
#[inline]
pub fn get_mut<'m, 'a>(map: &'m mut Map<'a>, steps: &[Step]) -> Option<&'m mut Datum<'a>> {
    let (first, rest) = steps.split_first()?;
    let mut found = map.get_key_mut(&first.key())?;
    for step in rest {
        found = match found {
            Datum::Map(map) => map.get_key_mut(&step.key())?,
            Datum::List(items) => {
                let at = index(step, items.len())?;
                items.get_mut(at)?
            }
            _ => return None,
        };
    }
    Some(found)
}

/// An index into a list; negative numbers count from the end.
fn index(step: &str, length: usize) -> Option<usize> {
    let number: i64 = step.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let number = if number < 0 { length + number } else { number };
    usize::try_from(number).ok()
}

/// Writes the value at the end of `steps`; missing maps on the way are created.
pub fn set<'a>(
    map: &mut Map<'a>,
    steps: &[Step],
    value: Datum<'a>,
    arena: &'a Arena,
) -> Result<(), Refused> {
    let Some((first, rest)) = steps.split_first() else { return Err("it has no name") };
    let Some((next, _)) = rest.split_first() else {
        map.insert_copied(&first.key(), value, arena);
        return Ok(());
    };
    let _ = next;
    if map.get_key(&first.key()).is_none_or(|found| *found == Datum::Null) {
        map.insert_copied(&first.key(), Datum::Map(Map::default()), arena);
    }
    let inner = map.get_key_mut(&first.key()).expect("it was put there just now");
    set_in(inner, rest, value, arena)
}

fn set_in<'a>(
    place: &mut Datum<'a>,
    steps: &[Step],
    value: Datum<'a>,
    arena: &'a Arena,
) -> Result<(), Refused> {
    match place {
        Datum::Map(map) => set(map, steps, value, arena),
        Datum::List(items) => {
            let (first, rest) = steps.split_first().expect("there is a step left");
            let Some(at) = index(first, items.len()) else { return Ok(()) };
            if at >= LIST_ITEMS_MAX {
                return Err("the index is too large");
            }
            if at >= items.len() {
                items.resize(at + 1, Datum::Null);
            }
            if rest.is_empty() {
                items[at] = value;
                return Ok(());
            }
            if items[at] == Datum::Null {
                items[at] = Datum::Map(Map::default());
            }
            set_in(&mut items[at], rest, value, arena)
        }
        _ => Err("a value that is no map stands in the way"),
    }
}

/// Removes the value at the end of `steps`.
pub fn remove<'a>(map: &mut Map<'a>, steps: &[Step]) -> Option<Datum<'a>> {
    let (last, way) = steps.split_last()?;
    if way.is_empty() {
        return map.remove_key(&last.key());
    }
    match get_mut(map, way)? {
        Datum::Map(map) => map.remove_key(&last.key()),
        Datum::List(items) => {
            let at = index(last, items.len())?;
            (at < items.len()).then(|| items.remove(at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::FieldRef;

    #[test]
    fn reads_references() {
        for (text, expected) in [
            ("a", Ok("[a]")),
            ("a.b", Ok("[a.b]")),
            ("[a][b]", Ok("[a][b]")),
            ("[[a][b]][c]", Ok("[a][b][c]")),
            ("[@metadata][x]", Ok("[@metadata][x]")),
            ("@metadata", Ok("[@metadata]")),
            ("a[b]", Err(())),
            ("[a]b", Err(())),
            ("[a", Err(())),
            ("[]", Err(())),
            ("a]", Err(())),
        ] {
            let found = FieldRef::parse(text).map(|one| one.text()).map_err(|_| ());
            assert_eq!(
                found.as_deref(),
                expected.as_ref().map(|one| &**one).map_err(|()| &()),
                "{text}"
            );
        }
    }
}
