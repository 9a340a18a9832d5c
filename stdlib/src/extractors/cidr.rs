//! `cidr||` and `cidr|10.0.0.0/8, …|`: addresses and networks. With a list of ranges only a plain
//! IPv4 address inside of one of them matches.

use crate::formats::cidr::{Ipv4Ranges, Network};
use std::net::Ipv4Addr;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `cidr`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "cidr",
    doc: "Reads an IP address or network to its prefix and mask. With a list of IPv4 ranges it \
          matches the IPv4 addresses in them.",
    examples: &[
        (
            r#"match "10.1.0.0/16" of case net = ~ cidr|| => net case _ => null end"#,
            r#"{"prefix": [10, 1, 0, 0], "mask": [255, 255, 0, 0]}"#,
        ),
        (
            r#"match "192.168.1.2" of case ~ cidr|10.0.0.0/8, 192.168.0.0/16| => true case _ => false end"#,
            "true",
        ),
    ],
    compile: |pattern| {
        if pattern.is_empty() {
            return Ok(Box::new(AnyNetwork));
        }
        Ok(Box::new(InRanges(Ipv4Ranges::compile(pattern)?)))
    },
};

#[derive(Debug)]
struct AnyNetwork;

impl Extractor for AnyNetwork {
    fn matches(&self, text: &str) -> bool {
        Network::parse(text).is_some()
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        Network::parse(text).map(|network| network.to_value(call.arena))
    }
}

#[derive(Debug)]
struct InRanges(Ipv4Ranges);

impl Extractor for InRanges {
    fn matches(&self, text: &str) -> bool {
        text.parse::<Ipv4Addr>().is_ok_and(|address| self.0.contains(address))
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        self.matches(text)
            .then(|| Network::parse(text))
            .flatten()
            .map(|net| net.to_value(call.arena))
    }
}
