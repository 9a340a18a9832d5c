//! `xml`: reads a field as XML, as a whole or by paths. XML that is not well formed gets a tag.

mod path;
mod store;
mod xpath;

use super::common::Name;
use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option, required};
use path::Path;
use roxmltree::{Document, ParsingOptions};
use std::collections::HashMap;
use store::Style;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use xpath::{Found, Search};

/// `xml`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "xml",
    doc: "Reads a field as XML.",
    options: &[
        required("source", Takes::Text, "The field."),
        option("target", Takes::Text, "Where all of it goes."),
        option("store_xml", Takes::Flag, "Whether all of it is stored."),
        option("xpath", Takes::Hash, "Fields by path."),
        option("force_array", Takes::Flag, "Whether every child is a list."),
        option("force_content", Takes::Flag, "Whether text is always under `content`."),
        option("namespaces", Takes::Hash, "Namespaces by the prefix that paths use."),
        option("remove_namespaces", Takes::Flag, "Whether paths need no prefixes."),
        option("suppress_empty", Takes::Flag, "Whether empty elements are left out."),
        option("parse_options", Takes::Text, "Accepted; `strict` is how XML is read."),
    ],
    make,
};

/// Elements of one text, at the most.
const NODES_MAX: u32 = 1_000_000;

#[derive(Debug)]
struct Xml {
    source: FieldRef,
    target: Option<FieldRef>,
    paths: Vec<(Path, Name)>,
    namespaces: HashMap<String, String>,
    any_namespace: bool,
    style: Style,
    tags: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let store = arguments.flag("store_xml", true);
    if store && arguments.get("target").is_none() {
        arguments.complain(complain::missing_option("xml", "target", arguments.span));
        return None;
    }
    let mut paths = Vec::new();
    for (text, target) in arguments.pairs("xpath") {
        let span = target.span;
        let Some(name) = target.text() else {
            arguments.complain(complain::bad_value("xpath", span, "a hash of paths and fields"));
            continue;
        };
        match Path::parse(&text) {
            Ok(path) => paths.push((path, Name::compile(name, span, arguments))),
            Err(reason) => arguments.complain(complain::bad_pattern(&text, span, &reason)),
        }
    }
    let namespaces = arguments.pairs("namespaces");
    let namespaces =
        namespaces.into_iter().filter_map(|(prefix, uri)| Some((prefix, uri.text()?.to_string())));
    Some(Box::new(Xml {
        source: arguments.field_or_none("source")?,
        target: if store { arguments.field_or_none("target") } else { None },
        paths,
        namespaces: namespaces.collect(),
        any_namespace: arguments.flag("remove_namespaces", false),
        style: Style {
            lists: arguments.flag("force_array", true),
            content: arguments.flag("force_content", false),
            suppress_empty: arguments.flag("suppress_empty", true),
        },
        tags: vec!["_xmlparsefailure".to_string()],
    }))
}

impl Filter for Xml {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let text = match event.get(&self.source) {
            None | Some(Datum::Null | Datum::Bool(false)) => return Outcome::Unmatched,
            Some(Datum::Str(text)) => *text,
            Some(Datum::List(items)) => match items.as_slice() {
                [Datum::Str(only)] => *only,
                _ => return turn.fail(event, &self.tags),
            },
            Some(_) => return turn.fail(event, &self.tags),
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Outcome::Unmatched;
        }
        let options =
            ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let Ok(document) = Document::parse_with_options(trimmed, options) else {
            return turn.fail(event, &self.tags);
        };
        let mut matched = false;
        let mut search = Search::new(&document, &self.namespaces, self.any_namespace);
        for (path, name) in &self.paths {
            let found = match search.find(path) {
                Found::Nothing => continue,
                Found::Text(text) => vec![Datum::Str(arena.str(&text))],
                Found::Texts(texts) => {
                    texts.iter().map(|text| Datum::Str(arena.str(text))).collect()
                }
            };
            let Some(field) = name.of(event, arena, turn.now) else { continue };
            matched = true;
            let value = match found.as_slice() {
                [only] if !self.style.lists => only.clone(),
                _ => Datum::List(found),
            };
            if event.set(&field, value, arena).is_err() {
                return turn.fail(event, &self.tags);
            }
        }
        if let Some(target) = &self.target {
            let value = store::collapse(document.root_element(), self.style, arena);
            if event.set(target, value, arena).is_err() {
                return turn.fail(event, &self.tags);
            }
            matched = true;
        }
        if matched { Outcome::Matched } else { Outcome::Unmatched }
    }
}
