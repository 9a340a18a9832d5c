//! `repeat`: the same lines over and over.

use std::sync::Arc;

use temblor_declare::{Built, CodecUse, Connector, Ends, Notation, Setting, Takes};

use super::without_cutting;
use crate::source::SourceConfig;
use crate::source::repeat::RepeatConfig;

/// Lines over and over in Temblor programs.
pub(super) static REPEAT: Connector = Connector {
    kind: "repeat",
    notation: Notation::Temblor,
    doc: "`{\"sequence\", \"line\"}`: the same lines over and over, as fast as they are taken. `sequence` is the number of \
          the round, from 0.",
    ends: Ends::Source,
    address: None,
    source: &[
        Setting::new("lines", Takes::Texts, "The lines of a round."),
        Setting::new(
            "count",
            Takes::Whole { least: 0, most: u64::MAX },
            "How many rounds; 0 is for ever.",
        )
        .or("0"),
        Setting::new(
            "times",
            Takes::Whole { least: 0, most: u64::MAX },
            "How often every line of a round comes.",
        )
        .or("1"),
    ],
    sink: &[],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[
        "source made from repeat with lines = [\"one\", \"two\"], count = 3 end;\nmade |> out;",
    ],
    build: |what| {
        without_cutting(what, "repeat")?;
        let config = SourceConfig::Repeat(RepeatConfig {
            lines: what.settings.texts("lines").to_vec(),
            count: what.settings.whole("count"),
            times: what.settings.whole("times"),
            per_second: None,
        });
        Ok(Built { source: Some(Arc::new(config)), ..Built::default() })
    },
};
