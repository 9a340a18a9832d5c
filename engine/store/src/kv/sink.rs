//! The sink of a store: commands go in, answers come back into the program.
//!
//! Invariant: commands are dealt with in the order in which they came, and none is answered twice.

use std::path::PathBuf;
use std::sync::Arc;

use temblor_codec::InputCodec;
use temblor_declare::BuiltSink;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;

use super::command::Command;
use super::values::{Outcome, Values};
use crate::place;

/// Parcels of one transaction, at the most.
const PARCELS_MAX: usize = 64;
/// Bytes of one transaction, at the most, but for a single larger parcel.
const BYTES_MAX: usize = 16 << 20;

/// The attributes of an event, in the order of the rows.
const COMMAND: usize = 0;
const CORRELATION: usize = 1;

pub(super) fn built(directory: PathBuf, codec: InputCodec) -> BuiltSink {
    let (errors, answers) = (Feedback::new(), Feedback::new());
    let store =
        Store { directory, codec, errors: Arc::clone(&errors), answers: Arc::clone(&answers) };
    BuiltSink { answers: Some(answers), ..BuiltSink::of_events(store, errors) }
}

#[derive(Debug)]
struct Store {
    directory: PathBuf,
    codec: InputCodec,
    errors: Arc<Feedback>,
    answers: Arc<Feedback>,
}

impl OpenSink for Store {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let values = Values::open(place::checked(&self.directory)?, self.codec)?;
        let desk = Counter {
            values: Arc::new(values),
            errors: Arc::clone(&self.errors),
            answers: Arc::clone(&self.answers),
        };
        Ok(task_sink(&desk, |counter, outlet, _| counter.serve(outlet)))
    }
}

/// Where commands are dealt with.
#[derive(Clone)]
struct Counter {
    values: Arc<Values>,
    errors: Arc<Feedback>,
    answers: Arc<Feedback>,
}

impl Counter {
    async fn serve(self, outlet: Arc<Outlet>) {
        while let Some(first) = outlet.take().await {
            let mut bytes = first.bytes().len();
            let mut parcels = vec![first];
            while parcels.len() < PARCELS_MAX
                && bytes < BYTES_MAX
                && let Some(next) = outlet.take_now()
            {
                bytes += next.bytes().len();
                parcels.push(next);
            }
            let counter = self.clone();
            // A transaction waits for the disk; other tasks go on meanwhile.
            let dealt = tokio::task::spawn_blocking(move || counter.deal(parcels));
            // A panic has failed the parcels, and is told by the runtime.
            let _ = dealt.await;
        }
    }

    fn deal(&self, parcels: Vec<Parcel>) {
        let asked: Vec<Vec<_>> = parcels.iter().map(commands).collect();
        let whole: Vec<_> = parcels
            .iter()
            .zip(&asked)
            .flat_map(|(parcel, asked)| asked.iter().enumerate().map(move |one| (parcel, one)))
            .filter_map(|(parcel, (event, asked))| {
                Some((asked.as_ref().ok()?, parcel.event(event)))
            })
            .collect();
        let mut outcomes = match self.values.deal(&whole) {
            Ok(outcomes) => outcomes.into_iter(),
            Err(reason) => vec![Err(reason); whole.len()].into_iter(),
        };
        drop(whole);
        for (parcel, asked) in parcels.into_iter().zip(asked) {
            let mut told = Told::default();
            for (event, asked) in asked.into_iter().enumerate() {
                let correlation = parcel.attribute(event, CORRELATION);
                match asked {
                    Ok(command) => {
                        let outcome = outcomes.next().expect("each command has an outcome");
                        told.add(event, Some(command.name()), correlation, outcome);
                    }
                    Err(reason) => told.add(event, None, correlation, Err(reason)),
                }
            }
            let mut metas = told.metas.into_iter();
            let meta = |_: &Refusal| metas.next().unwrap_or_default();
            parcel.answer_about(told.answers, &self.answers, &told.refused, meta, &self.errors);
        }
    }
}

/// What each event of a parcel asks for.
fn commands(parcel: &Parcel) -> Vec<Result<Command, String>> {
    let command = |event| Command::of_meta(parcel.attribute(event, COMMAND));
    (0..parcel.events().len()).map(command).collect()
}

/// What is said to the events of a parcel.
#[derive(Default)]
struct Told {
    answers: Messages,
    refused: Vec<Refusal>,
    /// The metadata of what is refused.
    metas: Vec<String>,
}

impl Told {
    fn add(
        &mut self,
        event: usize,
        op: Option<&'static str>,
        correlation: Option<&str>,
        outcome: Outcome,
    ) {
        match outcome {
            Ok(all) => {
                for found in all {
                    self.answers.push(&meta(op, Ok(&found.key), correlation), &found.json);
                }
            }
            Err(reason) => {
                self.metas.push(meta(op, Err(&reason), correlation));
                self.refused.push(Refusal { event, reason, details: String::new() });
            }
        }
    }
}

/// `{"kv": {"op": "get", "ok": "key"}, "correlation": …}`
fn meta(
    op: Option<&'static str>,
    outcome: Result<&str, &str>,
    correlation: Option<&str>,
) -> String {
    let (word, text) = match outcome {
        Ok(key) => ("ok", key),
        Err(reason) => ("error", reason),
    };
    let op = op.map_or(serde_json::Value::Null, serde_json::Value::from);
    let text = serde_json::Value::from(text);
    let mut meta = format!("{{\"kv\":{{\"op\":{op},\"{word}\":{text}}}");
    if let Some(correlation) = correlation.filter(|one| *one != "null") {
        meta.push_str(",\"correlation\":");
        meta.push_str(correlation);
    }
    meta.push('}');
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_say_what_was_asked_and_what_became_of_it() {
        assert_eq!(
            meta(Some("get"), Ok("a\"b"), Some("7")),
            r#"{"kv":{"op":"get","ok":"a\"b"},"correlation":7}"#
        );
        assert_eq!(meta(None, Err("why"), Some("null")), r#"{"kv":{"op":null,"error":"why"}}"#);
    }
}
