//! `URI.parse`, and the parts of what it gives (RFC 3986, section 3).

use super::{Answer, Stop};
use crate::heap::Heap;
use crate::run::methods::{Methods, takes};
use crate::value::Value;

/// The parts, by the names of their methods.
const PARTS: &[&str] = &[
    "scheme", "userinfo", "user", "password", "host", "hostname", "port", "path", "query",
    "fragment",
];

/// The methods of addresses of pages: their parts.
pub(super) const METHODS: &[Methods] = &[takes(0, 0, PARTS), takes(0, 0, &["query_values"])];

/// Characters that have no place in an address.
const REFUSED: &[char] = &[' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'];

/// `Addressable::URI.parse(text)`: whatever the text, and a port only where it stands there.
pub(super) fn addressable(heap: &Heap, arguments: &[Value]) -> Answer {
    let text = match arguments {
        [Value::Text(text)] => text.str(heap).to_string(),
        [Value::Nil] => return Ok(Value::Nil),
        _ => {
            let message = "Can't convert this into String.";
            return Err(Stop::raise("TypeError", message));
        }
    };
    let (parts, _) = parts_of(heap, &text, false);
    let query = cut(cut(&text, '#').0, '?').1;
    let decoded = |part: &str| heap.text(&super::module::decoded(&part.replace('+', " ")));
    let values = query.map_or(Value::Nil, |query| {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| match cut(pair, '=') {
            (name, Some(value)) => (decoded(name), decoded(value)),
            (name, None) => (decoded(name), Value::Nil),
        });
        heap.hash(pairs.collect::<Vec<_>>())
    });
    let mut fields = fields_of(heap, parts, &text);
    fields.push((Value::Symbol("query_values".into()), values));
    Ok(super::library::object(heap, "Addressable::URI", fields))
}

/// `URI.parse(text)`
pub(super) fn parse(heap: &Heap, text: &str) -> Answer {
    let refused = |c: char| REFUSED.contains(&c) || !c.is_ascii() || c.is_control();
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = first.split_once(':').is_some_and(|(scheme, _)| !is_scheme(scheme));
    if text.contains(refused) || is_odd || super::module::has_bad_escape(text) {
        let message = format!("bad URI(is not URI?): {text:?}");
        return Err(Stop::raise("URI::InvalidURIError", message));
    }
    let (parts, scheme) = parts_of(heap, text, true);
    let class = match scheme.as_deref() {
        Some("http") => "URI::HTTP",
        Some("https") => "URI::HTTPS",
        Some("ftp") => "URI::FTP",
        Some("ldap") => "URI::LDAP",
        Some("mailto") => "URI::MailTo",
        Some("file") => "URI::File",
        Some("ws") => "URI::WS",
        Some("wss") => "URI::WSS",
        _ => "URI::Generic",
    };
    Ok(super::library::object(heap, class, fields_of(heap, parts, text)))
}

/// The parts as fields of an object.
fn fields_of(heap: &Heap, parts: [Value; 10], text: &str) -> Vec<(Value, Value)> {
    let names = PARTS.iter().map(|name| Value::Symbol((*name).into()));
    let mut fields: Vec<_> = names.zip(parts).collect();
    fields.push((Value::Symbol("to_s".into()), heap.text(text)));
    fields
}

/// The parts of an address, and its scheme; with `usual`, the port and the path are those that the scheme has.
fn parts_of(heap: &Heap, text: &str, usual: bool) -> ([Value; 10], Option<String>) {
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
    let default = match scheme.as_deref().filter(|_| usual) {
        Some("http" | "ws") => Some(80),
        Some("https" | "wss") => Some(443),
        Some("ftp") => Some(21),
        Some("ldap") => Some(389),
        _ => None,
    };
    let text = |part: Option<&str>| part.map_or(Value::Nil, |one| heap.text(one));
    let filled = |part| Some(part).filter(|part: &&str| !part.is_empty());
    let parts = [
        text(scheme.as_deref()),
        text(userinfo),
        text(userinfo.map(|pair| cut(pair, ':').0)),
        text(userinfo.and_then(|pair| cut(pair, ':').1)),
        text(filled(host)),
        text(filled(host.trim_matches(['[', ']']))),
        port.or(default).map_or(Value::Nil, Value::Int),
        // The path of `ftp` is relative to where one arrives.
        heap.text(match scheme.as_deref() {
            Some("ftp") if usual => path.strip_prefix('/').unwrap_or(path),
            _ => path,
        }),
        text(query),
        text(fragment),
    ];
    (parts, scheme)
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}
