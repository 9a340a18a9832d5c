//! Templates: `"${ISODATE} $HOST $(uppercase $PROGRAM)"` as a Temblor text with expressions in it.

use super::function;
use super::names::{Value, value_of};
use crate::notation::escaped;

/// Templates in templates, at the most.
pub(crate) const TEMPLATE_DEPTH_MAX: usize = 16;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Code(Value),
}

/// What a template may refer to, and how its values are found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'s> {
    /// What stands for the message: `event`, or `m` in a function.
    pub(crate) root: &'s str,
    /// First steps of names that begin with a dot.
    pub(crate) dotted: &'s [String],
    /// Whether values have types: from version 4.0 on.
    pub(crate) is_typed: bool,
}

/// The pieces of a template.
pub(crate) fn pieces(template: &str, scene: Scene<'_>, depth: usize) -> Result<Vec<Piece>, String> {
    if depth > TEMPLATE_DEPTH_MAX {
        return Err(format!(
            "template functions stand in each other more than {TEMPLATE_DEPTH_MAX} deep"
        ));
    }
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('$') {
        plain.push_str(before);
        let Some(next) = behind.chars().next() else {
            plain.push('$');
            rest = "";
            break;
        };
        let (code, remaining) = match next {
            '$' => {
                plain.push('$');
                rest = &behind[1..];
                continue;
            }
            '{' => {
                let (inside, remaining) =
                    behind[1..].split_once('}').ok_or("a `${` is never closed")?;
                let (name, otherwise) = inside.split_once(":-").unwrap_or((inside, ""));
                if name.contains('@') && !name.starts_with(".SDATA") {
                    return Err("values of other messages of a context are not kept".to_string());
                }
                (value_of(scene.root, name, otherwise)?, remaining)
            }
            '(' => {
                let length = call_length(behind).ok_or("a `$(` is never closed")?;
                let value = function::call(&behind[1..length - 1], scene, depth + 1)?;
                (value, &behind[length..])
            }
            one if one.is_ascii_alphanumeric() || one == '_' => {
                let end = behind.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
                let (name, remaining) = behind.split_at(end.unwrap_or(behind.len()));
                (value_of(scene.root, name, "")?, remaining)
            }
            _ => {
                plain.push('$');
                rest = behind;
                continue;
            }
        };
        if !plain.is_empty() {
            out.push(Piece::Text(std::mem::take(&mut plain)));
        }
        out.push(Piece::Code(code));
        rest = remaining;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        out.push(Piece::Text(plain));
    }
    Ok(out)
}

/// How long `(f "a)" $(b))` is, with its brackets.
fn call_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut characters = text.char_indices();
    while let Some((at, one)) = characters.next() {
        match (one, quote) {
            ('\\', _) => {
                characters.next();
            }
            ('"' | '\'', None) => quote = Some(one),
            (one, Some(opened)) if one == opened => quote = None,
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text of a template as a Temblor expression.
pub(crate) fn expression(template: &str, scene: Scene<'_>, depth: usize) -> Result<Value, String> {
    Ok(joined(&pieces(template, scene, depth)?))
}

/// Pieces as one text.
pub(crate) fn joined(pieces: &[Piece]) -> Value {
    let mut uses = Vec::new();
    if let [Piece::Text(text)] = pieces {
        return Value::new(crate::notation::text(text));
    }
    if let [Piece::Code(value)] = pieces
        && value.code.starts_with("ordered_json(")
    {
        return value.clone();
    }
    let mut code = String::from("\"");
    for piece in pieces {
        match piece {
            Piece::Text(text) => code.push_str(&escaped(text)),
            Piece::Code(value) => {
                uses.extend(&value.uses);
                code.push_str(&format!("#{{{}}}", value.code));
            }
        }
    }
    code.push('"');
    Value { code, uses }
}

/// As an argument of a function, where a single value need not be put into a text.
pub(crate) fn argument(template: &str, scene: Scene<'_>, depth: usize) -> Result<Value, String> {
    let pieces = pieces(template, scene, depth)?;
    match pieces.as_slice() {
        [Piece::Code(value)] => Ok(value.clone()),
        _ => Ok(joined(&pieces)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scene, expression};

    fn read(template: &str) -> Result<String, String> {
        let scene = Scene { root: "m", dotted: &[], is_typed: false };
        expression(template, scene, 0).map(|value| value.code)
    }

    #[test]
    fn templates_become_texts() {
        for (template, wanted) in [
            ("$HOST: ${MSG}\n", r##""#{m.HOST}: #{m.MESSAGE}\n""##),
            ("$$5 #{x}", r##""$5 \#{x}""##),
            ("${.json.a:-none}", r##""#{m.json.a ?? "none"}""##),
            ("$(uppercase $PROGRAM)", r##""#{string::uppercase(m.PROGRAM)}""##),
            ("${ISODATE}", r##""#{datetime::format(m.STAMP, "%Y-%m-%dT%H:%M:%S%:z")}""##),
        ] {
            assert_eq!(read(template).as_deref(), Ok(wanted), "{template}");
        }
        assert!(read("${HOST").is_err());
        assert!(read("$(uppercase $HOST").is_err());
        assert!(read("$(nosuch a)").is_err());
    }
}
