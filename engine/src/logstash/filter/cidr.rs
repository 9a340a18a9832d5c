//! `cidr`: succeeds when one of the addresses lies in one of the networks.

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::complain;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option};
use crate::logstash::template::Template;
use std::net::IpAddr;

/// `cidr`
pub static DECLARATION: Declaration = Declaration {
    name: "cidr",
    doc: "Succeeds when an address lies in a network.",
    options: &[
        option("address", Takes::List, "The addresses."),
        option("network", Takes::List, "The networks, such as `10.0.0.0/8`."),
        option("network_path", Takes::Text, "A file of networks."),
        option("separator", Takes::Text, "What stands between the networks of the file."),
        option("refresh_interval", Takes::Number, "Accepted; the file is read at the start."),
    ],
    make,
};

#[derive(Debug)]
struct Cidr {
    addresses: Vec<Template>,
    networks: Vec<Template>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let templates = |texts: Option<Vec<(String, _)>>| -> Vec<Template> {
        texts.unwrap_or_default().iter().map(|(text, _)| Template::parse(text)).collect()
    };
    let addresses = templates(arguments.texts("address"));
    let mut networks = templates(arguments.texts("network"));
    if let Some(path) = arguments.text("network_path") {
        let separator = arguments.text("separator").unwrap_or_else(|| "\n".to_string());
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let lines = text.split(separator.as_str()).map(str::trim);
                networks.extend(lines.filter(|line| !line.is_empty()).map(Template::parse));
            }
            Err(error) => {
                let span = arguments.place("network_path");
                arguments.complain(complain::missing_file(span, &format!("{path}: {error}")));
            }
        }
    }
    Some(Box::new(Cidr { addresses, networks }))
}

impl Filter for Cidr {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let render = |template: &'a Template| template.render(event, turn.arena, turn.now);
        let addresses = self.addresses.iter().filter_map(|one| render(one).trim().parse().ok());
        let addresses: Vec<IpAddr> = addresses.collect();
        let networks = self.networks.iter().flat_map(|one| render(one).split(','));
        let mut networks = networks.filter_map(|text| network(text.trim()));
        let found = !addresses.is_empty()
            && networks
                .any(|(base, length)| addresses.iter().any(|one| lies_in(*one, base, length)));
        if found { Outcome::Matched } else { Outcome::Unmatched }
    }
}

/// An address and the length of its prefix.
fn network(text: &str) -> Option<(IpAddr, u32)> {
    let (base, length) = match text.split_once('/') {
        Some((base, length)) => (base.parse().ok()?, Some(length)),
        None => (text.parse().ok()?, None),
    };
    let bits = if matches!(base, IpAddr::V4(_)) { 32 } else { 128 };
    let length = match length {
        None => bits,
        Some(length) => match (length.parse::<u32>(), length.parse::<std::net::Ipv4Addr>()) {
            (Ok(length), _) => length,
            (_, Ok(mask)) => u32::from(mask).leading_ones(),
            _ => return None,
        },
    };
    (length <= bits).then_some((base, length))
}

fn lies_in(address: IpAddr, base: IpAddr, length: u32) -> bool {
    match (address, base) {
        (IpAddr::V4(address), IpAddr::V4(base)) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            u32::from(address) & mask == u32::from(base) & mask
        }
        (IpAddr::V6(address), IpAddr::V6(base)) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            u128::from(address) & mask == u128::from(base) & mask
        }
        _ => false,
    }
}
