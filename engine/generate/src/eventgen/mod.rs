//! Reads Splunk Eventgen's `eventgen.conf`: stanzas become specs.
//!
//! Invariant: what is not understood is named, never passed over in silence.

mod sample;
mod tokens;

use super::rate::{Rate, Tables};
use super::replay::{Clockwork, Rounds};
use super::sample::{SampleParts, cut};
use super::spec::{Kind, ReplayParts, Spec, read_file};
use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::units::parse_duration;
use tokens::Times;

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

/// Part by which counts differ when a stanza does not say.
const RANDOMIZE_COUNT: f64 = 0.2;
/// Seconds between the runs of a stanza that does not say.
const INTERVAL_S: f64 = 60.0;

/// Reads a configuration; sample files are looked for in `directory` unless the stanza says otherwise.
///
/// # Errors
/// Names the stanza and the key that is wrong.
pub fn read(text: &str, directory: &Path) -> Result<Vec<Stanza>, String> {
    let (global, stanzas) = parse(text)?;
    let mut read = Vec::new();
    for (name, own) in stanzas {
        let mut keys = global.clone();
        keys.extend(own);
        let found = stanza(&name, keys, directory);
        read.extend(found.map_err(|reason| format!("[{name}]: {reason}"))?);
    }
    Ok(read)
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

/// One spec for each sample file; none when the stanza is switched off.
fn stanza(name: &str, mut keys: Keys, directory: &Path) -> Result<Vec<Stanza>, String> {
    let amount = Amount::take(&mut keys)?;
    if keys.remove("disabled").is_some_and(|text| is_true(&text)) || amount.is_off() {
        return Ok(Vec::new());
    }
    let is_replay = keys.remove("mode").is_some_and(|mode| mode == "replay");
    let base = Spec { tables: tables(&mut keys)?, ..amount.spec(&mut keys)? };
    let directory =
        keys.remove("sampleDir").map_or(directory.to_path_buf(), |own| directory.join(own));
    let plain = match keys.remove("generator").as_deref() {
        Some("windbag") => Some(Kind::Windbag),
        Some("weblog") => Some(Kind::Weblog),
        None | Some("default" | "" | "replay" | "perdayvolume" | "perdayvolumegenerator") => None,
        Some(other) => {
            let known = "default, replay, perdayvolume, weblog, windbag";
            return Err(format!("there is no generator `{other}` here; known are {known}"));
        }
    };
    if let Some(kind) = plain {
        let spec = amount.paced(Spec { kind, ..base }, 1.0);
        return Ok(vec![Stanza {
            name: name.to_string(),
            spec,
            ignored: keys.into_keys().collect(),
        }]);
    }
    let slowness =
        keys.remove("timeMultiple").map_or(Ok(1.0), |text| number("timeMultiple", &text))?;
    let window = (around(&mut keys, "earliest")?, around(&mut keys, "latest")?);
    let (tokens, times) = tokens::read(&mut keys, &directory, base.tables.clone())?;
    let cutter = Cutter::take(&mut keys)?;
    let shuffle = keys.remove("randomizeEvents").is_some_and(|text| is_true(&text));
    let ignored: Vec<String> = keys.into_keys().collect();
    let sampled = |path: PathBuf| {
        let parts = if is_replay {
            return replay(path, times.as_ref(), slowness, &amount).map(|kind| Spec {
                kind,
                rate: Rate::Unlimited,
                jitter: 0.0,
                ..base.clone()
            });
        } else {
            let events = cutter.events(&path)?;
            SampleParts { events, tokens: tokens.clone(), shuffle, window }
        };
        let events = parts.events.len().max(1) as f64;
        Ok(amount.paced(Spec { kind: Kind::Sample(Arc::new(parts)), ..base.clone() }, events))
    };
    let named = |path: PathBuf| {
        let name = path.file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
        Ok(Stanza { name, spec: sampled(path)?, ignored: ignored.clone() })
    };
    sample::files(name, &directory)?.into_iter().map(named).collect()
}

/// How much a stanza asks for, and how often.
struct Amount {
    interval_s: f64,
    count: f64,
    gigabytes_per_day: Option<f64>,
    /// Intervals; without it for ever.
    end: Option<f64>,
}

impl Amount {
    fn take(keys: &mut Keys) -> Result<Self, String> {
        let mut take = |key: &str| keys.remove(key).map(|text| number(key, &text)).transpose();
        Ok(Amount {
            interval_s: take("interval")?.unwrap_or(INTERVAL_S),
            count: take("count")?.unwrap_or(0.0),
            gigabytes_per_day: take("perDayVolume")?,
            end: take("end")?.filter(|end| *end >= 0.0),
        })
    }

    fn is_off(&self) -> bool {
        self.interval_s <= 0.0 || self.end == Some(0.0)
    }

    fn spec(&self, keys: &mut Keys) -> Result<Spec, String> {
        let mut take = |key: &str| keys.remove(key).map(|text| number(key, &text)).transpose();
        let wait_s = take("delay")?.unwrap_or(0.0).max(0.0);
        let jitter = take("randomizeCount")?.unwrap_or(RANDOMIZE_COUNT).clamp(0.0, 1.0);
        let backfill_ns = around(keys, "backfill")?;
        Ok(Spec { jitter, backfill_ns, wait_ns: (wait_s * 1e9) as u64, ..Spec::default() })
    }

    /// The pace of a sample with so many events: a `count` of 0 means all of it once an interval.
    fn paced(&self, spec: Spec, sample_events: f64) -> Spec {
        let batch = if self.count > 0.0 { self.count } else { sample_events };
        let rate = match self.gigabytes_per_day {
            Some(gigabytes) => Rate::Bytes(gigabytes * 1e9 / 86_400.0),
            None => Rate::Events(batch / self.interval_s),
        };
        Spec { rate, count: self.end.map(|end| (end * batch) as u64), ..spec }
    }
}

/// How a sample file becomes events.
struct Cutter {
    breaker: Option<Regex>,
    is_csv: bool,
    /// Whether the whole sample is one event.
    is_bundle: bool,
}

impl Cutter {
    fn take(keys: &mut Keys) -> Result<Self, String> {
        let breaker = keys.remove("breaker").map(|text| Regex::new(&text)).transpose();
        let is_csv = match keys.remove("sampletype").as_deref() {
            None | Some("raw") => false,
            Some("csv") => true,
            Some(other) => return Err(format!("sampletype: `{other}` is neither raw nor csv")),
        };
        Ok(Cutter {
            breaker: breaker.map_err(|error| format!("breaker: {error}"))?,
            is_csv,
            is_bundle: keys.remove("bundlelines").is_some_and(|text| is_true(&text)),
        })
    }

    fn events(&self, path: &Path) -> Result<Vec<Vec<u8>>, String> {
        let text = read_file(path)?;
        let events = match (self.is_csv, self.is_bundle) {
            (true, _) => sample::csv_events(&text)
                .map_err(|reason| format!("{}: {reason}", path.display()))?,
            (false, true) => vec![text.trim_ascii_end().to_vec()],
            (false, false) => cut(&text, self.breaker.as_ref()),
        };
        let has_event = events.iter().any(|event| !event.is_empty());
        if has_event { Ok(events) } else { Err(format!("{}: there is no event", path.display())) }
    }
}

fn tables(keys: &mut Keys) -> Result<Tables, String> {
    let mut take = |key: &str| table(key, keys.remove(key));
    Ok(Tables {
        hours: take("hourOfDayRate")?,
        weekdays: take("dayOfWeekRate")?,
        minutes: take("minuteOfHourRate")?,
        days: take("dayOfMonthRate")?,
        months: take("monthOfYearRate")?,
    })
}

/// The file again and again, with an interval between the rounds.
fn replay(
    file: PathBuf,
    times: Option<&Times>,
    slowness: f64,
    amount: &Amount,
) -> Result<Kind, String> {
    let Times { regex, formats } =
        times.ok_or("replay needs a token of type timestamp or replaytimestamp")?;
    let clockwork = Clockwork { regex: regex.clone(), formats: formats.clone(), slowness };
    let pause_ns = (amount.interval_s * 1e9) as u64;
    let rounds = Rounds { count: amount.end.map(|end| end as u64), pause_ns };
    Ok(Kind::Replay(Arc::new(ReplayParts { file, clockwork, rounds })))
}

fn is_true(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "true" | "1" | "t" | "yes")
}

fn number(key: &str, text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{key}: `{text}` is no number"))
}

/// `now`, `-15m`, `+2h`: how far from now, in nanoseconds.
fn around(keys: &mut Keys, key: &str) -> Result<u64, String> {
    let Some(text) = keys.remove(key).filter(|text| text != "now") else { return Ok(0) };
    parse_duration(text.trim_start_matches(['-', '+']))
        .ok_or_else(|| format!("{key}: `{text}` is no relative time such as -15m"))
}

/// `{"0": 0.3, "9": 2}`
fn table(key: &str, text: Option<String>) -> Result<Vec<(u64, f64)>, String> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    let entry = |entry: &str| {
        let (key, factor) = entry.split_once(':')?;
        Some((key.trim().trim_matches('"').parse().ok()?, factor.trim().parse().ok()?))
    };
    let entries: Option<Vec<_>> =
        inside.split(',').filter(|entry| !entry.trim().is_empty()).map(entry).collect();
    entries.ok_or_else(|| format!("{key}: `{text}` is no table such as {{\"9\": 2.5}}"))
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

    /// The first events of the only stanza of `text`, whose sample is `sample`.
    fn first(name: &str, text: &str, sample: &str, count: u64) -> Vec<String> {
        let id = format!("temblor-eventgen-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(id);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("a.sample"), sample).unwrap();
        let stanzas = read(text, &directory).unwrap();
        let [stanza] = &stanzas[..] else { panic!("{} stanzas", stanzas.len()) };
        let spec = Spec { count: Some(count), ..stanza.spec.clone() };
        let mut out = Vec::new();
        let mut stream = super::super::Stream::open(&spec, 100_000_000_000).unwrap();
        stream.fill(&mut out, u64::MAX, usize::MAX).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_string).collect()
    }

    #[test]
    fn samples_have_times_without_description_columns_and_bundles() {
        let text = "[a.sample]\nautotimestamp = true\ntimezone = +0100\n";
        assert_eq!(first("auto", text, "2020-01-01 00:00:00 x\n", 1), ["1970-01-01 01:01:40 x"]);
        let text = "[.*\\.sample]\nsampletype = csv\n";
        assert_eq!(first("csv", text, "host,_raw\na,one\nb,two\n", 3), ["one", "two", "one"]);
        let text = "[a.sample]\nbundlelines = true\n";
        assert_eq!(first("bundle", text, "one\ntwo\n", 2), ["one", "two", "one", "two"]);
    }

    #[test]
    fn replays_read_several_formats_and_go_round() {
        let text = "[a.sample]\nmode = replay\ninterval = 5\ntoken.0.token = ^\\S+\n\
                    token.0.replacementType = replaytimestamp\n\
                    token.0.replacement = [\"%Y/%m/%dT%H:%M:%S\", \"%Y-%m-%dT%H:%M:%S\"]\n";
        let lines = first("replay", text, "2020-01-01T00:00:00 a\n2020/01/01T00:00:02 b\n", 3);
        let expected = ["1970-01-01T00:01:40 a", "1970/01/01T00:01:42 b", "1970-01-01T00:01:47 a"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn stanzas_that_are_off_give_nothing_and_others_wait() {
        let text = "[a]\ngenerator = windbag\ndisabled = true\n[b]\ngenerator = weblog\ninterval = 0\n\
                    [c]\ngenerator = windbag\nend = 0\n[d]\ngenerator = windbag\ndelay = 3\n";
        let stanzas = read(text, Path::new("/nowhere")).unwrap();
        let [d] = &stanzas[..] else { panic!("{} stanzas", stanzas.len()) };
        assert_eq!((d.name.as_str(), d.spec.wait_ns, d.spec.jitter), ("d", 3_000_000_000, 0.2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let read = |text: &str| read(text, Path::new("/nowhere")).unwrap_err();
        assert!(read("[x]\nnonsense").contains("line 2"));
        assert!(read("[x]\ncount = many").contains("count"));
        assert!(read("[x]\ngenerator = windbag\nhourOfDayRate = {9}").contains("table"));
        assert!(read("[x.sample]").contains("/nowhere/x.sample"));
        assert!(read("[x]\ngenerator = jinja").contains("no generator `jinja`"));
        assert!(read("[x]\ntimezone = CET").contains("timezone"));
        let token =
            "token.0.token = x\ntoken.0.replacementType = rated\ntoken.0.replacement = guid";
        assert!(read(&format!("[x]\n{token}")).contains("token.0"));
    }
}
