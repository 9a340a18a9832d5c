//! The sink of `cb`: acknowledges, fails and stops as each event says.
//!
//! Invariant: an event that says nothing, or nothing that is known, is acknowledged; the latter is told.

use std::sync::Arc;

use temblor_lang::value::{Arena, Value};
use temblor_runtime::ack::Token;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use temblor_runtime::outputs::Chunk;
use temblor_stdlib::formats::json;

use crate::sink::{Delivered, OpenSink, Sink, WriteFailure};
use crate::source::breaker::Circuit;

/// What a plan says of the sink.
#[derive(Clone, Debug)]
pub(crate) struct BreakerSink {
    pub circuit: Arc<Circuit>,
}

struct Opened {
    circuit: Arc<Circuit>,
    desk: Option<Desk>,
}

impl OpenSink for BreakerSink {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(Box::new(Opened { circuit: Arc::clone(&self.circuit), desk: None }))
    }
}

impl Sink for Opened {
    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        self.desk = Some(desk.clone());
        Ok(())
    }

    fn deliver(
        &mut self,
        _: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        for place in chunk.attributes.iter().flatten() {
            let text = chunk.attribute_bytes.get(place.0 as usize..place.1 as usize);
            let text = text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("null");
            self.obey(text, tokens);
        }
        Ok(Delivered::Written)
    }

    fn write(&mut self, _: &str, _: &[u8]) -> Result<(), WriteFailure> {
        Ok(())
    }
}

impl Opened {
    /// Does what a word, or each word of an array, says.
    fn obey(&self, text: &str, tokens: &[Token]) {
        let arena = Arena::new();
        let value = json::parse(text, &arena).unwrap_or(Value::Null);
        let single = [value];
        let words = value.as_array(&arena).unwrap_or(&single);
        for word in words.iter().filter(|word| **word != Value::Null) {
            match word.as_str() {
                Some("ack") => {}
                Some("fail") => tokens.iter().for_each(Token::fail),
                Some("trigger" | "close" | "break") => self.circuit.set_broken(true),
                Some("restore" | "open") => self.circuit.set_broken(false),
                _ => self.wonder(text),
            }
        }
    }

    fn wonder(&self, text: &str) {
        if let Some(desk) = &self.desk {
            let reason = format!("`{text}` is nothing that `cb` can do");
            let help = "known are ack, fail, trigger, restore, close, open";
            desk.trouble(Error::output(&*desk.name, reason, help));
        }
    }
}
