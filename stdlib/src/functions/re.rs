//! `std::re`: regular expressions that are known only at run time. Compiled ones are kept per
//! thread, at most [`KEPT_MAX`] of them, so that a pattern is compiled once and not per event.

use crate::declare::{Outcome, pure, text};
use regex::Regex;
use std::cell::RefCell;
use std::rc::Rc;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, String};
use temblor_lang::value::Value;

/// Compiled expressions that one thread keeps; the least recently used one goes first.
const KEPT_MAX: usize = 64;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::re::is_match",
        &[("pattern", String), ("text", String)],
        Bool,
        "Whether the regular expression matches anywhere in the text.",
        &[r#"re::is_match("^s.o", "snot")"#],
        |_, arguments| {
            let text = text(arguments, 1)?;
            compiled(arguments, |pattern| Ok(Value::Bool(pattern.is_match(text))))
        },
    ),
    pure(
        "std::re::replace",
        &[("pattern", String), ("text", String), ("replacement", String)],
        String,
        "The text with the first match replaced; `$1` and `${name}` in the replacement stand for \
         what a group has matched.",
        &[r#"re::replace("(a)(b)", "abab", "$2$1") == "baab""#],
        |call, arguments| replace(call, arguments, 1),
    ),
    pure(
        "std::re::replace_all",
        &[("pattern", String), ("text", String), ("replacement", String)],
        String,
        "The text with every match replaced; `$1` and `${name}` in the replacement stand for \
         what a group has matched.",
        &[r#"re::replace_all("[0-9]+", "a1b22", "x") == "axbx""#],
        |call, arguments| replace(call, arguments, 0),
    ),
    pure(
        "std::re::split",
        &[("pattern", String), ("text", String)],
        Array,
        "The parts of the text between matches.",
        &[r#"re::split("[,;] *", "a, b;c") == ["a", "b", "c"]"#],
        |call, arguments| {
            let text = text(arguments, 1)?;
            compiled(arguments, |pattern| Ok(call.arena.array(pattern.split(text).map(Value::Str))))
        },
    ),
    pure(
        "std::re::find_all",
        &[("pattern", String), ("text", String)],
        Array,
        "Every match in the text, from left to right.",
        &[r#"re::find_all("[0-9]+", "a1b22") == ["1", "22"]"#],
        |call, arguments| {
            let text = text(arguments, 1)?;
            compiled(arguments, |pattern| {
                Ok(call.arena.array(pattern.find_iter(text).map(|one| Value::Str(one.as_str()))))
            })
        },
    ),
    pure(
        "std::re::captures",
        &[("pattern", String), ("text", String)],
        Any,
        "What the groups of the first match hold, as a record: named groups under their names, \
         the others under their numbers, group 0 being the whole match. Groups that took no part \
         are left out. `null` when nothing matches.",
        &[
            r#"re::captures("(?P<a>.)-(.)", "x-y") == {"0": "x-y", "a": "x", "2": "y"}"#,
            r#"re::captures("a", "b") == null"#,
        ],
        captures,
    ),
];

/// Runs `work` with the expression that is the first argument.
fn compiled<'a>(arguments: &[Value<'a>], work: impl FnOnce(&Regex) -> Outcome<'a>) -> Outcome<'a> {
    let pattern = regex(text(arguments, 0)?)?;
    work(&pattern)
}

/// The compiled expression, from this thread's store when it has been used lately.
pub(super) fn regex(pattern: &str) -> Result<Rc<Regex>, CallError> {
    thread_local! {
        /// Most recently used last.
        static KEPT: RefCell<Vec<(Box<str>, Rc<Regex>)>> = const { RefCell::new(Vec::new()) };
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some(at) = kept.iter().rposition(|(text, _)| &**text == pattern) {
            if at + 1 < kept.len() {
                let entry = kept.remove(at);
                kept.push(entry);
            }
        } else {
            let regex = Regex::new(pattern)
                .map_err(|why| CallError::failed(format!("bad regular expression: {why}")))?;
            if kept.len() == KEPT_MAX {
                kept.remove(0);
            }
            kept.push((pattern.into(), Rc::new(regex)));
        }
        let (_, regex) = kept.last().expect("an entry was just moved or pushed to the end");
        Ok(Rc::clone(regex))
    })
}

/// Replaces the first `limit` matches; 0 stands for all.
fn replace<'a>(call: &Call<'a>, arguments: &[Value<'a>], limit: usize) -> Outcome<'a> {
    let (text, replacement) = (text(arguments, 1)?, text(arguments, 2)?);
    compiled(arguments, |pattern| Ok(substituted(call, pattern, text, replacement, limit)))
}

/// `text` with its first `limit` matches replaced (0: all); not copied when nothing matches.
pub(super) fn substituted<'a>(
    call: &Call<'a>,
    pattern: &Regex,
    text: &'a str,
    replacement: &str,
    limit: usize,
) -> Value<'a> {
    match pattern.replacen(text, limit, replacement) {
        std::borrow::Cow::Borrowed(text) => Value::Str(text),
        std::borrow::Cow::Owned(changed) => Value::Str(call.arena.str(&changed)),
    }
}

fn captures<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 1)?;
    compiled(arguments, |pattern| {
        let Some(found) = pattern.captures(text) else { return Ok(Value::Null) };
        let mut result = call.arena.record_builder(found.len());
        for (number, name) in pattern.capture_names().enumerate() {
            let Some(group) = found.get(number) else { continue };
            let key = match name {
                Some(name) => call.arena.str(name),
                None => call.arena.format(format_args!("{number}")),
            };
            result.insert(key, Value::Str(group.as_str()));
        }
        Ok(result.finish())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_expressions_are_kept_while_they_are_used() {
        let first = regex("kept").unwrap();
        for number in 0..KEPT_MAX * 2 {
            regex(&format!("other{number}")).unwrap();
            assert!(Rc::ptr_eq(&first, &regex("kept").unwrap()), "after {number} others");
        }
    }

    #[test]
    fn expressions_out_of_use_are_given_back() {
        let first = regex("unused").unwrap();
        (0..KEPT_MAX).for_each(|number| drop(regex(&format!("more{number}")).unwrap()));
        assert_eq!(Rc::strong_count(&first), 1);
    }
}
