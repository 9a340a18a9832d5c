//! `URI.parse`, and the parts of what it gives (RFC 3986, section 3), which is kept as a hash of symbols.

use super::{Answer, Stop};
use crate::logstash::ruby::value::Value;

/// The parts, by the names of their methods.
pub(super) const NAMES: &[&str] = &[
    "scheme", "userinfo", "user", "password", "host", "hostname", "port", "path", "query",
    "fragment",
];

/// Characters that have no place in an address.
const REFUSED: &[char] = &[' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'];

/// `URI.parse(text)`
pub(super) fn parse(text: &str) -> Answer {
    let refused = |c: char| REFUSED.contains(&c) || !c.is_ascii() || c.is_control();
    if text.contains(refused) || text.starts_with(':') {
        let message = format!("bad URI(is not URI?): {text:?}");
        return Err(Stop::raise("URI::InvalidURIError", message));
    }
    let (rest, fragment) = cut(text, '#');
    let (rest, query) = cut(rest, '?');
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme.to_lowercase()), rest),
        _ => (None, rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let (userinfo, place) = match authority.rsplit_once('@') {
        Some((userinfo, place)) => (Some(userinfo), place),
        None => (None, authority),
    };
    // Colons in brackets belong to an address of IPv6.
    let (host, port) = match place.rfind(':').filter(|at| !place[*at..].contains(']')) {
        Some(at) => (&place[..at], place[at + 1..].parse().ok()),
        None => (place, None),
    };
    let default = match scheme.as_deref() {
        Some("http" | "ws") => Some(80),
        Some("https" | "wss") => Some(443),
        Some("ftp") => Some(21),
        Some("ldap") => Some(389),
        _ => None,
    };
    let text = |part: Option<&str>| part.map_or(Value::Nil, Value::text);
    let filled = |part| Some(part).filter(|part: &&str| !part.is_empty());
    let parts = [
        text(scheme.as_deref()),
        text(userinfo),
        text(userinfo.map(|pair| cut(pair, ':').0)),
        text(userinfo.and_then(|pair| cut(pair, ':').1)),
        text(filled(host)),
        text(filled(host.trim_matches(['[', ']']))),
        port.or(default).map_or(Value::Nil, Value::Int),
        Value::text(path),
        text(query),
        text(fragment),
    ];
    let names = NAMES.iter().map(|name| Value::Symbol((*name).into()));
    Ok(Value::hash(names.zip(parts)))
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}
