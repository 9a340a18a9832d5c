//! `influx||`: a point of InfluxDB line protocol. A line without a timestamp gets the event's time
//! of arrival; an empty line or a comment does not match.

use crate::formats::influx;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::{Arena, Value};

/// `influx`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "influx",
    doc: "Parses one line of InfluxDB line protocol to a record of measurement, tags, fields and \
          timestamp (nanoseconds). The pattern is ignored.",
    examples: &[(
        r#"match "cpu,host=a load=1.5 12" of case point = ~ influx|| => point case _ => null end"#,
        r#"{"measurement": "cpu", "tags": {"host": "a"}, "fields": {"load": 1.5}, "timestamp": 12}"#,
    )],
    compile: |_| Ok(Box::new(Influx)),
};

#[derive(Debug)]
struct Influx;

impl Extractor for Influx {
    fn matches(&self, text: &str) -> bool {
        influx::parse(text, 0, &Arena::new()).is_ok_and(|point| point.is_some())
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        influx::parse(text, call.facts.ingest_ns, call.arena).ok().flatten()
    }
}
