//! The tokens of a stanza: what is replaced in a sample, and where its times are.

use super::Keys;
use crate::rate::Tables;
use crate::replacement::Replacement;
use crate::replay::TimeFormat;
use crate::sample::Token;
use crate::spec::token_of;
use crate::stamp::Stamp;
use regex::bytes::Regex;
use std::path::Path;
use std::sync::Arc;
use temblor_lang::value::{Arena, Value};
use temblor_stdlib::formats::datetime::DateFormat;
use temblor_stdlib::formats::json;

/// What finds a time, and its formats.
pub(super) struct Times {
    pub regex: Regex,
    pub formats: Vec<TimeFormat>,
}

/// How times look that are found without being described (`autotimestamp`), the most special first.
const COMMON_TIMES: [(&str, &str); 9] = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", "%Y-%m-%dT%H:%M:%S.%3f"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "%Y-%m-%dT%H:%M:%S"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "%Y-%m-%d %H:%M:%S"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "%Y/%m/%d %H:%M:%S"),
    (r"\d{1,2}/\w{3}/\d{4}:\d\d:\d\d:\d\d", "%d/%b/%Y:%H:%M:%S"),
    (r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", "%m/%d/%Y %H:%M:%S"),
    (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "%a %b %e %H:%M:%S %Y"),
    (r"\w{3} [ \d]\d \d\d:\d\d:\d\d", "%b %e %H:%M:%S"),
    (r"\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d", "%d-%b-%Y %H:%M:%S"),
];

/// Reads the tokens from 0 up to the first gap in the numbering, and what stands for times.
///
/// # Errors
/// Names the token that is wrong.
pub(super) fn read(
    keys: &mut Keys,
    directory: &Path,
    tables: Tables,
) -> Result<(Vec<Token>, Option<Times>), String> {
    let (mut tokens, mut times) = (Vec::new(), None);
    let (tables, east) = (Arc::new(tables), zone(keys.remove("timezone"))?);
    for number in 0.. {
        let mut part = |name: &str| keys.remove(&format!("token.{number}.{name}"));
        let Some(find) = part("token") else { break };
        let kind = part("replacementType").unwrap_or_else(|| "static".to_string());
        let replacement = part("replacement").unwrap_or_default();
        let failed = |reason: String| format!("token.{number}: {reason}");
        let token = if matches!(kind.as_str(), "timestamp" | "replaytimestamp") {
            let found = Times::new(&find, &replacement, east).map_err(failed)?;
            let token = found.token();
            times.get_or_insert(found);
            token
        } else {
            let replacement = match kind.as_str() {
                "file" | "mvfile" => directory.join(replacement).display().to_string(),
                _ => replacement,
            };
            token_of(&find, &kind, &replacement, &tables).map_err(failed)?
        };
        tokens.push(token);
    }
    if keys.remove("autotimestamp").is_some_and(|text| super::is_true(&text)) {
        let own = keys.remove("autotimestamps").map(|text| pairs(&text)).transpose()?;
        let common =
            COMMON_TIMES.iter().map(|(find, format)| (find.to_string(), format.to_string()));
        for (find, format) in own.unwrap_or_else(|| common.collect()) {
            let format = format!("[{:?}]", format);
            let found =
                Times::new(&find, &format, east).map_err(|e| format!("autotimestamps: {e}"))?;
            tokens.push(found.token());
            times.get_or_insert(found);
        }
    }
    Ok((tokens, times))
}

impl Times {
    /// `format` is one, or a JSON list of several.
    fn new(find: &str, format: &str, east: i64) -> Result<Self, String> {
        let regex = Regex::new(find).map_err(|error| error.to_string())?;
        let formats = list(format).unwrap_or_else(|| vec![format.to_string()]);
        let one = |format: &String| {
            let read = DateFormat::compile(format);
            if !read.is_valid() {
                return Err(format!("`{format}` is no format of times"));
            }
            Ok(TimeFormat { read, restamp: Some(Stamp::new(format)?.east(east)) })
        };
        let formats = formats.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        if formats.is_empty() {
            Err("there is no format".to_string())
        } else {
            Ok(Times { regex, formats })
        }
    }

    /// In a sample the first format writes the time.
    fn token(&self) -> Token {
        let stamp = self.formats.iter().find_map(|format| format.restamp.clone());
        let replacement = stamp.map_or_else(|| Replacement::Static(Vec::new()), Replacement::Time);
        Token { regex: self.regex.clone(), replacement }
    }
}

/// `["a", "b"]`
fn list(text: &str) -> Option<Vec<String>> {
    let arena = Arena::new();
    let parsed = json::parse(text, &arena).ok()?;
    parsed.as_array(&arena)?.iter().map(|item| item.as_str().map(str::to_string)).collect()
}

/// `[["regex", "format"], …]`
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let arena = Arena::new();
    let parsed = json::parse(text, &arena).map_err(|error| format!("autotimestamps: {error}"))?;
    let pair = |pair: &Value<'_>| match pair.as_array(&arena)? {
        [find, format] => Some((find.as_str()?.to_string(), format.as_str()?.to_string())),
        _ => None,
    };
    let pairs = parsed.as_array(&arena).and_then(|list| list.iter().map(pair).collect());
    pairs.ok_or_else(|| "autotimestamps: expected [[\"regex\", \"format\"], …]".to_string())
}

/// Seconds east of Greenwich: `local` (taken as UTC), `0000`, `+0530` or `-0530`.
fn zone(text: Option<String>) -> Result<i64, String> {
    let Some(text) = text.filter(|text| text != "local") else { return Ok(0) };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let bad = || format!("timezone: `{text}` is neither local nor like +0530");
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4).ok_or_else(bad)?;
    let (hours, minutes) = (number / 100, number % 100);
    if hours > 14 || minutes > 59 { Err(bad()) } else { Ok(sign * (hours * 3_600 + minutes * 60)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_time_is_found_and_written() {
        for (find, format) in COMMON_TIMES {
            let mut written = Vec::new();
            Stamp::new(format).unwrap().push(1_772_323_445_067_000_000, &mut written);
            let regex = Regex::new(&format!("^{find}$")).unwrap();
            assert!(regex.is_match(&written), "{format}: {}", String::from_utf8_lossy(&written));
        }
    }

    #[test]
    fn zones_are_read() {
        let zone = |text: &str| zone(Some(text.to_string()));
        assert_eq!(
            [zone("local"), zone("0000"), zone("+0530"), zone("-0100")].map(Result::unwrap),
            [0, 0, 19_800, -3_600]
        );
        for bad in ["", "CET", "+9900", "+530", "0160"] {
            assert!(zone(bad).is_err(), "{bad}");
        }
    }
}
