//! `es_bulk`: an action on one line, and its document on the next.

use super::decode::{DecodeState, Decoder, Moment};
use crate::filter;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

impl Decoder {
    /// A line: an action, which waits for its document, or the document.
    pub(super) fn bulk<'a>(
        &'a self,
        state: &mut DecodeState,
        text: &'a str,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let arena = moment.arena;
        let action = match state.action.take() {
            None if text.trim().is_empty() => return,
            None => {
                let read = filter::read_json(text, arena);
                let is_delete =
                    matches!(&read, Some(Datum::Map(map)) if map.get("delete").is_some());
                if !is_delete {
                    state.action = Some(text.to_string());
                    return;
                }
                text
            }
            Some(action) => arena.str(&action),
        };
        let read = filter::read_json(text, arena);
        let Some(Datum::Map(document)) = read else {
            out.push(self.failed(text, "_jsonparsefailure", moment));
            return;
        };
        let document = if action == text { Map::default() } else { document };
        let mut event = self.event(document, moment);
        if let Some(Datum::Map(action)) = filter::read_json(action, arena)
            && let Some((name, Datum::Map(fields))) = action.into_entries().into_iter().next()
        {
            let mut fields = fields;
            fields.insert("action", Datum::Str(name));
            match &self.action {
                // New metadata has nothing in the way.
                Some(place) => drop(event.set(place, Datum::Map(fields), arena)),
                None => event.metadata = fields,
            }
        }
        out.push(event);
    }
}

/// Where the schema has the action of a document of `es_bulk`.
pub(super) fn place() -> FieldRef {
    FieldRef::parse("[@metadata][codec][es_bulk]").expect("it is a field reference")
}

/// `{"index": {"_index": …}}` and the document, each on a line.
pub(super) fn push(out: &mut String, event: &LogEvent<'_>) {
    let text = |name: &str| event.metadata.get(name).map(Datum::text);
    let action = text("action").unwrap_or_else(|| "index".to_string());
    let mut fields = Map::default();
    let (index, id) = (text("_index"), text("_id"));
    if let Some(index) = &index {
        fields.insert("_index", Datum::Str(index));
    }
    if let Some(id) = &id {
        fields.insert("_id", Datum::Str(id));
    }
    let mut line = Map::default();
    line.insert(&action, Datum::Map(fields));
    Datum::Map(line).push_json(out);
    out.push('\n');
    if action != "delete" {
        Datum::Map(event.data.clone()).push_json(out);
        out.push('\n');
    }
}
