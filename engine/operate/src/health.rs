//! Whether a run is ready, and why not; and its state in a few lines of JSON.
//!
//! Invariant: a run that is not ready says why.

use serde_json::{Value, json};
use temblor_runtime::pacing::Paced;
use temblor_runtime::stats::Health;

use crate::operations::Operations;
use crate::reading::Reading;

/// Whether events are taken now, and the reasons when they are not.
#[must_use]
pub fn ready(operations: &dyn Operations) -> (bool, Value) {
    let Some(reading) = Reading::of(operations) else {
        return (false, json!({"ready": false, "reasons": ["the run has not begun"]}));
    };
    let mut reasons = Vec::new();
    if reading.draining {
        reasons.push("draining: the run was asked to stop".to_string());
    }
    for source in &reading.sources {
        let name = &source.row.name;
        match &source.health {
            Health::Opening => reasons.push(format!("source {name} is not open yet")),
            Health::Failing(reason) | Health::Failed(reason) => {
                reasons.push(format!("source {name}: {}", first_line(reason)));
            }
            Health::Working | Health::Ended => {}
        }
    }
    // A sink whose peer is away keeps events, up to its bound: that is worth a note, but no reason to take no
    // more, until the writer cannot hand anything over.
    let notes = reading.sinks.iter().filter_map(|sink| match &sink.health {
        Health::Failing(reason) => {
            let (name, held) = (&sink.row.name, sink.held_events);
            Some(format!("sink {name}: {}; {held} events wait", first_line(reason)))
        }
        _ => None,
    });
    let notes: Vec<String> = notes
        .chain(reading.reloads.last_error.iter().map(|why| format!("last reload: {why}")))
        .collect();
    if !notes.is_empty() && is_stuck(&reading) {
        reasons.push("the queue to the workers is full, and a sink takes nothing".to_string());
    }
    let ready = reasons.is_empty();
    (ready, json!({"ready": ready, "reasons": reasons, "notes": notes}))
}

/// Whether sources wait for room now.
fn is_stuck(reading: &Reading) -> bool {
    let fill = reading.queue;
    fill.batches > 0 && fill.bytes >= fill.bytes_max - fill.bytes_max / 8
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The run in a few lines: what comes, what goes, what waits.
#[must_use]
pub fn status(operations: &dyn Operations) -> Value {
    let Some(reading) = Reading::of(operations) else { return json!({"state": "starting"}) };
    let health = |health: &Health| match health {
        Health::Working => "working".to_string(),
        Health::Opening => "opening".to_string(),
        Health::Ended => "ended".to_string(),
        Health::Failing(reason) => format!("failing: {}", first_line(reason)),
        Health::Failed(reason) => format!("failed: {}", first_line(reason)),
    };
    let sources = reading.sources.iter().map(|one| {
        json!({
            "name": one.row.name,
            "state": health(&one.health),
            "events": one.row.events,
            "bytes": one.row.bytes,
            "waited_seconds": one.waited.as_secs_f64(),
            "batches_in_flight": one.in_flight,
        })
    });
    let sinks = reading.sinks.iter().map(|one| {
        json!({
            "name": one.row.name,
            "state": health(&one.health),
            "events": one.row.events,
            "bytes": one.row.bytes,
            "failed": one.row.failed,
            "held_events": one.held_events,
            "held_bytes": one.held_bytes,
            "retries": one.retries,
            "requests": one.paced.map(requests),
        })
    });
    json!({
        "state": if reading.draining { "draining" } else { "running" },
        "uptime_seconds": reading.uptime.as_secs_f64(),
        "sources": sources.collect::<Vec<_>>(),
        "sinks": sinks.collect::<Vec<_>>(),
        "queue_bytes": reading.queue.bytes,
        "errors": reasons(&reading.errors),
        "dropped": reasons(&reading.dropped),
        "reloads": {
            "done": reading.reloads.done,
            "failed": reading.reloads.failed,
            "last_error": reading.reloads.last_error,
        },
    })
}

/// What the requests of a sink wait for.
fn requests(paced: Paced) -> Value {
    let circuit = match paced {
        Paced { open: 0, .. } => "closed",
        Paced { trying: 0, .. } => "open",
        _ => "half_open",
    };
    json!({
        "limit": paced.limit,
        "under_way": paced.under_way,
        "circuit": circuit,
        "peers_down": paced.open,
        "circuit_opened": paced.opened,
    })
}

fn reasons(reasons: &[(String, u64)]) -> Value {
    reasons
        .iter()
        .map(|(name, count)| (name.clone(), Value::from(*count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
