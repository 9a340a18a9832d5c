//! Every option of Eventgen, in one table: what its values look like, and what it does here.
//!
//! Invariant: an option without an effect has a reason; one that is not in the table is said to be unknown.

use super::conf::{Complaint, Conf, Entry, Section};
use super::outputs;

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Any text.
    Text,
    /// A whole number, perhaps negative.
    Whole,
    /// A number.
    Number,
    /// `true`, `false` and other words for them.
    Flag,
    /// JSON.
    Json,
    /// One of Eventgen's outputs.
    Output,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Its name.
    pub name: &'static str,
    /// What its values look like.
    pub form: Form,
    /// Why it has no effect; nothing where it has one.
    pub idle: Option<&'static str>,
}

const fn used(name: &'static str, form: Form) -> Known {
    Known { name, form, idle: None }
}

const fn idle(name: &'static str, form: Form, reason: &'static str) -> Known {
    Known { name, form, idle: Some(reason) }
}

const WRITTEN: &str = "events are written as they are made, nothing waits in a queue";
const WORKERS: &str =
    "one generator writes its events in order, faster than Eventgen's workers together";
const LOGS: &str = "it is about Eventgen's own log";
const SPLUNK: &str = "there is no Splunk server to ask";
const CLOUD: &str = "no sink speaks to Splunk's cloud services";
const SINKS: &str = "the sink has settings of its own for this";

/// All of them, by what they are about.
pub(crate) const OPTIONS: [Known; 112] = [
    // When and how much.
    used("disabled", Form::Flag),
    used("mode", Form::OneOf(&["sample", "replay"])),
    used("interval", Form::Number),
    used("delay", Form::Number),
    used("count", Form::Number),
    used("perDayVolume", Form::Number),
    used("end", Form::Text),
    used("backfill", Form::Text),
    used("earliest", Form::Text),
    used("latest", Form::Text),
    used("timezone", Form::Text),
    used("timeMultiple", Form::Number),
    used("spread", Form::Flag),
    used("randomizeCount", Form::Number),
    used("hourOfDayRate", Form::Json),
    used("dayOfWeekRate", Form::Json),
    used("minuteOfHourRate", Form::Json),
    used("dayOfMonthRate", Form::Json),
    used("monthOfYearRate", Form::Json),
    used("seed", Form::Whole),
    // What the events are.
    used("generator", Form::Text),
    used("rater", Form::Text),
    used("sampleDir", Form::Text),
    used("sampletype", Form::OneOf(&["raw", "csv"])),
    used("breaker", Form::Text),
    used("bundlelines", Form::Flag),
    used("randomizeEvents", Form::Flag),
    used("timeField", Form::Text),
    used("autotimestamp", Form::Flag),
    used("autotimestamps", Form::Json),
    used("sequentialTimestamp", Form::Flag),
    used("jinja_template_dir", Form::Text),
    used("jinja_target_template", Form::Text),
    used("jinja_variables", Form::Json),
    used("jinja_count_type", Form::OneOf(&["line_count", "cycles", "perDayVolume"])),
    // What goes with them.
    used("index", Form::Text),
    used("extendIndexes", Form::Text),
    used("extend_index", Form::Text),
    used("host", Form::Text),
    used("host.token", Form::Text),
    used("host.replacement", Form::Text),
    idle("hostToken", Form::Text, "host.token and host.replacement say it"),
    used("hostRegex", Form::Text),
    used("source", Form::Text),
    used("sourcetype", Form::Text),
    // Where they go.
    used("outputMode", Form::Output),
    used("fileName", Form::Text),
    used("fileMaxBytes", Form::Whole),
    used("fileBackupFiles", Form::Whole),
    used("spoolDir", Form::Text),
    used("spoolFile", Form::Text),
    used("httpeventServers", Form::Json),
    used("httpeventOutputMode", Form::OneOf(&["roundrobin", "mirror"])),
    used("tcpDestinationHost", Form::Text),
    used("tcpDestinationPort", Form::Whole),
    used("udpDestinationHost", Form::Text),
    used("udpDestinationPort", Form::Whole),
    used("syslogDestinationHost", Form::Text),
    used("syslogDestinationPort", Form::Whole),
    used("syslogAddHeader", Form::Flag),
    used("httpeventMaxPayloadSize", Form::Text),
    idle("httpeventWaitResponse", Form::Flag, SINKS),
    idle("httpeventAllowFailureCount", Form::Text, SINKS),
    used("splunkHost", Form::Text),
    used("splunkPort", Form::Whole),
    used("splunkMethod", Form::OneOf(&["https", "http"])),
    used("splunkUser", Form::Text),
    used("splunkPass", Form::Text),
    idle("projectID", Form::Text, "Splunk Storm is no more"),
    idle("accessToken", Form::Text, "Splunk Storm is no more"),
    idle("scsEndPoint", Form::Text, CLOUD),
    idle("scsAccessToken", Form::Text, CLOUD),
    idle("scsTenant", Form::Text, CLOUD),
    idle("scsClientId", Form::Text, CLOUD),
    idle("scsClientSecret", Form::Text, CLOUD),
    idle("scsEnv", Form::Text, CLOUD),
    idle("scsRetryNum", Form::Text, CLOUD),
    used("awsS3BucketName", Form::Text),
    used("awsS3CompressionType", Form::Text),
    idle("awsS3EventType", Form::Text, "objects hold the events as they are"),
    used("awsS3ObjectPrefix", Form::Text),
    used("awsS3ObjectSuffix", Form::Text),
    used("awsRegion", Form::Text),
    used("awsKeyId", Form::Text),
    used("awsSecretKey", Form::Text),
    // How Eventgen works inside.
    idle("maxIntervalsBeforeFlush", Form::Whole, WRITTEN),
    idle("maxQueueLength", Form::Whole, WRITTEN),
    idle("useOutputQueue", Form::Flag, WRITTEN),
    idle("outputWorkers", Form::Whole, WORKERS),
    idle("generatorWorkers", Form::Whole, WORKERS),
    idle("splitSample", Form::Whole, WORKERS),
    idle("threading", Form::OneOf(&["thread", "process"]), WORKERS),
    idle("queueing", Form::Text, WORKERS),
    idle("zmqBaseUrl", Form::Text, WORKERS),
    idle("zmqBasePort", Form::Text, WORKERS),
    idle("debug", Form::Flag, LOGS),
    idle("verbose", Form::Flag, LOGS),
    idle("verbosity", Form::Text, LOGS),
    idle("profiler", Form::Flag, LOGS),
    idle("logLevel", Form::Text, LOGS),
    idle("disableLoggingQueue", Form::Flag, LOGS),
    idle("outputCounter", Form::Flag, "--stats prints what was written"),
    idle("runOnce", Form::Flag, "`end = 1` says it"),
    idle("backfillSearch", Form::Text, SPLUNK),
    idle("backfillSearchUrl", Form::Text, SPLUNK),
    idle("sessionKey", Form::Text, SPLUNK),
    idle("blacklist", Form::Text, "names of samples are matched as a whole"),
    idle("eai:acl", Form::Text, "Splunk itself sets it"),
    idle("eai:appName", Form::Text, "Splunk itself sets it"),
    idle("eai:userName", Form::Text, "Splunk itself sets it"),
    idle("sourceRepeat", Form::Text, "Eventgen does not read it either"),
    idle("requireLocalConf", Form::Flag, "Eventgen does not read it either"),
];

const TRUE: [&str; 5] = ["true", "1", "t", "yes", "y"];
const FALSE: [&str; 5] = ["false", "0", "f", "no", "n"];
const REPLACEMENT_TYPES: [&str; 9] = [
    "static",
    "timestamp",
    "replaytimestamp",
    "random",
    "rated",
    "file",
    "mvfile",
    "seqfile",
    "integerid",
];

/// Whether a flag is set.
#[must_use]
pub(crate) fn is_true(text: &str) -> bool {
    TRUE.contains(&text.trim().to_ascii_lowercase().as_str())
}

/// An option by its name.
#[must_use]
pub(super) fn find(name: &str) -> Option<&'static Known> {
    OPTIONS.iter().find(|known| known.name == name)
}

/// Notes on the options that do nothing, one for each reason.
pub(crate) fn idle_notes<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in entries.filter(|entry| !entry.key.starts_with("token.")) {
        let reason = match find(&entry.key) {
            None => "Eventgen has no such option",
            Some(Known { idle: Some(reason), .. }) => *reason,
            Some(_) => continue,
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, keys)) => keys.push(&entry.key),
            None => reasons.push((reason, vec![&entry.key])),
        }
    }
    reasons.iter().map(|(reason, keys)| format!("{}: {reason}", keys.join(", "))).collect()
}

/// All values that Eventgen would not take.
#[must_use]
pub(super) fn check(conf: &Conf) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let global = Section { name: "global".to_string(), ..conf.global.clone() };
    for section in std::iter::once(&global).chain(&conf.stanzas) {
        for entry in &section.entries {
            if let Err(reason) = value(&entry.key, &entry.value) {
                complaints.push(conf.complaint(section, entry.line, &reason));
            }
        }
    }
    complaints
}

fn value(key: &str, text: &str) -> Result<(), String> {
    if let Some(rest) = key.strip_prefix("token.") {
        return token(key, rest, text);
    }
    let Some(known) = find(key).filter(|_| !text.is_empty()) else { return Ok(()) };
    let lower = text.to_ascii_lowercase();
    let wanted = match known.form {
        Form::Whole if text.parse::<i64>().is_err() => "a whole number".to_string(),
        Form::Number if !text.parse::<f64>().is_ok_and(f64::is_finite) => "a number".to_string(),
        Form::Flag if !TRUE.contains(&lower.as_str()) && !FALSE.contains(&lower.as_str()) => {
            "true or false".to_string()
        }
        Form::Json => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => return Ok(()),
            Err(error) => format!("JSON ({error})"),
        },
        Form::Output if outputs::find(text).is_none() => {
            let known: Vec<_> =
                outputs::MODES.iter().flat_map(|mode| mode.names).copied().collect();
            format!("one of {}", known.join(", "))
        }
        Form::OneOf(words) if !words.contains(&text) => words.join(" or "),
        _ => return Ok(()),
    };
    Err(format!("{key}: expected {wanted}, found `{text}`"))
}

fn token(key: &str, rest: &str, text: &str) -> Result<(), String> {
    let part = rest.split_once('.').filter(|(number, _)| number.parse::<u32>().is_ok());
    match part.map(|(_, part)| part) {
        Some("token" | "replacement") => Ok(()),
        Some("replacementType") if REPLACEMENT_TYPES.contains(&text) => Ok(()),
        Some("replacementType") => {
            let known = REPLACEMENT_TYPES.join(", ");
            Err(format!("{key}: there is no type `{text}`; known are {known}"))
        }
        _ => Err(format!(
            "`{key}` is no part of a token: those are token.N.token, token.N.replacementType and \
             token.N.replacement"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_by_the_table() {
        for (key, text) in [
            ("interval", "x"),
            ("count", "many"),
            ("fileMaxBytes", "1.5"),
            ("disabled", "maybe"),
            ("hourOfDayRate", "{9}"),
            ("mode", "play"),
            ("token.0.kind", "x"),
            ("token.x.token", "x"),
            ("token.0.replacementType", "word"),
        ] {
            assert!(value(key, text).unwrap_err().contains(key), "{key} = {text}");
        }
        for (key, text) in
            [("interval", "0.5"), ("anything", "x"), ("count", ""), ("disabled", "F")]
        {
            assert_eq!(value(key, text), Ok(()), "{key} = {text}");
        }
    }

    #[test]
    fn no_option_is_listed_twice() {
        let names: std::collections::BTreeSet<_> = OPTIONS.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), OPTIONS.len());
    }
}
