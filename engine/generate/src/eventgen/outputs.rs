//! Where events go: Eventgen's output modes and the sinks that stand for them.
//!
//! Invariant: [`MODES`] is the one place that knows which mode is which sink; a mode without a sink is refused
//! when the stanza runs, with a reason.

use super::conf::Section;
use super::places::{Places, expand};
use super::splunk;
use serde_json::Value;
use std::path::PathBuf;

/// An output mode of Eventgen.
pub struct Mode {
    /// The words for it: Eventgen's plug-ins, and how people shorten them.
    pub names: &'static [&'static str],
    /// What is wrapped around events: a word for `output`.
    pub form: &'static str,
    /// Makes the output of a stanza.
    make: fn(&Section, &Places, &str) -> Output,
}

/// All of them.
pub(crate) static MODES: [Mode; 15] = [
    Mode { names: &["stdout"], form: "raw", make: |_, _, _| Output::Stdout },
    Mode { names: &["devnull", "counter"], form: "raw", make: |_, _, _| Output::Nothing },
    Mode { names: &["modinput"], form: "modinput", make: |_, _, _| Output::Stdout },
    Mode { names: &["file"], form: "raw", make: file },
    Mode { names: &["spool"], form: "raw", make: spool },
    Mode {
        names: &["tcpout", "tcp"],
        form: "raw",
        make: |keys, _, _| address(keys, "tcp", "tcpDestination", "3333"),
    },
    Mode {
        names: &["udpout", "udp"],
        form: "raw",
        make: |keys, _, _| address(keys, "udp", "udpDestination", "3333"),
    },
    Mode {
        names: &["syslogout", "syslog"],
        form: "raw",
        make: |keys, _, _| address(keys, "udp", "syslogDestination", "1514"),
    },
    Mode {
        names: &["httpevent", "httpevent_core"],
        form: "hec",
        make: |keys, _, _| splunk::collectors(keys, &splunk::EVENTS),
    },
    Mode {
        names: &["metric_httpevent"],
        form: "hec",
        make: |keys, _, _| splunk::collectors(keys, &splunk::METRICS),
    },
    Mode { names: &["splunkstream"], form: "hec", make: |keys, _, _| splunk::receiver(keys) },
    Mode { names: &["awss3"], form: "raw", make: |keys, _, _| bucket(keys) },
    Mode {
        names: &["s2s"],
        form: "raw",
        make: |_, _, _| {
            refused(
                "no sink speaks the protocol of Splunk's forwarders; httpevent reaches the same indexes",
            )
        },
    },
    Mode {
        names: &["scsout"],
        form: "raw",
        make: |_, _, _| {
            refused("no sink speaks to Splunk's cloud services; httpevent reaches the same indexes")
        },
    },
    Mode {
        names: &["stormstream"],
        form: "raw",
        make: |_, _, _| refused("Splunk Storm is no more; httpevent reaches the same indexes"),
    },
];

/// Where the events of a stanza go.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Nowhere.
    Nothing,
    /// The end of a file, which is set aside when it is full.
    File {
        /// The file.
        path: PathBuf,
        /// When it is full; nothing is never.
        bytes_max: Option<u64>,
        /// How many full files are kept.
        backups: u64,
    },
    /// Sinks of a program.
    Sinks {
        /// At least one.
        sinks: Vec<SinkUse>,
        /// Whether each event goes to all of them, or to one of them in turn.
        is_mirrored: bool,
        /// The steps in front of them; may be empty.
        steps: &'static str,
    },
    /// There is no sink for this.
    Refused(String),
}

/// A sink, and what a program says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkUse {
    /// Its kind.
    pub kind: &'static str,
    /// Behind the kind.
    pub target: String,
    /// Its settings.
    pub settings: Vec<(&'static str, Given)>,
}

/// What a setting of a sink is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A value.
    Value(Value),
    /// An expression that is evaluated for each event.
    Expression(String),
}

/// A mode by one of its names.
#[must_use]
pub fn find(word: &str) -> Option<&'static Mode> {
    MODES.iter().find(|mode| mode.names.contains(&word))
}

/// Eventgen's own, unless the stanza says otherwise.
const FILE_BYTES: u64 = 10 << 20;
const FILE_BACKUPS: u64 = 5;

/// The output of a stanza and the word for its envelope; `sample` is the name of its sample.
///
/// # Errors
/// When there is no such mode, or it lacks what it needs.
pub(super) fn of(
    keys: &Section,
    places: &Places,
    sample: &str,
    notes: &mut Vec<String>,
) -> Result<(Output, &'static str), String> {
    let Some(word) = keys.text("outputMode") else { return Ok((Output::Stdout, "raw")) };
    let mode = find(word).ok_or_else(|| format!("outputMode: there is no output `{word}`"))?;
    let output = (mode.make)(keys, places, sample);
    if let Output::Sinks { sinks, .. } = &output {
        if sinks.is_empty() {
            return Err(format!(
                "outputMode: {word} needs httpeventServers = {{\"servers\": [{{\"protocol\", \"address\", \
                 \"port\", \"key\"}}]}}"
            ));
        }
        if sinks.iter().any(|sink| sink.settings.iter().any(|(name, _)| *name == "tls")) {
            notes.push(format!("{word}: as in Eventgen, nobody checks the server's certificate"));
        }
    }
    if let (Output::Stdout, "spool") = (&output, word) {
        notes.push(format!(
            "spoolDir: `{}` does not exist here, events are printed",
            keys.text("spoolDir").unwrap_or(SPOOL)
        ));
    }
    let has_header = keys.text("syslogAddHeader").is_some_and(super::options::is_true);
    let is_syslog = word.starts_with("syslog") || word == "stdout";
    Ok((output, if has_header && is_syslog { "syslog" } else { mode.form }))
}

const SPOOL: &str = "$SPLUNK_HOME/var/spool/splunk";

fn refused(reason: &str) -> Output {
    Output::Refused(reason.to_string())
}

fn spooled(keys: &Section, places: &Places, sample: &str) -> Option<PathBuf> {
    let text = keys.text("spoolDir").unwrap_or(SPOOL);
    let directory = places.directory(text).filter(|_| !expand(text, &environment).contains('$'))?;
    let file = keys.text("spoolFile").filter(|name| *name != "<SAMPLE>").unwrap_or(sample);
    Some(directory.join(file))
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn spool(keys: &Section, places: &Places, sample: &str) -> Output {
    match spooled(keys, places, sample) {
        Some(path) => Output::File { path, bytes_max: None, backups: 0 },
        None => Output::Stdout,
    }
}

fn file(keys: &Section, places: &Places, sample: &str) -> Output {
    let number =
        |key: &str, other: u64| keys.text(key).and_then(|text| text.parse().ok()).unwrap_or(other);
    let named = keys.text("fileName").map(|name| PathBuf::from(expand(name, &environment)));
    match named.or_else(|| spooled(keys, places, sample)) {
        Some(path) => Output::File {
            path,
            bytes_max: Some(number("fileMaxBytes", FILE_BYTES)).filter(|bytes| *bytes > 0),
            backups: number("fileBackupFiles", FILE_BACKUPS),
        },
        None => refused("outputMode = file needs fileName, or a spoolDir that exists"),
    }
}

fn address(keys: &Section, kind: &'static str, prefix: &str, port: &str) -> Output {
    let text = |part: &str, other: &str| {
        keys.text(&format!("{prefix}{part}")).unwrap_or(other).to_string()
    };
    let target = format!("{}:{}", text("Host", "127.0.0.1"), text("Port", port));
    one(SinkUse { kind, target, settings: vec![("codec", value("string"))] })
}

fn bucket(keys: &Section) -> Output {
    let Some(name) = keys.text("awsS3BucketName") else {
        return refused("awss3 needs awsS3BucketName");
    };
    let mut settings = vec![("codec", value("string"))];
    for (key, setting) in [
        ("awsRegion", "region"),
        ("awsKeyId", "access_key"),
        ("awsSecretKey", "secret_key"),
        ("awsS3ObjectPrefix", "key"),
    ] {
        settings.extend(keys.text(key).map(|text| (setting, value(text))));
    }
    settings.push(("suffix", value(keys.text("awsS3ObjectSuffix").unwrap_or_default())));
    let is_packed = keys.text("awsS3CompressionType").is_some_and(|text| text.starts_with("gz"));
    if is_packed {
        settings.push(("compression", value("gzip")));
    }
    one(SinkUse { kind: "s3", target: name.to_string(), settings })
}

/// The output to one sink.
fn one(sink: SinkUse) -> Output {
    Output::Sinks { sinks: vec![sink], is_mirrored: false, steps: "" }
}

fn value(text: &str) -> Given {
    Given::Value(Value::from(text))
}

impl Output {
    /// In a few words.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Output::Stdout => "standard output".to_string(),
            Output::Nothing => "nowhere".to_string(),
            Output::File { path, bytes_max: Some(bytes), backups } => {
                format!("{}, set aside at {bytes} bytes, {backups} kept", path.display())
            }
            Output::File { path, .. } => path.display().to_string(),
            Output::Sinks { sinks, is_mirrored, .. } => {
                let shown: Vec<_> = sinks
                    .iter()
                    .map(|SinkUse { kind, target, .. }| format!("the sink `{kind}` to {target}"))
                    .collect();
                match (shown.len(), is_mirrored) {
                    (1, _) => shown.join(""),
                    (_, true) => format!("all of {}", shown.join(", ")),
                    (_, false) => format!("one after the other of {}", shown.join(", ")),
                }
            }
            Output::Refused(reason) => format!("refused: {reason}"),
        }
    }
}
