//! Template functions, `$(name arguments)`, as Temblor expressions.

use super::names::{Value, place_of, value_of};
use super::template::{Piece, Scene, argument, expression, pieces};
use crate::notation::text;
use std::fmt::Write;

/// What stands between the brackets of `$(…)`.
pub(super) fn call(inside: &str, scene: Scene<'_>, depth: usize) -> Result<Value, String> {
    let words = words(inside);
    let Some((name, rest)) = words.split_first() else {
        return Err("`$()` names no function".to_string());
    };
    let args: Vec<&str> = rest.iter().map(String::as_str).collect();
    let value = |at: usize| -> Result<Value, String> {
        let given = args.get(at).ok_or_else(|| format!("`$({name})` needs more arguments"))?;
        argument(given, scene, depth)
    };
    let number = |at: usize, otherwise: i64| -> Result<i64, String> {
        match args.get(at) {
            None => Ok(otherwise),
            Some(word) => {
                word.parse().map_err(|_| format!("`{word}` in `$({name})` is no whole number"))
            }
        }
    };
    let one = |function: &str, module: &'static str| -> Result<Value, String> {
        let mut whole = expression(&args.join(" "), scene, depth)?;
        if args.len() == 1 {
            whole = value(0)?;
        }
        whole.uses.push(module);
        Ok(Value { code: format!("{module}::{function}({})", bare(&whole.code)), uses: whole.uses })
    };
    match name.replace('_', "-").as_str() {
        "echo" => expression(&args.join(" "), scene, depth),
        "uppercase" => one("uppercase", "string"),
        "lowercase" => one("lowercase", "string"),
        "length" => one("bytes", "string"),
        "strip" => one("trim", "string"),
        "url-encode" => one("encode", "url"),
        "url-decode" => one("decode", "url"),
        "md5" => one("md5", "hash"),
        "sha1" => one("sha1", "hash"),
        "sha256" | "hash" => one("sha256", "hash"),
        "sha512" => one("sha512", "hash"),
        "uuid" => Ok(Value::using("uuid::v4()", "uuid")),
        "env" => {
            let variable = args.first().ok_or("`$(env)` needs the name of a variable")?;
            Ok(Value::new(text(&std::env::var(variable).unwrap_or_default())))
        }
        "base64-encode" => {
            let mut inner = value(0)?;
            inner.uses.extend(["base64", "string"]);
            let code = format!("base64::encode(string::into_binary({}))", bare(&inner.code));
            Ok(Value { code, uses: inner.uses })
        }
        "substr" => {
            let (start, length) = (number(1, 0)?, args.get(2).map(|_| number(2, 0)).transpose()?);
            let mut inner = value(0)?;
            inner.uses.push("string");
            let end = match length {
                Some(length) if length >= 0 && start >= 0 => format!(", {}", start + length),
                Some(length) if length < 0 => format!(", {length}"),
                Some(_) => return Err("`$(substr)` with a length from the end".to_string()),
                None => String::new(),
            };
            let code = format!("string::slice({}, {start}{end})", bare(&inner.code));
            Ok(Value { code, uses: inner.uses })
        }
        "padding" => {
            let width = number(1, 0)?;
            let mut inner = value(0)?;
            inner.uses.push("string");
            let fill = args.get(2).copied().filter(|fill| !fill.is_empty()).unwrap_or(" ");
            let code = format!("string::pad_start({}, {width}, {})", bare(&inner.code), text(fill));
            Ok(Value { code, uses: inner.uses })
        }
        "replace-delimiter" => {
            let (from, to) =
                (args.first().copied().unwrap_or(""), args.get(1).copied().unwrap_or(""));
            let mut inner = value(2)?;
            inner.uses.push("re");
            let class: String = from.chars().map(|one| regex::escape(&one.to_string())).collect();
            let code = format!(
                "re::replace_all({}, {}, {})",
                text(&format!("[{class}]")),
                bare(&inner.code),
                text(&to.replace('$', "$$"))
            );
            Ok(Value { code, uses: inner.uses })
        }
        "sanitize" => {
            let mut inner = value(args.len().saturating_sub(1))?;
            inner.uses.push("re");
            let code =
                format!("re::replace_all(r\"[\\x00-\\x1f/]\", {}, \"_\")", bare(&inner.code));
            Ok(Value { code, uses: inner.uses })
        }
        "basename" => {
            let mut inner = value(0)?;
            inner.uses.push("re");
            Ok(Value {
                code: format!("re::replace(\"^.*/\", {}, \"\")", bare(&inner.code)),
                uses: inner.uses,
            })
        }
        "dirname" => {
            let mut inner = value(0)?;
            inner.uses.push("re");
            Ok(Value {
                code: format!("re::replace(\"/[^/]*$\", {}, \"\")", bare(&inner.code)),
                uses: inner.uses,
            })
        }
        "or" => {
            let mut code = text("");
            let mut uses = Vec::new();
            for at in (0..args.len()).rev() {
                let inner = value(at)?;
                code = format!("if ({0}) != \"\" then {0} else {code} end", inner.code);
                uses.extend(inner.uses);
            }
            Ok(Value { code, uses })
        }
        "if" => {
            let (condition, yes, no) = (args.first(), value(1)?, value(2)?);
            let condition = condition.ok_or("`$(if)` needs a condition")?;
            let condition = super::filter::of_text(condition, scene)?;
            let mut uses = condition.uses;
            uses.extend(yes.uses);
            uses.extend(no.uses);
            let code = format!("if {} then {} else {} end", condition.code, yes.code, no.code);
            Ok(Value { code, uses })
        }
        operator @ ("+" | "-" | "*" | "/" | "%") => {
            let (left, right) = (value(0)?, value(1)?);
            let mut uses = left.uses;
            uses.extend(right.uses);
            uses.push("integer");
            let number = |code: &str| match code.trim_matches('"').parse::<i64>() {
                Ok(number) => number.to_string(),
                Err(_) => format!("integer::parse_or({}, 0)", bare(code)),
            };
            let (left, right) = (number(&left.code), number(&right.code));
            // Whole numbers are divided without a rest.
            if operator == "/" {
                uses.push("math");
                return Ok(Value { code: format!("math::trunc({left} / {right})"), uses });
            }
            Ok(Value { code: format!("({left} {operator} {right})"), uses })
        }
        "format-json" | "format-flat-json" => json(name, &args, scene, depth),
        _ => Err(format!("there is no equivalent of the template function `{name}`")),
    }
}

/// `a ?? b` stands in brackets where it is an argument; everything else as it is.
fn bare(code: &str) -> String {
    if code.contains("??") && !code.starts_with('"') {
        format!("({code})")
    } else {
        code.to_string()
    }
}

/// What `--scope rfc3164` holds.
const LEGACY: &[(&str, &str)] = &[
    ("PROGRAM", "PROGRAM"),
    ("PRIORITY", "LEVEL"),
    ("PID", "PID"),
    ("MESSAGE", "MESSAGE"),
    ("HOST", "HOST"),
    ("FACILITY", "FACILITY"),
    ("DATE", "DATE"),
];
/// Fields of the record that are no name-value pairs of syslog-ng.
const HIDDEN: &[&str] = &[
    "FACILITY",
    "LEVEL",
    "PRI",
    "SOURCEIP",
    "MSGHDR",
    "SDATA",
    "TAGS",
    "STAMP",
    "RECEIVED",
    "RAWMSG",
    "STRUCTURED",
];

/// A field of a JSON object, below the keys that its dotted name is.
#[derive(Debug)]
enum Field {
    Value(String),
    Object(Vec<(String, Field)>),
}

/// `$(format-json --scope rfc5424 --pair a=b --key HOST)`
fn json(name: &str, args: &[&str], scene: Scene<'_>, depth: usize) -> Result<Value, String> {
    let root = scene.root;
    let mut fields: Vec<(String, Field)> = Vec::new();
    let mut excluded: Vec<String> = Vec::new();
    let mut rest_of_message = false;
    let mut with_dots = false;
    let mut value = Value::using("", "ordered_json");
    let mut add = |key: &str, inner: Value, fields: &mut Vec<(String, Field)>| {
        value.uses.extend(inner.uses);
        if name == "format-flat-json" {
            fields.push((key.to_string(), Field::Value(inner.code)));
        } else {
            insert(fields, key, inner.code);
        }
    };
    let mut at = 0;
    while at < args.len() {
        let word = args[at];
        at += 1;
        let (option, mut given) = match word.split_once('=') {
            Some((option, given)) if option.starts_with("--") => (option, Some(given.to_string())),
            _ => (word, None),
        };
        let mut next = || -> Result<String, String> {
            if let Some(given) = given.take() {
                return Ok(given);
            }
            at += 1;
            let given = args.get(at - 1).ok_or_else(|| format!("`{option}` needs a value"))?;
            Ok((*given).to_string())
        };
        match option {
            "--scope" => {
                for scope in next()?.split(',') {
                    match scope {
                        "rfc3164" | "rfc5424" | "syslog-proto" | "base" | "selected-macros"
                        | "core" => {
                            for (key, field) in LEGACY {
                                add(key, value_of(root, field, "")?, &mut fields);
                            }
                            if scope != "rfc3164" && scope != "base" && scope != "core" {
                                add("MSGID", value_of(root, "MSGID", "")?, &mut fields);
                                add("_SDATA", Value::new(format!("{root}.SDATA")), &mut fields);
                            }
                            if scope == "selected-macros" {
                                add("TAGS", value_of(root, "TAGS", "")?, &mut fields);
                                add("SOURCEIP", value_of(root, "SOURCEIP", "")?, &mut fields);
                            }
                        }
                        "nv-pairs" | "nv_pairs" => rest_of_message = true,
                        "dot-nv-pairs" | "dot_nv_pairs" => with_dots = true,
                        "all-nv-pairs" | "all_nv_pairs" => {
                            (rest_of_message, with_dots) = (true, true)
                        }
                        "none" => {}
                        other => {
                            return Err(format!(
                                "the scope `{other}` of `$({name})` depends on the version"
                            ));
                        }
                    }
                }
            }
            "--key" | "-k" => {
                for key in next()?.split(',') {
                    match key.strip_suffix(".*").or_else(|| key.strip_suffix('*')) {
                        Some(prefix) => {
                            let place = place_of(root, prefix);
                            let code = format!("{place} ?? {{}}");
                            add(
                                &shown(prefix.trim_end_matches('.')),
                                Value::new(code),
                                &mut fields,
                            );
                        }
                        None => add(&shown(key), value_of(root, key, "")?, &mut fields),
                    }
                }
            }
            "--pair" | "-p" => {
                let pair = next()?;
                let (key, template) =
                    pair.split_once('=').ok_or_else(|| format!("`{pair}` is no pair"))?;
                add(&shown(key), typed(template, scene, depth)?, &mut fields);
            }
            "--exclude" | "-x" => excluded.push(next()?),
            "--leave-initial-dot" | "--omit-empty-values" => {}
            other if other.starts_with('-') => {
                return Err(format!("`{other}` of `$({name})` changes names at run time"));
            }
            pair => {
                let (key, template) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("`{pair}` is no pair of `$({name})`"))?;
                add(&shown(key), typed(template, scene, depth)?, &mut fields);
            }
        }
    }
    let hides = |key: &str| excluded.iter().any(|pattern| glob_matches(pattern, key));
    fields.retain(|(key, _)| !hides(key));
    if with_dots {
        for first in scene.dotted {
            let code = format!("{root}.{first} ?? {{}}");
            insert(&mut fields, &format!("_{first}"), code);
        }
    }
    sort(&mut fields);
    let object = written(&fields);
    if rest_of_message {
        let mut hidden: Vec<&str> = HIDDEN.to_vec();
        hidden.extend(scene.dotted.iter().map(String::as_str));
        let mut exact = excluded.iter().map(String::as_str).filter(|one| !one.contains('*'));
        hidden.extend(exact.by_ref());
        if excluded.iter().any(|pattern| pattern.contains('*')) {
            return Err(
                "patterns of `--exclude` beside `nv-pairs` are looked at for each message".into()
            );
        }
        value.uses.push("record");
        let rest = format!("record::without({root}, {})", crate::notation::texts(&hidden));
        let whole = if fields.is_empty() { rest } else { format!("merge {rest} of {object} end") };
        value.code = format!("ordered_json({whole})");
    } else {
        value.code = format!("ordered_json({object})");
    }
    Ok(value)
}

/// A dot in front of a name becomes a sign that JSON paths can hold.
fn shown(key: &str) -> String {
    match key.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => key.to_string(),
    }
}

/// `int64($X)`: the value as a number.
fn typed(template: &str, scene: Scene<'_>, depth: usize) -> Result<Value, String> {
    if let Some((kind, inside)) = template.strip_suffix(')').and_then(|text| text.split_once('('))
        && !kind.contains('$')
    {
        let mut inner = argument(inside, scene, depth)?;
        let code = bare(&inner.code);
        let (code, module) = match kind {
            "int" | "int32" | "int64" | "integer" => {
                (format!("integer::parse_or({code}, 0)"), "integer")
            }
            "double" | "float" => (format!("float::parse_or({code}, 0.0)"), "float"),
            "boolean" => (format!("({code} == \"true\" or {code} == \"1\")"), "string"),
            "string" => (code, "string"),
            "literal" | "json" => (format!("json::decode({code})"), "json"),
            _ => return Err(format!("there is no type hint `{kind}` here")),
        };
        inner.uses.push(module);
        return Ok(Value { code, uses: inner.uses });
    }
    let value = argument(template, scene, depth)?;
    let is_field = matches!(pieces(template, scene, depth)?.as_slice(), [Piece::Code(_)]);
    if is_field && !scene.is_typed && value.code.contains("??") {
        let mut value = value;
        value.uses.push("string");
        return Ok(Value { code: format!("string::to_text({})", value.code), uses: value.uses });
    }
    Ok(value)
}

fn insert(fields: &mut Vec<(String, Field)>, key: &str, code: String) {
    match key.split_once('.').filter(|(head, rest)| !head.is_empty() && !rest.is_empty()) {
        None => {
            fields.retain(|(name, _)| name != key);
            fields.push((key.to_string(), Field::Value(code)));
        }
        Some((head, rest)) => {
            if !fields.iter().any(|(name, field)| name == head && matches!(field, Field::Object(_)))
            {
                fields.retain(|(name, _)| name != head);
                fields.push((head.to_string(), Field::Object(Vec::new())));
            }
            for (name, field) in fields.iter_mut() {
                if let (true, Field::Object(inner)) = (name == head, field) {
                    return insert(inner, rest, code);
                }
            }
        }
    }
}

/// syslog-ng writes names in falling order.
fn sort(fields: &mut [(String, Field)]) {
    fields.sort_by(|(left, _), (right, _)| right.cmp(left));
    for (_, field) in fields {
        if let Field::Object(inner) = field {
            sort(inner);
        }
    }
}

fn written(fields: &[(String, Field)]) -> String {
    let mut out = String::from("{");
    for (at, (key, field)) in fields.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let value = match field {
            Field::Value(code) => code.clone(),
            Field::Object(inner) => written(inner),
        };
        let _ = write!(out, "{comma}{}: {value}", text(key));
    }
    out + "}"
}

fn glob_matches(pattern: &str, text: &str) -> bool {
    glob::Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text))
}

/// The words of a call: blanks part them, quotes and brackets hold them together.
fn words(inside: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut is_word = false;
    let (mut depth, mut quote) = (0_usize, None);
    let mut characters = inside.chars();
    while let Some(one) = characters.next() {
        match (one, quote) {
            ('\\', _) if depth == 0 => {
                is_word = true;
                word.extend(characters.next());
            }
            ('"' | '\'', None) => {
                is_word = true;
                quote = Some(one);
                if depth > 0 {
                    word.push(one);
                }
            }
            (one, Some(opened)) if one == opened => {
                quote = None;
                if depth > 0 {
                    word.push(one);
                }
            }
            ('(', None) => {
                depth += 1;
                is_word = true;
                word.push(one);
            }
            (')', None) => {
                depth = depth.saturating_sub(1);
                word.push(one);
            }
            (one, None) if one.is_whitespace() && depth == 0 => {
                if std::mem::take(&mut is_word) {
                    out.push(std::mem::take(&mut word));
                }
            }
            (one, _) => {
                is_word = true;
                word.push(one);
            }
        }
    }
    if is_word {
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::template::{Scene, expression};

    fn read(template: &str) -> String {
        let scene = Scene { root: "m", dotted: &["json".to_string()], is_typed: false };
        expression(template, scene, 0).map_or_else(|reason| reason, |value| value.code)
    }

    #[test]
    fn json_is_written_in_the_order_of_syslog_ng() {
        assert_eq!(
            read("$(format-json a.b=$HOST a.c='x y' z=int64($PID) --key MSG)"),
            r#"ordered_json({"z": integer::parse_or(m.PID, 0), "a": {"c": "x y", "b": m.HOST}, "MSG": m.MESSAGE})"#
        );
        assert!(read("$(format-json --scope nv-pairs)").contains("record::without(m, ["));
        assert!(read("$(format-json --scope everything)").contains("depends on the version"));
    }

    #[test]
    fn functions_become_those_of_the_library() {
        for (template, wanted) in [
            ("$(substr $HOST 0 3)", r##""#{string::slice(m.HOST, 0, 3)}""##),
            (
                "$(if (\"$HOST\" eq \"a\") b c)",
                r##""#{if (m.HOST == "a") then "b" else "c" end}""##,
            ),
            ("$(+ $PID 1)", r##""#{(integer::parse_or(m.PID, 0) + 1)}""##),
            ("$(lowercase ${x})", r##""#{string::lowercase((m.x ?? ""))}""##),
        ] {
            assert_eq!(read(template), wanted, "{template}");
        }
    }
}
