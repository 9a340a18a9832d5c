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
pub(super) const METHODS: &[Methods] = &[takes(0, 0, PARTS)];

/// Characters that have no place in an address.
const REFUSED: &[char] = &[' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'];

/// `URI.parse(text)`
pub(super) fn parse(heap: &Heap, text: &str) -> Answer {
    let text_of = text;
    let refused = |c: char| REFUSED.contains(&c) || !c.is_ascii() || c.is_control();
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = first.split_once(':').is_some_and(|(scheme, _)| !is_scheme(scheme));
    if text.contains(refused) || is_odd || super::module::has_bad_escape(text) {
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
            Some("ftp") => path.strip_prefix('/').unwrap_or(path),
            _ => path,
        }),
        text(query),
        text(fragment),
    ];
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
    let names = PARTS.iter().map(|name| Value::Symbol((*name).into()));
    let mut fields: Vec<_> = names.zip(parts).collect();
    fields.push((Value::Symbol("to_s".into()), heap.text(text_of)));
    Ok(super::library::object(heap, class, fields))
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}
