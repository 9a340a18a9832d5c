//! `std::user_agent`: what a browser says of itself. The tables are small and our own: they know
//! the families that make up nearly all traffic, and say `Other` to the rest. The order of a table
//! matters, since browsers name those that they resemble.

use crate::declare::{Outcome, Params, pure, text};
use temblor_lang::builtin::{Call, Function};
use temblor_lang::value::Kind::{Bool, Record};
use temblor_lang::value::{Kind, Value};

const TEXT: Params = &[("text", Kind::String)];

/// Families of browsers and the word before the version that tells them.
const BROWSERS: &[(&str, &str)] = &[
    ("Edge", "Edg/"),
    ("Edge", "EdgA/"),
    ("Edge", "EdgiOS/"),
    ("Edge", "Edge/"),
    ("Opera", "OPR/"),
    ("Opera", "Opera/"),
    ("Samsung Internet", "SamsungBrowser/"),
    ("Vivaldi", "Vivaldi/"),
    ("Yandex Browser", "YaBrowser/"),
    ("UC Browser", "UCBrowser/"),
    ("Firefox", "FxiOS/"),
    ("Firefox", "Firefox/"),
    ("Chrome", "CriOS/"),
    ("Chrome", "HeadlessChrome/"),
    ("Chrome", "Chrome/"),
    ("Safari", "Version/"),
    ("Internet Explorer", "MSIE "),
    ("Internet Explorer", "rv:"),
    ("curl", "curl/"),
    ("Wget", "Wget/"),
    ("Go http client", "Go-http-client/"),
    ("Python requests", "python-requests/"),
    ("okhttp", "okhttp/"),
    ("Java", "Java/"),
];

/// Systems and a word that tells them, with what stands before their version.
const SYSTEMS: &[(&str, &str, &str)] = &[
    ("Windows", "Windows NT", "Windows NT "),
    ("Windows Phone", "Windows Phone", "Windows Phone "),
    ("iOS", "iPhone", "iPhone OS "),
    ("iOS", "iPad", "CPU OS "),
    ("Android", "Android", "Android "),
    ("macOS", "Mac OS X", "Mac OS X "),
    ("Chrome OS", "CrOS", ""),
    ("Linux", "Linux", ""),
    ("FreeBSD", "FreeBSD", ""),
];

/// Words in lower case that tell programs from people.
const ROBOTS: &[&str] = &[
    "bot",
    "crawl",
    "spider",
    "slurp",
    "facebookexternalhit",
    "monitor",
    "curl/",
    "wget/",
    "python-",
    "go-http-client",
    "java/",
    "okhttp",
    "headless",
    "scrapy",
    "httpclient",
];

/// The functions of this module.
pub static FUNCTIONS: &[Function] = &[
    pure(
        "std::user_agent::parse",
        TEXT,
        Record,
        "A record of `browser` (`family` and `version`), `os` (`family` and `version`), `device` \
         (`desktop`, `mobile`, `tablet`, `robot` or `other`) and `is_robot`. Families that are not \
         known are `Other`; versions that are not said are `null`.",
        &[
            r#"user_agent::parse("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36") == {"browser": {"family": "Chrome", "version": "120.0.0.0"}, "os": {"family": "Windows", "version": "10.0"}, "device": "desktop", "is_robot": false}"#,
        ],
        parse,
    ),
    pure(
        "std::user_agent::is_robot",
        TEXT,
        Bool,
        "Whether the text looks like that of a program: a crawler, a monitor or a library.",
        &[
            r#"user_agent::is_robot("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")"#,
            r#"user_agent::is_robot("curl/8.0.1")"#,
        ],
        |_, arguments| Ok(Value::Bool(is_robot(text(arguments, 0)?))),
    ),
];

fn parse<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    let (browser, browser_version) = browser(text);
    let (system, system_version) = system(call, text);
    let family = |family: &'static str, version: Option<&'a str>| {
        let mut record = call.arena.record_builder(2);
        record.append("family", Value::Str(family));
        record.append("version", version.map_or(Value::Null, Value::Str));
        record.finish()
    };
    let mut record = call.arena.record_builder(4);
    record.append("browser", family(browser, browser_version));
    record.append("os", family(system, system_version));
    record.append("device", Value::Str(device(text, system)));
    record.append("is_robot", Value::Bool(is_robot(text)));
    Ok(record.finish())
}

fn browser(text: &str) -> (&'static str, Option<&str>) {
    let found = BROWSERS.iter().find_map(|(family, mark)| {
        let is_likely = match *mark {
            "Version/" => text.contains("Safari/"),
            "rv:" => text.contains("Trident/"),
            _ => true,
        };
        let at = text.find(mark).filter(|_| is_likely)?;
        Some((*family, version(&text[at + mark.len()..])))
    });
    found.unwrap_or(("Other", None))
}

fn system<'a>(call: &Call<'a>, text: &'a str) -> (&'static str, Option<&'a str>) {
    let Some((family, _, before)) = SYSTEMS.iter().find(|(_, mark, _)| text.contains(mark)) else {
        return ("Other", None);
    };
    let at = text.find(before).filter(|_| !before.is_empty());
    let version = at.and_then(|at| version(&text[at + before.len()..]));
    // Apple writes its versions with underscores.
    let version = version.map(|version| match version.contains('_') {
        true => &*call.arena.bump().alloc_str(&version.replace('_', ".")),
        false => version,
    });
    (family, version)
}

/// The digits, points and underscores that the text begins with.
fn version(text: &str) -> Option<&str> {
    let is_part = |character: char| character.is_ascii_digit() || "._".contains(character);
    let version = &text[..text.find(|other| !is_part(other)).unwrap_or(text.len())];
    Some(version.trim_end_matches(['.', '_'])).filter(|version| !version.is_empty())
}

fn device(text: &str, system: &str) -> &'static str {
    if is_robot(text) {
        return "robot";
    }
    let is_small = text.contains("Mobile");
    match system {
        _ if text.contains("iPad") || text.contains("Tablet") => "tablet",
        "Android" if !is_small => "tablet",
        "Android" | "iOS" | "Windows Phone" => "mobile",
        "Other" if is_small => "mobile",
        "Other" => "other",
        _ => "desktop",
    }
}

fn is_robot(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ROBOTS.iter().any(|word| lower.contains(word))
}
