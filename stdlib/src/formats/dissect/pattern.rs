//! The patterns of [`Dissect`]: from text to scans. Whatever a pattern says about order (which
//! joiner applies, which remembered name is meant) is settled here, once.

use super::{Conversion, Dissect, Step, Target, Until, WithoutPadding};
use crate::formats::delimiter::{Delimiter, unescape};
use std::collections::HashMap;

/// More fields than this in one pattern are a mistake.
const FIELDS_MAX: usize = 4096;

/// A pattern's parts as written.
#[derive(Debug)]
enum Part {
    Literal(String),
    Padding(String),
    Field(Name),
}

#[derive(Debug)]
enum Name {
    /// `%{?name}`, `%{}`
    Skip(String),
    /// `%{name:int}`
    Set(String, Conversion),
    /// `%{+name}`
    Append(String),
    /// `%{&name:int}`
    SetNamed(String, Conversion),
}

impl Dissect {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the pattern, and at which of its bytes.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let parts = parts(pattern)?;
        let fields = parts.iter().filter(|part| matches!(part, Part::Field(_))).count();
        if fields > FIELDS_MAX {
            return Err(format!("{fields} fields are more than the {FIELDS_MAX} allowed"));
        }
        let mut compiler = Compiler {
            remembered: HashMap::new(),
            asked: asked_names(&parts),
            any_named: false,
            joiner: " ".into(),
            out: Dissect { steps: Vec::new(), keys: super::Keys::default(), remembered: 0 },
        };
        compiler.lower(&parts);
        Ok(compiler.out)
    }
}

/// Splits a pattern into literals and `%{…}`.
fn parts(pattern: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut after_field = false;
    let mut at = 0;
    while at < pattern.len() {
        let rest = &pattern[at..];
        let Some(opened) = rest.strip_prefix("%{") else {
            let end = rest.find("%{").unwrap_or(rest.len());
            parts.push(Part::Literal(unescape(&rest[..end])?));
            after_field = false;
            at += end;
            continue;
        };
        let inside = opened
            .find('}')
            .map(|end| &opened[..end])
            .filter(|inside| !inside.contains("%{"))
            .ok_or_else(|| format!("the field at byte {at} has no closing '}}'"))?;
        let part = part(inside, at)?;
        let follower = &opened[inside.len() + 1..];
        match &part {
            Part::Padding(padding) if follower.starts_with(padding.as_str()) => {
                return Err(format!(
                    "the padding at byte {at} is followed by a delimiter that begins with it; \
                     leave the delimiter out"
                ));
            }
            Part::Field(_) if after_field => {
                return Err(format!(
                    "the field at byte {at} follows another without a delimiter between them"
                ));
            }
            _ => {}
        }
        after_field = matches!(part, Part::Field(_));
        parts.push(part);
        at += inside.len() + 3;
    }
    Ok(parts)
}

/// What stands between `%{` and `}`.
fn part(inside: &str, at: usize) -> Result<Part, String> {
    if inside.starts_with('_') {
        return padding(inside, at);
    }
    let name = match inside.chars().next() {
        None => Name::Skip(String::new()),
        Some('?') => Name::Skip(inside[1..].into()),
        Some('+') => Name::Append(inside[1..].into()),
        Some('&') => {
            let (name, conversion) = typed(&inside[1..], at)?;
            Name::SetNamed(name, conversion)
        }
        Some(_) => {
            let (name, conversion) = typed(inside, at)?;
            Name::Set(name, conversion)
        }
    };
    Ok(Part::Field(name))
}

fn padding(inside: &str, at: usize) -> Result<Part, String> {
    if inside == "_" {
        return Ok(Part::Padding(" ".into()));
    }
    inside
        .strip_prefix("_(")
        .and_then(|text| text.strip_suffix(')'))
        .filter(|text| !text.is_empty())
        .map(|text| Part::Padding(text.into()))
        .ok_or_else(|| format!("the padding at byte {at} is neither '%{{_}}' nor '%{{_(text)}}'"))
}

/// `name` or `name:type`.
fn typed(text: &str, at: usize) -> Result<(String, Conversion), String> {
    let Some((name, kind)) = text.split_once(':') else {
        return Ok((text.into(), Conversion::Text));
    };
    let conversion = match kind {
        "string" => Conversion::Text,
        "int" => Conversion::Integer,
        "float" => Conversion::Float,
        _ => {
            return Err(format!(
                "the field at byte {at} has the unknown type '{kind}'; \
                 there are int, float and string"
            ));
        }
    };
    Ok((name.into(), conversion))
}

/// Names of all `%{&name}`.
fn asked_names(parts: &[Part]) -> Vec<String> {
    let named = parts.iter().filter_map(|part| match part {
        Part::Field(Name::SetNamed(name, _)) => Some(name.clone()),
        _ => None,
    });
    named.collect()
}

struct Compiler {
    /// Slots of the `%{?name}` seen so far that no `%{&name}` has used up.
    remembered: HashMap<String, usize>,
    asked: Vec<String>,
    /// Whether a field whose key is known only at run time came before.
    any_named: bool,
    joiner: Box<str>,
    out: Dissect,
}

impl Compiler {
    fn lower(&mut self, parts: &[Part]) {
        let mut parts = parts.iter().peekable();
        while let Some(part) = parts.next() {
            let step = match part {
                Part::Literal(text) => Step::Literal(Delimiter::new(text)),
                Part::Padding(text) => {
                    self.joiner = text.as_str().into();
                    Step::Padding(Delimiter::new(text))
                }
                Part::Field(name) => {
                    let target = self.target(name);
                    let until = until(parts.clone());
                    if matches!(until, Until::Delimiter(_)) {
                        parts.next();
                    }
                    Step::Field { until, target }
                }
            };
            self.out.steps.push(step);
        }
    }

    fn target(&mut self, name: &Name) -> Target {
        match name {
            Name::Skip(name) if self.asked.contains(name) => {
                let slot = self.out.remembered;
                self.out.remembered += 1;
                self.remembered.insert(name.clone(), slot);
                Target::Remember { slot }
            }
            Name::Skip(_) => Target::Skip,
            Name::Set(name, conversion) => {
                let known = self.out.keys.len();
                let key = self.out.keys.number(name);
                let repeated = key < known || self.any_named;
                Target::Set { key, repeated, conversion: *conversion }
            }
            Name::Append(name) => {
                Target::Append { key: self.out.keys.number(name), joiner: self.joiner.clone() }
            }
            Name::SetNamed(name, conversion) => {
                self.any_named = true;
                match self.remembered.remove(name) {
                    Some(slot) => Target::SetNamed { slot, conversion: *conversion },
                    None => Target::Never,
                }
            }
        }
    }
}

/// What ends a field before the given parts.
fn until<'p>(mut following: impl Iterator<Item = &'p Part>) -> Until {
    match following.next() {
        None => Until::End,
        Some(Part::Literal(text)) => Until::Delimiter(Delimiter::new(text)),
        Some(Part::Padding(text)) => {
            let without = match following.next() {
                None => WithoutPadding::End,
                Some(Part::Literal(text)) => WithoutPadding::Delimiter(Delimiter::new(text)),
                Some(_) => WithoutPadding::Never,
            };
            Until::Padding(Delimiter::new(text), without)
        }
        Some(Part::Field(_)) => unreachable!("two fields without a delimiter are no pattern"),
    }
}
