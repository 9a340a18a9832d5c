//! `anonymize`: puts digests in the place of fields. The methods are those of `fingerprint`, always with a
//! key; the common options do nothing, as the filter never says that it succeeded.

use super::fingerprint::Method;
use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `anonymize`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "anonymize",
    doc: "Puts digests in the place of fields.",
    options: &[
        required("fields", Takes::List, "The fields."),
        required("algorithm", Takes::OneOf(ALGORITHMS), "How a digest is made."),
        required("key", Takes::Text, "The key, or the length of the network prefix."),
    ],
    make,
};

const ALGORITHMS: &[&str] =
    &["SHA1", "SHA256", "SHA384", "SHA512", "MD5", "MURMUR3", "IPV4_NETWORK"];

#[derive(Debug)]
struct Anonymize {
    fields: Vec<FieldRef>,
    method: Method,
    key: String,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let fields = arguments.references("fields")?;
    let method = Method::named(&arguments.text("algorithm")?)?;
    Some(Box::new(Anonymize { fields, method, key: arguments.text("key")? }))
}

impl Filter for Anonymize {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let digest = |value: &Datum<'a>| {
            self.method.digest(value, &value.text(), Some(&self.key), false, turn.arena)
        };
        for field in &self.fields {
            match event.get_mut(field) {
                None => {}
                Some(Datum::List(items)) => {
                    items.iter_mut().for_each(|item| *item = digest(item));
                }
                Some(value) => *value = digest(value),
            }
        }
        Outcome::Unmatched
    }
}
