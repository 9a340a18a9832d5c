//! `cidr`: succeeds when one of the addresses lies in one of the networks. These stand in the configuration
//! or in a file, which is read again when it has changed.

mod listed;

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use listed::Listed;
use std::net::IpAddr;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// `cidr`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "cidr",
    doc: "Succeeds when an address lies in a network.",
    options: &[
        option("address", Takes::List, "The addresses."),
        option("address_field", Takes::List, "Fields that hold addresses, one or a list of them."),
        option("network", Takes::List, "The networks, such as `10.0.0.0/8`."),
        option("network_path", Takes::Text, "A file of networks."),
        option("separator", Takes::Text, "What stands between the networks of the file."),
        option(
            "refresh_interval",
            Takes::Number,
            "Seconds from look to look at the file (600); it is read again when it has changed.",
        ),
    ],
    make,
};

/// Seconds from look to look at the file, as in Logstash.
const REFRESH_SECONDS: f64 = 600.0;
/// A file is not looked at more often than this.
const REFRESH_SECONDS_MIN: f64 = 0.1;

#[derive(Debug)]
struct Cidr {
    addresses: Vec<Template>,
    fields: Vec<FieldRef>,
    networks: Networks,
}

#[derive(Debug)]
enum Networks {
    /// They stand in the configuration.
    Here(Vec<Network>),
    /// They stand in a file.
    File(Arc<Listed>),
}

/// A network as it is written.
#[derive(Debug)]
enum Network {
    /// `10.0.0.0/8`: an address and the length of its prefix.
    Fixed(IpAddr, u32),
    /// `%{net}`, which may be several with commas between them.
    Open(Template),
}

impl Network {
    /// What a text lists; what is no network is left out.
    fn all(text: &str) -> Vec<Self> {
        let template = Template::parse(text);
        if !template.is_constant() {
            return vec![Network::Open(template)];
        }
        let parts = text.split(',').filter_map(|part| network(part.trim()));
        parts.map(|(base, length)| Network::Fixed(base, length)).collect()
    }

    fn holds(&self, addresses: &[IpAddr], event: &LogEvent<'_>, turn: &Turn<'_, '_>) -> bool {
        let any = |base, length| addresses.iter().any(|one| lies_in(*one, base, length));
        match self {
            Network::Fixed(base, length) => any(*base, *length),
            Network::Open(template) => template
                .rendered(event, turn.now)
                .split(',')
                .filter_map(|part| network(part.trim()))
                .any(|(base, length)| any(base, length)),
        }
    }
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let addresses = arguments.texts("address").unwrap_or_default();
    let addresses = addresses.iter().map(|(text, _)| Template::parse(text)).collect();
    let fields = arguments.references("address_field").unwrap_or_default();
    Some(Box::new(Cidr { addresses, fields, networks: networks(arguments)? }))
}

/// The networks; `None` when something is wrong with them, which has been said.
fn networks(arguments: &mut Arguments<'_>) -> Option<Networks> {
    let Some(path) = arguments.text("network_path") else {
        let texts = arguments.texts("network").unwrap_or_default();
        return Some(Networks::Here(
            texts.iter().flat_map(|(text, _)| Network::all(text)).collect(),
        ));
    };
    let span = arguments.place("network_path");
    if arguments.get("network").is_some() {
        arguments.complain(complain::bad_value("network_path", span, "left out beside `network`"));
        return None;
    }
    let separator = arguments.text("separator").unwrap_or_else(|| "\n".to_string());
    let seconds = arguments.number("refresh_interval").unwrap_or(REFRESH_SECONDS);
    let every = Duration::try_from_secs_f64(seconds.max(REFRESH_SECONDS_MIN));
    match Listed::open(&path, separator, every.unwrap_or(Duration::MAX)) {
        Ok(listed) => Some(Networks::File(listed)),
        Err(reason) => {
            arguments.complain(complain::missing_file(span, &reason));
            Some(Networks::Here(Vec::new()))
        }
    }
}

impl Filter for Cidr {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let parse = |one: &'a Template| one.render(event, turn.arena, turn.now).trim().parse().ok();
        let mut addresses: Vec<IpAddr> = self.addresses.iter().filter_map(parse).collect();
        for value in self.fields.iter().filter_map(|field| event.get(field)) {
            let items = if let Datum::List(items) = value { items } else { from_ref(value) };
            let parse = |item: &Datum<'_>| item.as_str()?.trim().parse::<IpAddr>().ok();
            addresses.extend(items.iter().filter_map(parse));
        }
        let any = |networks: &[Network]| {
            networks.iter().any(|network| network.holds(&addresses, event, turn))
        };
        let found = match &self.networks {
            _ if addresses.is_empty() => false,
            Networks::Here(networks) => any(networks),
            Networks::File(listed) => any(&listed.newest()),
        };
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
