//! Regular expressions: search, replace, scan and split, with `$~` and `$1`.

use super::{Answer, Found1, Given, Machine, Stop, limited};
use crate::budget::{Breach, SIZE_MAX};
use crate::heap::Heap;
use crate::parse;
use crate::plain::{replace_all, split_text};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Found, Value};
use std::sync::Arc;
use temblor_stdlib::pattern::{Groups, Pattern};

/// The methods of patterns.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(0, 0, &["casefold?", "names", "options", "source", "to_s"]),
    takes(1, 1, &["===", "=~"]),
    takes(1, 2, &["match", "match?"]),
];

/// The methods of what a pattern found.
pub(in crate::run) const OF_MATCHES: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "captures",
            "length",
            "named_captures",
            "names",
            "post_match",
            "pre_match",
            "size",
            "to_a",
            "to_s",
        ],
    ),
    takes(0, ANY, &["values_at"]),
    takes(1, 1, &["[]", "begin", "end", "offset"]),
];

/// Compiles a pattern that was put together while the code ran.
pub(super) fn compile(text: &str, flags: &str) -> Answer {
    parse::pattern(text, flags)
        .map(|pattern| Value::Regex(Arc::new(pattern), parse::written(text, flags).into()))
        .map_err(|reason| Stop::raise("RegexpError", reason))
}

/// Pays for the compilation of a pattern; what is repeated makes it large.
pub(super) fn pay_for(heap: &Heap, text: &str) -> Result<(), Stop> {
    /// Steps of a pattern that may repeat something often.
    const REPEATING_STEPS: usize = 5_000;
    let steps = text.len() + if text.contains('{') { REPEATING_STEPS } else { 0 };
    if !heap.budget().spend(steps) {
        heap.check()?;
    }
    Ok(())
}

/// A pattern, or a text as one.
pub(super) fn of(heap: &Heap, value: &Value) -> Result<Arc<Pattern>, Stop> {
    match value {
        Value::Regex(pattern, _) => Ok(pattern.clone()),
        Value::Text(text) => match compile(&text.str(heap), "")? {
            Value::Regex(pattern, _) => Ok(pattern),
            _ => Err(Stop::raise("TypeError", "this is no pattern")),
        },
        other => {
            let message = format!("wrong argument type {} (expected Regexp)", other.class());
            Err(Stop::raise("TypeError", message))
        }
    }
}

/// The text as a pattern that matches only itself.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            ' ' => out.push_str("\\ "),
            c if ".*?+^$|\\()[]{}-".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A group by number or name.
pub(super) fn group(heap: &Heap, found: &Found, which: &Value) -> Value {
    let at = match which {
        Value::Int(at) if *at < 0 => usize::try_from(found.groups.len() as i64 + at).ok(),
        Value::Int(at) => usize::try_from(*at).ok(),
        other => {
            let name = other.print(heap);
            found.names.iter().find(|(known, _)| *known == name).map(|(_, at)| *at)
        }
    };
    at.and_then(|at| found.group(at)).map_or(Value::Nil, |text| heap.text(text))
}

/// Where a group begins and ends, in characters.
fn place(heap: &Heap, found: &Found, which: &Value) -> Option<(i64, i64)> {
    let at = match which {
        Value::Int(at) => usize::try_from(*at).ok()?,
        name => found.names.iter().find(|(known, _)| *known == name.print(heap))?.1,
    };
    found.place(at)
}

pub(super) fn match_method(
    heap: &Heap,
    found: &Found,
    name: &str,
    arguments: &[Value],
) -> Option<Value> {
    let text = |at: usize| found.group(at).map_or(Value::Nil, |text| heap.text(text));
    let count = found.groups.len();
    Some(match (name, arguments) {
        ("[]", [which]) => group(heap, found, which),
        ("captures", []) => heap.list((1..count).map(text).collect()),
        ("to_a", []) => heap.list((0..count).map(text).collect()),
        ("values_at", which) => {
            heap.list(which.iter().map(|which| group(heap, found, which)).collect())
        }
        ("named_captures", []) => {
            heap.hash(found.names.iter().map(|(name, at)| (heap.text(name), text(*at))))
        }
        ("names", []) => heap.list(found.names.iter().map(|(name, _)| heap.text(name)).collect()),
        ("pre_match", []) => heap.text(found.before()),
        ("post_match", []) => heap.text(found.after()),
        ("begin" | "end" | "offset", [which]) => match place(heap, found, which) {
            Some((from, _)) if name == "begin" => Value::Int(from),
            Some((_, to)) if name == "end" => Value::Int(to),
            Some((from, to)) => heap.list(vec![Value::Int(from), Value::Int(to)]),
            None if name == "offset" => heap.list(vec![Value::Nil, Value::Nil]),
            None => Value::Nil,
        },
        ("to_s", []) => group(heap, found, &Value::Int(0)),
        ("length" | "size", []) => Value::Int(found.groups.len() as i64),
        _ => return None,
    })
}

/// Steps for a search that gave up, or that may have come close to it.
const GIVEN_UP_STEPS: usize = 50_000;

impl Machine<'_, '_> {
    /// Searches, and sets `$~`. The place is in characters.
    pub(super) fn search(
        &mut self,
        pattern: &Pattern,
        text: &Arc<str>,
    ) -> Result<Option<i64>, Stop> {
        self.search_from(pattern, text, 0)
    }

    /// The same, from a byte on.
    pub(super) fn search_from(
        &mut self,
        pattern: &Pattern,
        text: &Arc<str>,
        from: usize,
    ) -> Result<Option<i64>, Stop> {
        self.heap.budget().spend_bytes(4 * text.len());
        let groups = pattern.find_at(text, from).map_err(|_| self.gave_up())?;
        self.found = groups.map(|groups| {
            Arc::new(Found { text: text.clone(), groups, names: pattern.names().into() })
        });
        Ok(self.found.as_ref().map(|found| found.before().chars().count() as i64))
    }

    /// The match that begins last: matches are searched from behind each one that was found.
    pub(super) fn search_last(
        &mut self,
        pattern: &Pattern,
        text: &Arc<str>,
    ) -> Result<Option<i64>, Stop> {
        let (mut last, mut from) = (None, 0);
        while let Some(place) = self.search_from(pattern, text, from)? {
            last = self.found.clone().map(|found| (found, place));
            let begin = self.found.as_ref().map_or(0, |found| found.before().len());
            let Some(step) = text[begin..].chars().next() else { break };
            from = begin + step.len_utf8();
            self.heap.check()?;
        }
        self.found = last.as_ref().map(|(found, _)| found.clone());
        Ok(last.map(|(_, place)| place))
    }

    /// All matches.
    fn search_all(&mut self, pattern: &Pattern, text: &str) -> Result<Vec<Groups>, Stop> {
        self.heap.budget().spend_bytes(4 * text.len());
        let all = pattern.find_all(text).map_err(|_| self.gave_up())?;
        self.heap.budget().spend_items(4 * all.len());
        Ok(all)
    }

    /// A search that gives up is dear, so that code cannot try it again and again.
    fn gave_up(&self) -> Stop {
        self.heap.budget().spend(GIVEN_UP_STEPS);
        Stop::raise("RegexpError", "the search takes too long")
    }

    pub(super) fn regex_method(
        &mut self,
        pattern: &Arc<Pattern>,
        source: &Arc<str>,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("source", []) => heap.text(parse::source(source).0),
            ("to_s", []) => heap.text(source),
            ("names", []) => {
                heap.list(pattern.names().iter().map(|(name, _)| heap.text(name)).collect())
            }
            ("casefold?", []) => Value::Bool(parse::source(source).1.contains('i')),
            ("options", []) => {
                let on = parse::source(source).1;
                let bits = [('i', 1), ('x', 2), ('m', 4)];
                let set = bits.iter().filter(|(flag, _)| on.contains(*flag));
                Value::Int(set.map(|(_, bit)| bit).sum())
            }
            ("=~" | "match" | "match?", [Value::Nil]) => {
                self.found = None;
                if name == "match?" { Value::Bool(false) } else { Value::Nil }
            }
            ("=~" | "match" | "match?" | "===", [text, ..]) => {
                let place = self.search(pattern, &text.print(heap).into())?;
                match (name, place, &self.found) {
                    ("match?" | "===", place, _) => Value::Bool(place.is_some()),
                    ("=~", Some(place), _) => Value::Int(place),
                    ("match", _, Some(found)) => Value::Match(found.clone()),
                    _ => Value::Nil,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// `gsub` and `sub`, with a text, a hash or code as the replacement.
    pub(super) fn substitute(
        &mut self,
        text: &Arc<str>,
        needle: &Value,
        replacement: &[Value],
        given: Option<&Given>,
        all: bool,
    ) -> Result<String, Stop> {
        let heap = self.heap;
        let pattern = of_needle(heap, needle)?;
        let mut matches = self.search_all(&pattern, text)?;
        if !all {
            matches.truncate(1);
        }
        let names: Arc<[(String, usize)]> = pattern.names().into();
        let found =
            |groups| Some(Arc::new(Found { text: text.clone(), groups, names: names.clone() }));
        if let Some(last) = matches.last() {
            self.found = found(last.clone());
        }
        if let (Some(new @ (Value::Text(_) | Value::Symbol(_))), _) = (replacement.first(), given) {
            let new = new.print(heap);
            let replaced = replace_all(&pattern, text, &matches, &new, SIZE_MAX);
            return replaced.ok_or(Stop::Limit(Breach::Size));
        }
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for groups in matches {
            let (from, to) = groups[0].expect("a match has a place");
            self.found = found(groups);
            out.push_str(&text[end..from]);
            let whole = heap.text(&text[from..to]);
            let new = match (replacement.first(), given) {
                (Some(Value::Hash(hash)), _) => hash.get(heap, &whole).unwrap_or_default(),
                (None, Some(given)) => self.give_to(given, vec![whole])?,
                (Some(other), _) => {
                    let what = super::object::word_of(other);
                    let message = format!("no implicit conversion of {what} into String");
                    return Err(Stop::raise("TypeError", message));
                }
                (None, None) => {
                    return Err(Stop::raise("ArgumentError", "wrong number of arguments"));
                }
            };
            out.push_str(&self.print(&new)?);
            limited(out.len())?;
            end = to;
        }
        out.push_str(&text[end..]);
        Ok(out)
    }

    /// All matches: texts, or lists of their groups.
    pub(super) fn scan(
        &mut self,
        text: &Arc<str>,
        needle: &Value,
        given: Option<&Given>,
    ) -> Answer {
        let heap = self.heap;
        let pattern = of_needle(heap, needle)?;
        let names: Arc<[(String, usize)]> = pattern.names().into();
        let mut all = Vec::new();
        for groups in self.search_all(&pattern, text)? {
            let found = Arc::new(Found { text: text.clone(), groups, names: names.clone() });
            let item = match found.groups.len() {
                1 => group(heap, &found, &Value::Int(0)),
                _ => match_method(heap, &found, "captures", &[]).unwrap_or_default(),
            };
            self.found = Some(found);
            match given {
                Some(given) => drop(self.give_to(given, vec![item])?),
                None => all.push(item),
            }
        }
        Ok(if given.is_some() { heap.shared_text(text) } else { heap.list(all) })
    }

    /// Ruby's `split`: by blanks, by a text or by a pattern, with a limit.
    pub(super) fn split(&mut self, text: &str, arguments: &[Value]) -> Result<Vec<Value>, Stop> {
        let heap = self.heap;
        let limit = match arguments.get(1) {
            Some(Value::Int(limit)) => *limit,
            _ => 0,
        };
        let values = |pieces: Vec<&str>| pieces.into_iter().map(|one| heap.text(one)).collect();
        match arguments.first() {
            None | Some(Value::Nil) => Ok(values(split_text(text, " "))),
            Some(Value::Text(separator)) if limit == 0 => {
                Ok(values(split_text(text, &separator.str(heap))))
            }
            Some(Value::Text(separator)) => {
                let most = usize::try_from(limit).unwrap_or(usize::MAX);
                let separator = separator.str(heap);
                Ok(values(match &*separator {
                    " " => split_blanks(text, most),
                    separator => text.splitn(most, separator).collect(),
                }))
            }
            Some(Value::Regex(pattern, _)) => {
                let matches = self.search_all(pattern, text)?;
                Ok(values(split_at(text, &matches, limit)))
            }
            Some(other) => {
                let message = format!("wrong argument type {} (expected Regexp)", other.class());
                Err(Stop::raise("TypeError", message))
            }
        }
    }
}

/// What `gsub` and `scan` look for: a pattern, or a text as it is.
fn of_needle(heap: &Heap, needle: &Value) -> Result<Arc<Pattern>, Stop> {
    match needle {
        Value::Regex(pattern, _) => Ok(pattern.clone()),
        other => of(heap, &heap.text(&escape(&other.print(heap)))),
    }
}

fn split_blanks(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        match rest.split_once(|c: char| c.is_ascii_whitespace()) {
            Some((piece, after)) if pieces.len() + 1 < most => {
                pieces.push(piece);
                rest = after.trim_start();
            }
            _ => {
                pieces.push(rest);
                break;
            }
        }
    }
    pieces
}

/// Between the matches; their groups are pieces too.
fn split_at<'t>(text: &'t str, matches: &[Groups], limit: i64) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for groups in matches {
        let (from, to) = groups[0].expect("a match has a place");
        if limit > 0 && pieces.len() as i64 + 1 >= limit {
            break;
        }
        if from == to && (from == 0 || from >= text.len()) {
            continue;
        }
        pieces.push(&text[start..from]);
        pieces.extend(groups[1..].iter().flatten().map(|(from, to)| &text[*from..*to]));
        start = to;
    }
    pieces.push(&text[start..]);
    if limit == 0 {
        while pieces.last().is_some_and(|last| last.is_empty()) {
            pieces.pop();
        }
    }
    pieces
}
