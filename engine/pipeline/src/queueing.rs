//! The queues that a program asks for: in front of a sink, and on disk behind a source.
//!
//! Invariant: a sink without such settings is what it was; whatever needs more than its own queue is wrapped.

use crate::endpoint::{SinkEndpoint, SourceEndpoint};
use crate::pipeline::Attribute;
use std::sync::Arc;
use temblor_buffer::log::{BYTES_MIN, Durability, Settings as Kept};
use temblor_buffer::policy::{Overflow, Place, Policy};
use temblor_buffer::seal::Key;
use temblor_buffer::sink::Buffered;
use temblor_buffer::source::BufferedSource;
use temblor_buffer::waiting::Measure;
use temblor_codec::{InputCodec, OutputCodec};
use temblor_declare::order::Order;
use temblor_declare::{Connector, Setting, Settings};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Compiler;
use temblor_runtime::feedback::FeedbackConfig;
use temblor_runtime::outlet::{Feedback, QueuePolicy, WhenFull};
use temblor_runtime::source::OpenSource;

/// Bytes of the disk that a queue leaves to others where no program says how many.
const RESERVE_BYTES: u64 = 64 << 20;

/// Sources that can be read again as they are.
const READ_AGAIN: [&str; 5] = ["file", "generator", "metrics", "metronome", "repeat"];

/// The sink with the queue that the program asks for. `has_queue` says that it has one of its own, `own_rows`
/// are its own settings.
pub(crate) fn sink(
    endpoint: SinkEndpoint,
    settings: &Settings,
    (has_queue, own_rows): (bool, &[Setting]),
    sources: &mut Vec<SourceEndpoint>,
    compiler: &mut Compiler<'_>,
) -> SinkEndpoint {
    let own = own_policy(settings);
    let words = (settings.optional_text("when_full"), settings.optional_text("buffer"));
    let is_plain = matches!(
        words,
        (None | Some("block" | "drop_newest" | "drop_oldest"), None | Some("memory"))
    );
    let wants_queue =
        ["queue_bytes", "queue_events", "when_full"].iter().any(|name| settings.says(name));
    check(settings, own_rows, compiler);
    if is_plain && !settings.says("queue_events") && (has_queue || !wants_queue) {
        return SinkEndpoint { queue: own, ..endpoint };
    }
    let overflow = match words.0 {
        Some("divert") => Overflow::Divert,
        Some("shed") => Overflow::Shed,
        _ => own.when_full.into(),
    };
    let place = match words {
        (_, Some("disk")) => Place::Disk(kept(settings, compiler)),
        (Some("spill"), _) => Place::Both(kept(settings, compiler)),
        _ => Place::Memory,
    };
    let events_max = settings.optional_whole("queue_events").unwrap_or(u64::MAX);
    let policy = Policy { place, bytes_max: own.bytes_max, events_max, overflow };
    wrap(endpoint, policy, settings, sources)
}

fn own_policy(settings: &Settings) -> QueuePolicy {
    let mut policy = QueuePolicy::default();
    if settings.has("queue_bytes") {
        policy.bytes_max = settings.size("queue_bytes").max(1);
    }
    policy.when_full = match settings.optional_text("when_full") {
        Some("drop_newest") => WhenFull::DropNewest,
        Some("drop_oldest") => WhenFull::DropOldest,
        _ => WhenFull::Block,
    };
    policy
}

fn wrap(
    endpoint: SinkEndpoint,
    policy: Policy,
    settings: &Settings,
    sources: &mut Vec<SourceEndpoint>,
) -> SinkEndpoint {
    let SinkEndpoint { port, config, mut attributes, encoding, .. } = endpoint;
    let is_json = encoding.post.is_none()
        && matches!(encoding.codec, OutputCodec::Json | OutputCodec::SortedJson);
    let mut full = None;
    let mut priority = None;
    if policy.overflow == Overflow::Divert {
        // Events can only go back one by one.
        attributes.get_or_insert_with(Box::default);
        let feedback = Feedback::new();
        let port = format!("{port}/full");
        let config = FeedbackConfig { name: port.clone(), feedback: Arc::clone(&feedback) };
        sources.push(SourceEndpoint::new(port, Arc::new(config), InputCodec::Json));
        full = Some(feedback);
    }
    if policy.overflow == Overflow::Shed {
        let (said, measure) = match settings.per_event("priority") {
            Some(said) => (Some(said), Measure::Priority),
            None => (settings.per_event("$severity"), Measure::Severity),
        };
        let formula = said.map(|one| Arc::clone(&one.formula));
        let mut wanted = attributes.map_or_else(Vec::new, <[_]>::into_vec);
        wanted.push(Attribute { formula, as_json: false, is_position: false });
        attributes = Some(wanted.into());
        priority = Some(measure);
    }
    let config = Arc::new(Buffered { inner: config, policy, full, is_json, priority });
    SinkEndpoint { port, config, attributes, encoding, queue: QueuePolicy::default(), ..endpoint }
}

/// Whether events wait on disk.
pub(crate) fn is_on_disk(settings: &Settings) -> bool {
    settings.optional_text("buffer") == Some("disk")
}

/// The source with the queue on disk that the program asks for.
pub(crate) fn source(
    connector: &Connector,
    name: &str,
    inner: Arc<dyn OpenSource>,
    settings: &Settings,
    compiler: &mut Compiler<'_>,
) -> Arc<dyn OpenSource> {
    check(settings, connector.source, compiler);
    if !is_on_disk(settings) {
        return inner;
    }
    if READ_AGAIN.contains(&connector.kind) {
        let message = format!("`buffer` does not go with `{}`", connector.kind);
        let help =
            "it can be read again as it is: with --state a run goes on where the last one was";
        let complaint = Diagnostic::error("E0510", settings.span_of("buffer"), message);
        compiler.diagnostics.push(complaint.with_help(help));
        return inner;
    }
    let settings = kept(settings, compiler);
    Arc::new(BufferedSource { name: name.to_string(), inner, settings })
}

/// A source with a queue on disk of so many bytes, where no program says more of it; `syncs` says whether each batch
/// waits for the disk.
#[must_use]
pub fn on_disk(
    name: &str,
    inner: Arc<dyn OpenSource>,
    bytes_max: u64,
    syncs: bool,
) -> Arc<dyn OpenSource> {
    let settings = Kept {
        bytes_max: bytes_max.max(BYTES_MIN),
        reserve_bytes: RESERVE_BYTES,
        compresses: false,
        durability: if syncs { Durability::Disk } else { Durability::System },
        key: None,
    };
    Arc::new(BufferedSource { name: name.to_string(), inner, settings })
}

/// How a buffer on disk is kept.
fn kept(settings: &Settings, compiler: &mut Compiler<'_>) -> Kept {
    let mut wrong = |name: &str, message: String| {
        let span = if settings.says(name) { settings.span_of(name) } else { settings.span };
        compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
    };
    let bytes_max = settings.size("buffer_bytes") as u64;
    if bytes_max < BYTES_MIN {
        wrong(
            "buffer_bytes",
            format!("`buffer_bytes` must be at least {BYTES_MIN} bytes, got {bytes_max}"),
        );
    }
    let key = settings.secret("buffer_key").map(|secret| Key::read(secret.reveal().as_bytes()));
    let key = match key.transpose() {
        Ok(key) => key,
        Err(reason) => {
            wrong("buffer_key", format!("`buffer_key` {reason}"));
            None
        }
    };
    Kept {
        bytes_max,
        reserve_bytes: settings.size("buffer_reserve") as u64,
        compresses: settings.optional_text("buffer_compression") == Some("lz4"),
        durability: match settings.optional_text("durability") {
            Some("fsync") => Durability::Disk,
            _ => Durability::System,
        },
        key,
    }
}

/// Settings that have a meaning only beside others.
fn check(settings: &Settings, own_rows: &[Setting], compiler: &mut Compiler<'_>) {
    let words = (settings.optional_text("when_full"), settings.optional_text("buffer"));
    let has_own_order = own_rows.iter().any(|row| row.name == "order");
    if !has_own_order && let Err(wrong) = Order::of_settings(settings, &[]) {
        compiler.diagnostics.push(wrong.diagnostic(settings));
    }
    let mut refuse = |name: &str, message: String, help: &str| {
        let complaint = Diagnostic::error("E0510", settings.span_of(name), message).with_help(help);
        compiler.diagnostics.push(complaint);
    };
    if let (Some(word @ ("spill" | "shed")), Some("disk")) = words {
        let help = match word {
            "spill" => {
                "all events go to the disk already; leave `buffer` out to keep them in memory first"
            }
            _ => {
                "what is on disk is not looked through again; leave `buffer` out, or choose another policy"
            }
        };
        refuse(
            "when_full",
            format!("`when_full = \"{word}\"` does not go with `buffer = \"disk\"`"),
            help,
        );
    }
    if words.0 != Some("shed") && settings.says("priority") && settings.has("priority") {
        let help = "it says which events are left out first: set `when_full = \"shed\"`";
        refuse("priority", "`priority` has no meaning without `shed`".to_string(), help);
    }
    if !matches!(words, (Some("spill"), _) | (_, Some("disk"))) {
        let names =
            ["buffer_bytes", "buffer_reserve", "buffer_compression", "buffer_key", "durability"];
        let is_own = |name: &str| own_rows.iter().any(|row| row.name == name);
        let said = |name: &&&str| settings.says(name) && settings.has(name) && !is_own(name);
        for name in names.iter().filter(said) {
            let help = "set `buffer = \"disk\"` as well";
            refuse(name, format!("`{name}` is about a buffer on disk, and there is none"), help);
        }
    }
}
