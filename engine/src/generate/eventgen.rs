//! Reads Splunk Eventgen's `eventgen.conf`: stanzas become specs.
//!
//! Invariant: what is not understood is named, never passed over in silence.

use super::rate::{Rate, Tables};
use super::sample::Token;
use super::spec::{Kind, ReplayParts, SampleParts, Spec, read_file, token_of};
use crate::graph::parse_duration;
use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use temblor_stdlib::formats::datetime::DateFormat;

/// A stanza as a spec, and what of it has no counterpart.
#[derive(Clone, Debug)]
pub struct Stanza {
    /// What stands between the brackets: the name of a sample file.
    pub name: String,
    /// What it asks for.
    pub spec: Spec,
    /// Keys that have no effect here.
    pub ignored: Vec<String>,
}

type Keys = BTreeMap<String, String>;

/// What finds a time, and its format.
type Times = (String, String);

/// Reads a configuration; sample files are looked for in `directory` unless the stanza says otherwise.
///
/// # Errors
/// Names the stanza and the key that is wrong.
pub fn read(text: &str, directory: &Path) -> Result<Vec<Stanza>, String> {
    let (global, stanzas) = parse(text)?;
    let stanza = |(name, own): (String, Keys)| {
        let mut keys = global.clone();
        keys.extend(own);
        stanza(&name, keys, directory).map_err(|reason| format!("[{name}]: {reason}"))
    };
    stanzas.into_iter().map(stanza).collect()
}

fn parse(text: &str) -> Result<(Keys, Vec<(String, Keys)>), String> {
    let (mut global, mut stanzas) = (Keys::new(), Vec::<(String, Keys)>::new());
    let mut in_global = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            in_global = matches!(name, "global" | "default");
            if !in_global {
                stanzas.push((name.to_string(), Keys::new()));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("line {}: expected `key = value`", number + 1));
        };
        let keys = match stanzas.last_mut() {
            Some((_, keys)) if !in_global => keys,
            _ => &mut global,
        };
        keys.insert(key.trim().to_string(), value.trim().to_string());
    }
    Ok((global, stanzas))
}

fn stanza(name: &str, mut keys: Keys, directory: &Path) -> Result<Stanza, String> {
    let mut take = |key: &str| keys.remove(key);
    let interval = take("interval").map_or(Ok(60.0), |text| number("interval", &text))?;
    let count = take("count").map_or(Ok(0.0), |text| number("count", &text))?;
    let volume = take("perDayVolume").map(|text| number("perDayVolume", &text)).transpose()?;
    let end = take("end").map(|text| number("end", &text)).transpose()?;
    let mut spec = Spec {
        jitter: take("randomizeCount").map_or(Ok(0.0), |text| number("randomizeCount", &text))?,
        backfill_ns: take("backfill").map_or(Ok(0), |text| relative(&text))?,
        tables: Tables {
            hours: table(take("hourOfDayRate"))?,
            weekdays: table(take("dayOfWeekRate"))?,
            minutes: table(take("minuteOfHourRate"))?,
            days: table(take("dayOfMonthRate"))?,
            months: table(take("monthOfYearRate"))?,
        },
        ..Spec::default()
    };
    let directory = take("sampleDir").map_or(directory.to_path_buf(), |dir| directory.join(dir));
    let is_replay = take("mode").is_some_and(|mode| mode == "replay");
    let slowness = take("timeMultiple").map_or(Ok(1.0), |text| number("timeMultiple", &text))?;
    let generator = take("generator").unwrap_or_default();
    let breaker = take("breaker").map(|text| Regex::new(&text)).transpose();
    let breaker = breaker.map_err(|error| format!("breaker: {error}"))?;
    let shuffle = take("randomizeEvents").is_some_and(|text| matches!(text.as_str(), "true" | "1"));
    let path = directory.join(name);
    let mut sample_events = 0.0;
    spec.kind = match generator.as_str() {
        "windbag" => Kind::Windbag,
        "weblog" => Kind::Weblog,
        _ => {
            let (tokens, times) = tokens(&mut keys, &directory)?;
            if is_replay {
                Kind::Replay(Arc::new(replay(path, times, slowness)?))
            } else {
                let text = read_file(&path)?;
                sample_events = text.iter().filter(|byte| **byte == b'\n').count().max(1) as f64;
                Kind::Sample(Arc::new(SampleParts { text, breaker, tokens, shuffle }))
            }
        }
    };
    // `count` 0 means the whole sample once an interval.
    let batch = if count > 0.0 { count } else { sample_events.max(1.0) };
    spec.rate = match volume {
        _ if is_replay => Rate::Unlimited,
        Some(gigabytes) => Rate::Bytes(gigabytes * 1e9 / 86_400.0),
        None if interval > 0.0 => Rate::Events(batch / interval),
        None => Rate::Unlimited,
    };
    spec.count = end.filter(|end| *end >= 0.0).map(|end| (end * batch) as u64);
    Ok(Stanza { name: name.to_string(), spec, ignored: keys.into_keys().collect() })
}

/// The tokens from 0 up to the first gap in the numbering, and the first that is a time.
fn tokens(keys: &mut Keys, directory: &Path) -> Result<(Vec<Token>, Option<Times>), String> {
    let (mut tokens, mut times) = (Vec::new(), None);
    for number in 0.. {
        let mut part = |name: &str| keys.remove(&format!("token.{number}.{name}"));
        let Some(find) = part("token") else { break };
        let kind = part("replacementType").unwrap_or_else(|| "static".to_string());
        let mut replacement = part("replacement").unwrap_or_default();
        if matches!(kind.as_str(), "file" | "mvfile") {
            replacement = directory.join(replacement).display().to_string();
        }
        if matches!(kind.as_str(), "timestamp" | "replaytimestamp") && times.is_none() {
            times = Some((find.clone(), replacement.clone()));
        }
        let token = token_of(&find, &kind, &replacement);
        tokens.push(token.map_err(|reason| format!("token.{number}: {reason}"))?);
    }
    Ok((tokens, times))
}

fn replay(
    file: std::path::PathBuf,
    times: Option<Times>,
    slowness: f64,
) -> Result<ReplayParts, String> {
    let (find, format) =
        times.ok_or("replay needs a token of type timestamp or replaytimestamp")?;
    Ok(ReplayParts {
        file,
        regex: Regex::new(&find).map_err(|error| error.to_string())?,
        restamp: Some(super::stamp::Stamp::new(&format)?),
        format: DateFormat::compile(&format),
        slowness,
    })
}

fn number(key: &str, text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{key}: `{text}` is no number"))
}

/// `-15m`, `-2h`: how far back.
fn relative(text: &str) -> Result<u64, String> {
    parse_duration(text.trim_start_matches('-'))
        .ok_or_else(|| format!("backfill: `{text}` is no relative time such as -15m"))
}

/// `{"0": 0.3, "9": 2}`
fn table(text: Option<String>) -> Result<Vec<(u64, f64)>, String> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    let entry = |entry: &str| {
        let (key, factor) = entry.split_once(':')?;
        Some((key.trim().trim_matches('"').parse().ok()?, factor.trim().parse().ok()?))
    };
    let entries: Option<Vec<_>> =
        inside.split(',').filter(|entry| !entry.trim().is_empty()).map(entry).collect();
    entries.ok_or_else(|| format!("`{text}` is no table such as {{\"9\": 2.5}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanzas_become_specs() {
        let directory =
            std::env::temp_dir().join(format!("temblor-eventgen-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("a.sample"), "T user=U\nT user=U\n").unwrap();
        let text = "[global]\nrandomizeCount = 0.1\n# note\n[a.sample]\ninterval = 10\ncount = 50\n\
                    hourOfDayRate = {\"0\": 0.5, \"9\": 2}\nbackfill = -15m\nend = 3\n\
                    token.0.token = ^T\ntoken.0.replacementType = timestamp\ntoken.0.replacement = %H:%M:%S\n\
                    token.1.token = user=(U)\ntoken.1.replacementType = random\ntoken.1.replacement = integer[1:9]\n\
                    outputMode = stdout\n[b]\ngenerator = windbag\nperDayVolume = 8.64\n";
        let stanzas = read(text, &directory).unwrap();
        let [a, b] = &stanzas[..] else { panic!("two stanzas") };
        assert_eq!(a.spec.rate, Rate::Events(5.0));
        assert_eq!((a.spec.count, a.spec.jitter), (Some(150), 0.1));
        assert_eq!(a.spec.backfill_ns, 900_000_000_000);
        assert_eq!(a.spec.tables.hours, [(0, 0.5), (9, 2.0)]);
        assert_eq!(a.ignored, ["outputMode"]);
        assert_eq!(b.spec.rate, Rate::Bytes(100_000.0));
        let mut stream = super::super::Stream::open(&a.spec, 1_000_000_000_000).unwrap();
        let mut out = Vec::new();
        let filled = stream.fill(&mut out, u64::MAX, usize::MAX).unwrap();
        assert_eq!((filled.events, filled.next), (150, None));
        let line = String::from_utf8(out).unwrap().lines().next().unwrap().to_string();
        assert!(line.starts_with("00:01:40 user=") && line.len() == 15, "{line}");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named() {
        let read = |text: &str| read(text, Path::new("/nowhere")).unwrap_err();
        assert!(read("[x]\nnonsense").contains("line 2"));
        assert!(read("[x]\ncount = many").contains("count"));
        assert!(read("[x]\ngenerator = windbag\nhourOfDayRate = {9}").contains("table"));
        assert!(read("[x.sample]").contains("/nowhere/x.sample"));
    }
}
