//! What each stanza will do, in words.

use super::{Loaded, Stanza};
use crate::executions::Amount;
use crate::relative::TimeWord;
use crate::spec::{Kind, Spec};
use std::fmt::Write;

/// What a configuration will do, stanza by stanza.
#[must_use]
pub fn explain(loaded: &Loaded) -> String {
    let mut text = String::new();
    for stanza in &loaded.stanzas {
        explain_stanza(stanza, &mut text);
    }
    for note in &loaded.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn explain_stanza(stanza: &Stanza, text: &mut String) {
    let spec = &stanza.spec;
    let _ = writeln!(text, "{}: [{}]", stanza.place, stanza.section);
    let _ = writeln!(text, "  makes     {}", what(stanza));
    let _ = writeln!(text, "  when      {}", when(spec));
    if let Some(tokens) = stanza.settings.get("tokens").and_then(|tokens| tokens.as_array()) {
        for (number, token) in tokens.iter().enumerate() {
            let part = |name: &str| token[name].as_str().unwrap_or_default();
            let label = if number == 0 { "replaces" } else { "" };
            let (find, kind, by) = (part("token"), part("type"), part("replacement"));
            let _ = writeln!(text, "  {label:<9} {find}  by {kind} {by}");
        }
    }
    let _ = writeln!(text, "  goes to   {}", stanza.output.shown());
    for (number, note) in stanza.notes.iter().enumerate() {
        let label = if number == 0 { "no effect" } else { "" };
        let _ = writeln!(text, "  {label:<9} {note}");
    }
}

fn what(stanza: &Stanza) -> String {
    match &stanza.spec.kind {
        Kind::Sample(parts) => {
            let order = match (parts.is_bundle, parts.shuffle) {
                (true, _) => "all together as one",
                (false, true) => "at random",
                (false, false) => "in turn, from the first at each execution",
            };
            format!("the {} events of {}, {order}", parts.events.len(), file(stanza))
        }
        Kind::Replay(_) => format!("the events of {} with their own gaps", file(stanza)),
        Kind::Jinja(parts) => format!("what the template {} renders", parts.template),
        _ => format!("events of the generator {}", stanza.kind),
    }
}

fn file(stanza: &Stanza) -> &str {
    stanza.settings.get("file").and_then(|file| file.as_str()).unwrap_or_default()
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

fn when(spec: &Spec) -> String {
    let mut words = Vec::new();
    if spec.wait_ns > 0 {
        words.push(format!("after {}", seconds(spec.wait_ns)));
    }
    match (&spec.plan, &spec.kind) {
        (Some(plan), _) => {
            words.push(match plan.amount {
                Amount::Whole => "all of it".to_string(),
                Amount::Events(events) => format!("{events} events"),
                Amount::BytesPerSecond(rate) => format!("{:.0} bytes a day", rate * 86_400.0),
            });
            if spec.jitter > 0.0 {
                words.push(format!("give or take {:.0} %", spec.jitter * 100.0));
            }
            words.push(match plan.interval_ns {
                0 => "once".to_string(),
                interval if plan.is_spread => format!("spread over every {}", seconds(interval)),
                interval => format!("at once every {}", seconds(interval)),
            });
            if let Some(count) = plan.count {
                words.push(format!("{count} times"));
            }
            if plan.until.is_some() {
                words.push("until the time that `end` says".to_string());
            }
        }
        (None, Kind::Replay(parts)) => {
            words.push(match parts.rounds.count {
                Some(count) => format!("{count} rounds"),
                None => "round after round".to_string(),
            });
            words.push(format!("{} between them", seconds(parts.rounds.pause_ns)));
            if parts.clockwork.slowness != 1.0 {
                words.push(format!("gaps {} times as long", parts.clockwork.slowness));
            }
        }
        _ => {}
    }
    if !spec.tables.is_empty() {
        words.push("times the factors of its tables".to_string());
    }
    if spec.backfill != TimeWord::Now {
        words.push("the past first, at once".to_string());
    }
    words.join(", ")
}
