//! Methods of texts. A method whose name ends in `!` is the one without, see `call`.

use super::{Found1, Given, Machine, Stop, limited, pattern};
use crate::logstash::datum::float_text;
use crate::logstash::filter::{capitalize, leading_float, leading_integer, strip};
use crate::logstash::ruby::value::Value;
use std::sync::Arc;

/// The methods of texts.
pub(super) const NAMES: &[&str] = &[
    "upcase",
    "downcase",
    "capitalize",
    "swapcase",
    "strip",
    "lstrip",
    "rstrip",
    "chomp",
    "chop",
    "length",
    "size",
    "bytesize",
    "reverse",
    "split",
    "gsub",
    "sub",
    "tr",
    "delete",
    "squeeze",
    "count",
    "index",
    "rindex",
    "include?",
    "start_with?",
    "end_with?",
    "empty?",
    "to_i",
    "to_f",
    "to_s",
    "to_str",
    "to_sym",
    "intern",
    "[]",
    "slice",
    "+",
    "*",
    "%",
    "<",
    ">",
    "<=",
    ">=",
    "=~",
    "match",
    "match?",
    "scan",
    "each_char",
    "chars",
    "bytes",
    "each_line",
    "lines",
    "hex",
    "oct",
    "ord",
    "chr",
    "center",
    "ljust",
    "rjust",
    "replace",
    "insert",
    "prepend",
    "clear",
    "concat",
    "<<",
    "force_encoding",
    "encode",
    "unicode_normalize",
    "scrub",
    "valid_encoding?",
    "ascii_only?",
    "partition",
    "rpartition",
    "unpack",
    "unpack1",
    "succ",
    "next",
    "between?",
    "casecmp",
    "casecmp?",
    "delete_prefix",
    "delete_suffix",
    "b",
    "codepoints",
    "each_byte",
    "sum",
    "tr_s",
    "upto",
    "unpack_hex",
    "encoding",
    "dump",
    "crypt",
    "to_c",
    "squish",
    "to_d",
    "slice!",
    "gsub!",
    "sub!",
    "strip!",
    "chomp!",
    "upcase!",
    "downcase!",
    "capitalize!",
    "squeeze!",
    "delete!",
    "tr!",
    "reverse!",
    "lstrip!",
    "rstrip!",
    "chop!",
    "delete_prefix!",
    "delete_suffix!",
    "encode!",
    "scrub!",
    "each_with_index",
    "swapcase!",
    "unicode_normalize!",
];

impl Machine<'_, '_> {
    pub(super) fn text_method(
        &mut self,
        text: &Arc<str>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let Some(found) = simple(text, name, arguments)? {
            return Ok(Some(found));
        }
        if let Some(found) = pieces(text, name, arguments)? {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("split", arguments) => {
                let items = pattern::split(text, arguments)?;
                match given {
                    None => Value::list(items),
                    Some(given) => {
                        for item in items {
                            self.give_to(given, vec![item])?;
                        }
                        Value::Text(text.clone())
                    }
                }
            }
            ("gsub" | "sub", [needle, rest @ ..]) => {
                Value::text(&self.substitute(text, needle, rest, given, name == "gsub")?)
            }
            ("=~", [Value::Regex(pattern, _)]) => {
                let pattern = pattern.clone();
                self.search(&pattern, text)?.map_or(Value::Nil, Value::Int)
            }
            ("match" | "match?", [needle, ..]) => {
                let pattern = pattern::of(needle)?;
                let found = self.search(&pattern, text)?;
                match (name, found, &self.found) {
                    ("match?", found, _) => Value::Bool(found.is_some()),
                    (_, Some(_), Some(found)) => Value::Match(found.clone()),
                    _ => Value::Nil,
                }
            }
            ("scan", [needle]) => self.scan(text, needle, given)?,
            ("[]" | "slice", [Value::Regex(pattern, _), rest @ ..]) => {
                let pattern = pattern.clone();
                self.search(&pattern, text)?;
                match (&self.found, rest) {
                    (None, _) => Value::Nil,
                    (Some(found), []) => pattern::group(found, &Value::Int(0)),
                    (Some(found), [group, ..]) => pattern::group(found, group),
                }
            }
            ("index", [needle @ Value::Regex(..), ..]) => {
                let pattern = pattern::of(needle)?;
                self.search(&pattern, text)?.map_or(Value::Nil, Value::Int)
            }
            ("start_with?", [needle @ Value::Regex(..)]) => {
                let pattern = pattern::of(needle)?;
                Value::Bool(self.search(&pattern, text)? == Some(0))
            }
            ("partition", [needle @ Value::Regex(..)]) => {
                let pattern = pattern::of(needle)?;
                let found = self.search(&pattern, text)?.and(self.found.clone());
                let parts = match found {
                    Some(found) => [
                        Value::Text(found.before.clone()),
                        pattern::group(&found, &Value::Int(0)),
                        Value::Text(found.after.clone()),
                    ],
                    None => [Value::Text(text.clone()), Value::text(""), Value::text("")],
                };
                Value::list(parts.to_vec())
            }
            ("each_char" | "each_line" | "each_byte", []) => {
                let items = match name {
                    "each_char" => characters(text),
                    "each_line" => lines(text),
                    _ => text.bytes().map(|byte| Value::Int(i64::from(byte))).collect(),
                };
                let Some(given) = given else { return Ok(Some(Value::list(items))) };
                for item in items {
                    self.give_to(given, vec![item])?;
                }
                Value::Text(text.clone())
            }
            _ => return Ok(None),
        }))
    }
}

fn whole(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn characters(text: &str) -> Vec<Value> {
    let mut buffer = [0; 4];
    text.chars().map(|character| Value::text(character.encode_utf8(&mut buffer))).collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.split_inclusive('\n').map(Value::text).collect()
}

/// Methods that look at the whole text.
fn simple(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("to_s" | "to_str" | "b", []) => Value::Text(text.clone()),
        ("force_encoding" | "encode" | "unicode_normalize" | "scrub", _) => {
            Value::Text(text.clone())
        }
        ("upcase", _) => Value::text(&text.to_uppercase()),
        ("downcase", _) => Value::text(&text.to_lowercase()),
        ("capitalize", []) => Value::text(&capitalize(text)),
        ("swapcase", []) => {
            let swap = |c: char| match c.is_uppercase() {
                true => c.to_lowercase().collect::<String>(),
                false => c.to_uppercase().collect(),
            };
            Value::text(&text.chars().map(swap).collect::<String>())
        }
        ("strip", []) => Value::text(strip(text)),
        ("lstrip", []) => Value::text(text.trim_start()),
        ("rstrip", []) => Value::text(text.trim_end()),
        ("squish", []) => Value::text(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ("chomp", []) => Value::text(
            text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text),
        ),
        ("chomp" | "delete_suffix", [Value::Text(end)]) => {
            Value::text(text.strip_suffix(&**end).unwrap_or(text))
        }
        ("delete_prefix", [Value::Text(start)]) => {
            Value::text(text.strip_prefix(&**start).unwrap_or(text))
        }
        ("chop", []) => {
            let mut characters = text.chars();
            characters.next_back();
            Value::text(characters.as_str())
        }
        ("length" | "size", []) => whole(text.chars().count()),
        ("bytesize", []) => whole(text.len()),
        ("reverse", []) => Value::text(&text.chars().rev().collect::<String>()),
        ("empty?", []) => Value::Bool(text.is_empty()),
        ("to_i", []) => Value::Int(leading_integer(text)),
        ("to_i", [Value::Int(radix)]) => Value::Int(integer_in(text, *radix)),
        ("hex", []) => Value::Int(integer_in(text, 16)),
        ("oct", []) => Value::Int(integer_in(text, 8)),
        ("to_f" | "to_d", []) => Value::Float(leading_float(text)),
        ("to_sym" | "intern", []) => Value::Symbol(text.clone()),
        ("ord", []) => Value::Int(text.chars().next().map_or(0, |first| first as i64)),
        ("chr", []) => Value::text(&text.chars().take(1).collect::<String>()),
        ("valid_encoding?", []) => Value::Bool(true),
        ("ascii_only?", []) => Value::Bool(text.is_ascii()),
        ("encoding", []) => Value::text("UTF-8"),
        ("+", [Value::Text(other)]) => {
            limited(text.len() + other.len())?;
            Value::text(&format!("{text}{other}"))
        }
        ("+", [other]) => {
            let message = format!("no implicit conversion of {} into String", other.class());
            return Err(Stop::raise("TypeError", message));
        }
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count)
                .map_err(|_| Stop::raise("ArgumentError", "argument must be non-negative"))?;
            limited(text.len().saturating_mul(count))?;
            Value::text(&text.repeat(count))
        }
        ("%", [Value::List(items)]) => Value::text(&format(text, &items.lock().clone())?),
        ("%", [value]) => Value::text(&format(text, std::slice::from_ref(value))?),
        ("<", [Value::Text(other)]) => Value::Bool(**text < **other),
        (">", [Value::Text(other)]) => Value::Bool(**text > **other),
        ("<=", [Value::Text(other)]) => Value::Bool(**text <= **other),
        (">=", [Value::Text(other)]) => Value::Bool(**text >= **other),
        ("between?", [Value::Text(low), Value::Text(high)]) => {
            Value::Bool(**low <= **text && **text <= **high)
        }
        ("casecmp?", [Value::Text(other)]) => {
            Value::Bool(text.to_lowercase() == other.to_lowercase())
        }
        ("casecmp", [Value::Text(other)]) => {
            let (left, right) = (text.to_ascii_lowercase(), other.to_ascii_lowercase());
            Value::Int(left.cmp(&right) as i64)
        }
        ("replace", [Value::Text(other)]) => Value::Text(other.clone()),
        ("prepend", [Value::Text(other)]) => Value::text(&format!("{other}{text}")),
        ("clear", []) => Value::text(""),
        ("insert", [Value::Int(at), Value::Text(other)]) => {
            let length = text.chars().count() as i64;
            let at = if *at < 0 { at + length + 1 } else { *at };
            let at = usize::try_from(at).unwrap_or(0);
            let head: String = text.chars().take(at).collect();
            let tail: String = text.chars().skip(at).collect();
            Value::text(&format!("{head}{other}{tail}"))
        }
        ("succ" | "next", []) => Value::text(&successor(text)),
        _ => return Ok(None),
    }))
}

/// Methods that look at parts of the text.
fn pieces(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("include?", [Value::Text(part)]) => Value::Bool(text.contains(&**part)),
        ("start_with?", parts) if parts.iter().all(|part| matches!(part, Value::Text(_))) => {
            Value::Bool(parts.iter().any(|part| text.starts_with(&part.print())))
        }
        ("end_with?", parts) => Value::Bool(parts.iter().any(|part| text.ends_with(&part.print()))),
        ("chars", []) => Value::list(characters(text)),
        ("lines", []) => Value::list(lines(text)),
        ("bytes", []) => {
            Value::list(text.bytes().map(|byte| Value::Int(i64::from(byte))).collect())
        }
        ("codepoints", []) => Value::list(text.chars().map(|c| Value::Int(c as i64)).collect()),
        ("index", [Value::Text(part)]) => position(text, text.find(&**part)),
        ("index", [Value::Text(part), Value::Int(from)]) => {
            let from = text.char_indices().nth(usize::try_from(*from).unwrap_or(0));
            let from = from.map_or(text.len(), |(at, _)| at);
            position(text, text[from..].find(&**part).map(|at| at + from))
        }
        ("rindex", [Value::Text(part)]) => position(text, text.rfind(&**part)),
        ("partition", [Value::Text(part)]) => {
            let (head, middle, tail) = match text.split_once(&**part) {
                Some((head, tail)) => (head, &**part, tail),
                None => (&**text, "", ""),
            };
            Value::list([head, middle, tail].map(Value::text).to_vec())
        }
        ("rpartition", [Value::Text(part)]) => {
            let (head, middle, tail) = match text.rsplit_once(&**part) {
                Some((head, tail)) => (head, &**part, tail),
                None => ("", "", &**text),
            };
            Value::list([head, middle, tail].map(Value::text).to_vec())
        }
        ("[]" | "slice", [Value::Text(part)]) => match text.contains(&**part) {
            true => Value::Text(part.clone()),
            false => Value::Nil,
        },
        ("[]" | "slice", [Value::Int(at)]) => slice(text, *at, 1, true),
        ("[]" | "slice", [Value::Int(at), Value::Int(length)]) => slice(text, *at, *length, false),
        ("[]" | "slice", [Value::Range(range)]) => {
            let length = text.chars().count() as i64;
            match super::list::bounds(range, length) {
                Some((from, count)) => slice(text, from, count, false),
                None => Value::Nil,
            }
        }
        ("tr", [Value::Text(from), Value::Text(to)]) => Value::text(&translate(text, from, to)),
        ("delete", sets) => {
            let sets: Vec<String> = sets.iter().map(Value::print).collect();
            let kept = |c: &char| !sets.iter().all(|set| CharacterSet::of(set).has(*c));
            Value::text(&text.chars().filter(kept).collect::<String>())
        }
        ("count", sets) => {
            let sets: Vec<String> = sets.iter().map(Value::print).collect();
            let found = |c: &char| sets.iter().all(|set| CharacterSet::of(set).has(*c));
            whole(text.chars().filter(found).count())
        }
        ("squeeze", sets) => {
            let set = sets.first().map(|set| CharacterSet::of(&set.print()));
            let mut out = String::with_capacity(text.len());
            for character in text.chars() {
                let squeezed = set.as_ref().is_none_or(|set| set.has(character));
                if !(squeezed && out.ends_with(character)) {
                    out.push(character);
                }
            }
            Value::text(&out)
        }
        ("ljust" | "rjust" | "center", [Value::Int(width), fill @ ..]) => {
            let fill = fill.first().map_or(" ".to_string(), Value::print);
            let width = usize::try_from(*width).unwrap_or(0);
            limited(width)?;
            Value::text(&pad(text, width, &fill, name))
        }
        ("unpack" | "unpack1", [Value::Text(format)]) => {
            let items = unpack(text.as_bytes(), format)?;
            match name {
                "unpack" => Value::list(items),
                _ => items.into_iter().next().unwrap_or_default(),
            }
        }
        _ => return Ok(None),
    }))
}

/// The place of a byte, in characters.
fn position(text: &str, byte: Option<usize>) -> Value {
    byte.map_or(Value::Nil, |byte| whole(text[..byte].chars().count()))
}

/// `length` characters from `at` on; negative places count from the end.
fn slice(text: &str, at: i64, length: i64, inside: bool) -> Value {
    let all = text.chars().count() as i64;
    let at = if at < 0 { at + all } else { at };
    if at < 0 || at > all || length < 0 || (inside && at == all) {
        return Value::Nil;
    }
    let (at, length) = (at as usize, length as usize);
    Value::text(&text.chars().skip(at).take(length).collect::<String>())
}

/// Ruby's `to_i` with a radix: what stands at the beginning, else 0.
fn integer_in(text: &str, radix: i64) -> i64 {
    let radix = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let text = text.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = match radix {
        16 => text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text),
        2 => text.strip_prefix("0b").unwrap_or(text),
        8 => text.strip_prefix("0o").unwrap_or(text),
        _ => text,
    };
    let mut number = 0_i64;
    for character in text.chars().filter(|character| *character != '_') {
        let Some(digit) = character.to_digit(radix) else { break };
        number = number.saturating_mul(i64::from(radix)).saturating_add(i64::from(digit));
    }
    if negative { -number } else { number }
}

/// `a-z`, `^0-9`
struct CharacterSet {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl CharacterSet {
    fn of(text: &str) -> Self {
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

    fn has(&self, character: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != self.negated
    }

    /// Its characters in order.
    fn all(&self) -> Vec<char> {
        self.ranges.iter().flat_map(|(low, high)| *low..=*high).collect()
    }
}

/// Ruby's `tr`.
fn translate(text: &str, from: &str, to: &str) -> String {
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

fn pad(text: &str, width: usize, fill: &str, how: &str) -> String {
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
fn successor(text: &str) -> String {
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

/// `unpack` of hexadecimal digits, bits and bytes.
fn unpack(bytes: &[u8], format: &str) -> Result<Vec<Value>, Stop> {
    Ok(match format.chars().next() {
        Some('H') => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            vec![Value::text(&hex)]
        }
        Some('B') => {
            let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
            vec![Value::text(&bits)]
        }
        Some('C' | 'c') => bytes.iter().map(|byte| Value::Int(i64::from(*byte))).collect(),
        Some('U') => {
            let text = String::from_utf8_lossy(bytes);
            text.chars().map(|c| Value::Int(i64::from(c as u32))).collect()
        }
        Some('N') => bytes
            .chunks_exact(4)
            .map(|four| {
                Value::Int(four.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)))
            })
            .collect(),
        _ => return Err(Stop::raise("ArgumentError", "this format of unpack is not known")),
    })
}

/// Ruby's `format`.
pub(super) fn format(pattern: &str, values: &[Value]) -> Result<String, Stop> {
    let mut out = String::new();
    let mut values_left = values.iter();
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let mut named = None;
        if let Some(inside) = rest.strip_prefix(['<', '{'])
            && let Some((name, after)) = inside.split_once(['>', '}'])
        {
            named = match values {
                [Value::Hash(hash)] => hash.lock().get(&Value::Symbol(name.into())),
                _ => None,
            };
            if rest.starts_with('{') {
                out.push_str(&named.unwrap_or_default().print());
                rest = after;
                continue;
            }
            rest = after;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        let Some(end) = end else { return Err(Stop::raise("ArgumentError", "incomplete format")) };
        let value = match named {
            Some(value) => value,
            None => values_left
                .next()
                .cloned()
                .ok_or_else(|| Stop::raise("ArgumentError", "too few arguments"))?,
        };
        let kind = rest[end..].chars().next().unwrap_or('s');
        out.push_str(&formatted(&rest[..end], kind, &value)?);
        limited(out.len())?;
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// One value of `format`: flags, width and precision stand in `options`.
fn formatted(options: &str, kind: char, value: &Value) -> Result<String, Stop> {
    let flags_end = options.find(|c: char| !"-+ 0#".contains(c)).unwrap_or(options.len());
    let (flags, size) = options.split_at(flags_end);
    let (width, precision) = match size.split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse::<usize>().unwrap_or(0))),
        None => (size, None),
    };
    let width: usize = width.parse().unwrap_or(0);
    limited(width.saturating_add(precision.unwrap_or(0)))?;
    let wrong =
        || Stop::raise("ArgumentError", format!("invalid value for {kind}: {}", value.inspect()));
    let float = || match value {
        Value::Int(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        Value::Text(text) => text.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let int = || match value {
        Value::Int(number) => Ok(*number),
        Value::Float(number) => Ok(number.floor() as i64),
        Value::Text(text) => text.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let mut text = match kind {
        'd' | 'i' | 'u' => int()?.to_string(),
        'f' => format!("{:.*}", precision.unwrap_or(6), float()?),
        'e' => exponent(float()?, precision.unwrap_or(6)),
        'g' => float_text(float()?).trim_end_matches(".0").to_string(),
        'x' => format!("{:x}", int()?),
        'X' => format!("{:X}", int()?),
        'o' => format!("{:o}", int()?),
        'b' => format!("{:b}", int()?),
        'c' => value.print().chars().take(1).collect(),
        'p' => value.inspect(),
        's' => {
            let text = value.print();
            precision.map_or(text.clone(), |most| text.chars().take(most).collect())
        }
        _ => return Err(wrong()),
    };
    if flags.contains('+') && "dif".contains(kind) && !text.starts_with('-') {
        text.insert(0, '+');
    }
    if text.chars().count() < width {
        text = match (flags.contains('-'), flags.contains('0') && kind != 's') {
            (true, _) => pad(&text, width, " ", "ljust"),
            (false, true) => {
                let (sign, digits) = match text.strip_prefix(['-', '+']) {
                    Some(digits) => (&text[..1], digits),
                    None => ("", text.as_str()),
                };
                format!("{sign}{}", pad(digits, width - sign.len(), "0", "rjust"))
            }
            (false, false) => pad(&text, width, " ", "rjust"),
        };
    }
    Ok(text)
}

fn exponent(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{digits}e{sign}{power:0>2}")
}
