//! `std::logstash`: the tests that conditions of Logstash make, with their exact truth tables, for
//! configurations that were converted. A missing field is `null` to them: `event.a ?? null`.

use crate::declare::{Outcome, pure, text, value};
use crate::pattern::Pattern;
use std::cell::RefCell;
use std::rc::Rc;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, String as Text};
use temblor_lang::value::{Key, Value, deeper, to_json};

/// Compiled expressions that one thread keeps; the oldest goes first.
const KEPT_MAX: usize = 256;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::logstash::is_true",
        &[("value", Any)],
        Bool,
        "Whether `if [field]` holds: everything is true but `null`, `false`, the text `false` and \
         the empty text.",
        &[
            r#"logstash::is_true("x") and logstash::is_true(0) and logstash::is_true([])"#,
            r#"not logstash::is_true("") and not logstash::is_true("false")"#,
            "not logstash::is_true(null)",
        ],
        |_, arguments| {
            Ok(Value::Bool(match value(arguments, 0) {
                Value::Null | Value::Bool(false) => false,
                Value::Str(text) => !text.is_empty() && text != "false",
                _ => true,
            }))
        },
    ),
    pure(
        "std::logstash::has",
        &[("container", Any), ("item", Any)],
        Bool,
        "Whether a text holds the text `item`, or a list an element that equals it: `\"x\" in \
         [field]`. Nothing else holds anything.",
        &[
            r#"logstash::has("abc", "b") and logstash::has(["a", 5], 5)"#,
            r#"not logstash::has(5, 5) and not logstash::has({"a": 1}, "a")"#,
            r#"not logstash::has(null, "a") and not logstash::has("abc", null)"#,
        ],
        |call, arguments| {
            let (container, item) = (value(arguments, 0), value(arguments, 1));
            Ok(Value::Bool(has(call, container, item)))
        },
    ),
    pure(
        "std::logstash::is_one_of",
        &[("value", Any), ("list", Array)],
        Bool,
        "Whether the value prints like an element of the list: `[field] in [\"a\", \"b\"]`. A list \
         prints as its elements with commas between them; `null` is no element.",
        &[
            r#"logstash::is_one_of("a", ["a", "b"]) and logstash::is_one_of(5, ["5", "6"])"#,
            r#"not logstash::is_one_of(null, ["a", "b"]) and not logstash::is_one_of("c", ["a", "b"])"#,
        ],
        is_one_of,
    ),
    pure(
        "std::logstash::is_in",
        &[("value", Any), ("container", Any)],
        Bool,
        "Whether `[field] in [other]` holds: the list has an element that equals the value, the text \
         holds the text, or both are equal. `null`, lists and records are in nothing.",
        &[
            r#"logstash::is_in("b", ["a", "b"]) and logstash::is_in("b", "abc") and logstash::is_in(5, 5)"#,
            r#"not logstash::is_in(null, null) and not logstash::is_in(["a"], [["a"]])"#,
        ],
        |call, arguments| {
            let (item, container) = (value(arguments, 0), value(arguments, 1));
            let scalar = item.size().is_none_or(|_| item.as_str().is_some());
            let found = match (item, container) {
                (Value::Null, _) | (_, Value::Null) => false,
                _ if !scalar => false,
                (Value::Str(part), Value::Str(text)) => text.contains(part),
                _ => has(call, container, item) || call.arena.equal(item, container),
            };
            Ok(Value::Bool(found))
        },
    ),
    pure(
        "std::logstash::matches",
        &[("value", Any), ("pattern", Text)],
        Bool,
        "Whether the value is a text in which the expression, in Ruby's notation, is found: \
         `[field] =~ /pattern/`. `^` and `$` stand for the ends of lines.",
        &[
            r#"logstash::matches("a\nb", "^b") and not logstash::matches("ab", "^b")"#,
            r#"not logstash::matches(5, "5") and not logstash::matches(null, "")"#,
        ],
        |_, arguments| {
            let pattern = compiled(text(arguments, 1)?)?;
            let found = value(arguments, 0).as_str().is_some_and(|text| pattern.is_in(text));
            Ok(Value::Bool(found))
        },
    ),
    pure(
        "std::logstash::get",
        &[("value", Any), ("path", Array)],
        Any,
        "The value at the end of the path, or `null`: texts name fields, whole numbers elements of \
         lists, negative ones from the end: `[field][-1]`.",
        &[
            r#"logstash::get({"a": [1, 2]}, ["a", -1]) == 2"#,
            r#"logstash::get({"a": 1}, ["a", "b"]) == null"#,
        ],
        get,
    ),
    pure(
        "std::logstash::tagged",
        &[("tags", Any), ("tag", Text)],
        Any,
        "The tags of an event with one more, unless it is there: a text is a single tag, and what is \
         neither a list nor a text counts as no tags.",
        &[
            r#"logstash::tagged(["a"], "b") == ["a", "b"] and logstash::tagged(["a"], "a") == ["a"]"#,
            r#"logstash::tagged("a", "b") == ["a", "b"] and logstash::tagged(null, "b") == ["b"]"#,
        ],
        tagged,
    ),
];

fn tagged<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (tags, tag) = (value(arguments, 0), value(arguments, 1));
    if call.arena.equal(tags, tag) || has_item(call, tags, tag) {
        return Ok(tags);
    }
    let before = match tags {
        Value::Str(_) => vec![tags],
        other => other.as_array(call.arena).map(<[_]>::to_vec).unwrap_or_default(),
    };
    Ok(call.arena.array(before.into_iter().chain([tag])))
}

fn get<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let steps = value(arguments, 1).as_array(call.arena).ok_or(CallError::BadType)?;
    let mut at = Some(value(arguments, 0));
    for step in steps {
        let Some(here) = at else { break };
        at = match step.as_str() {
            Some(name) => here.get(&Key::new(name)),
            None => step.as_i64().and_then(|step| {
                let size = here.as_array(call.arena)?.len();
                let place = usize::try_from(step).ok();
                let from_end = || size.checked_sub(usize::try_from(step.unsigned_abs()).ok()?);
                here.at(place.or_else(from_end)?)
            }),
        };
    }
    Ok(at.unwrap_or(Value::Null))
}

fn has<'a>(call: &Call<'a>, container: Value<'a>, item: Value<'a>) -> bool {
    if let (Some(text), Some(part)) = (container.as_str(), item.as_str()) {
        return text.contains(part);
    }
    has_item(call, container, item)
}

fn has_item<'a>(call: &Call<'a>, list: Value<'a>, item: Value<'a>) -> bool {
    let items = list.as_array(call.arena);
    items.is_some_and(|items| items.iter().any(|one| call.arena.equal(*one, item)))
}

fn is_one_of<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let items = value(arguments, 1).as_array(call.arena).ok_or(CallError::BadType)?;
    let given = value(arguments, 0);
    if given == Value::Null {
        return Ok(Value::Bool(false));
    }
    if ![given, value(arguments, 1)].iter().all(|value| call.arena.admits_copy(*value)) {
        return Ok(Value::Null);
    }
    let mut printed = String::new();
    print(call, given, &mut printed);
    let mut other = String::new();
    let is_same = |item: &Value<'a>| {
        other.clear();
        print(call, *item, &mut other);
        other == printed
    };
    Ok(Value::Bool(items.iter().any(is_same)))
}

/// Appends a value as Logstash prints it.
fn print<'a>(call: &Call<'a>, value: Value<'a>, out: &mut String) {
    if let Some(text) = value.as_str() {
        return out.push_str(text);
    }
    let Some(items) = value.as_array(call.arena) else { return out.push_str(&to_json(value)) };
    deeper(|| {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            print(call, *item, out);
        }
    });
}

/// The compiled expression, from this thread's store when it has been used lately.
fn compiled(text: &str) -> Result<Rc<Pattern>, CallError> {
    thread_local! {
        /// The oldest first.
        static KEPT: RefCell<Vec<(Box<str>, Rc<Pattern>)>> = const { RefCell::new(Vec::new()) };
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some((_, pattern)) = kept.iter().rev().find(|(one, _)| &**one == text) {
            return Ok(Rc::clone(pattern));
        }
        let pattern = Pattern::compile(text)
            .map_err(|why| CallError::failed(format!("bad regular expression: {why}")))?;
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        let pattern = Rc::new(pattern);
        kept.push((text.into(), Rc::clone(&pattern)));
        Ok(pattern)
    })
}
