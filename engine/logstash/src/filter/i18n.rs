//! `i18n`: writes letters of the Latin script without their marks; what has no such form is a question mark.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `i18n`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "i18n",
    doc: "Writes letters without their marks.",
    options: &[option("transliterate", Takes::List, "The fields.")],
    make,
};

/// Letters by what stands for them: the second half of Latin-1, and Latin Extended-A.
const LETTERS: &[(&str, &str)] = &[
    ("A", "ÀÁÂÃÄÅĀĂĄ"),
    ("AE", "Æ"),
    ("C", "ÇĆĈĊČ"),
    ("D", "ÐĎĐ"),
    ("E", "ÈÉÊËĒĔĖĘĚ"),
    ("G", "ĜĞĠĢ"),
    ("H", "ĤĦ"),
    ("I", "ÌÍÎÏĨĪĬĮİ"),
    ("IJ", "Ĳ"),
    ("J", "Ĵ"),
    ("K", "Ķ"),
    ("L", "ĹĻĽĿŁ"),
    ("N", "ÑŃŅŇ"),
    ("NG", "Ŋ"),
    ("O", "ÒÓÔÕÖØŌŎŐ"),
    ("OE", "Œ"),
    ("R", "ŔŖŘ"),
    ("S", "ŚŜŞŠ"),
    ("T", "ŢŤŦ"),
    ("Th", "Þ"),
    ("U", "ÙÚÛÜŨŪŬŮŰŲ"),
    ("W", "Ŵ"),
    ("Y", "ÝŶŸ"),
    ("Z", "ŹŻŽ"),
    ("a", "àáâãäåāăą"),
    ("ae", "æ"),
    ("c", "çćĉċč"),
    ("d", "ðďđ"),
    ("e", "èéêëēĕėęě"),
    ("g", "ĝğġģ"),
    ("h", "ĥħ"),
    ("i", "ìíîïĩīĭįı"),
    ("ij", "ĳ"),
    ("j", "ĵ"),
    ("k", "ķĸ"),
    ("l", "ĺļľŀł"),
    ("n", "ñńņň"),
    ("'n", "ŉ"),
    ("ng", "ŋ"),
    ("o", "òóôõöøōŏő"),
    ("oe", "œ"),
    ("r", "ŕŗř"),
    ("s", "śŝşš"),
    ("ss", "ß"),
    ("t", "ţťŧ"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűų"),
    ("w", "ŵ"),
    ("x", "×"),
    ("y", "ýÿŷ"),
    ("z", "źżž"),
];

#[derive(Debug)]
struct Transliterate {
    fields: Vec<FieldRef>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let fields = arguments.references("transliterate").unwrap_or_default();
    Some(Box::new(Transliterate { fields }))
}

impl Filter for Transliterate {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        for field in &self.fields {
            let items = match event.get_mut(field) {
                Some(Datum::List(items)) => items.as_mut_slice(),
                Some(one) => std::slice::from_mut(one),
                None => continue,
            };
            for item in items {
                if let Datum::Str(text) = item
                    && !text.is_ascii()
                {
                    *text = turn.arena.str(&plain(text));
                }
            }
        }
        Outcome::Matched
    }
}

fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let found = LETTERS.iter().find(|(_, letters)| letters.contains(character));
        match found {
            _ if character.is_ascii() => out.push(character),
            Some((instead, _)) => out.push_str(instead),
            None => out.push('?'),
        }
    }
    out
}
