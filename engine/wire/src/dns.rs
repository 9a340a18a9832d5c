//! `dns`: names and addresses that events ask for, and tremor's `dns_client`.
//!
//! Invariant: answers are kept no longer than their records allow (the time to live), nor than the program
//! allows.

use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};

use crate::address::Address;
use crate::asking::{
    ATTEMPTS, Ask, CACHE_FOR, CACHE_MISSES_FOR, CACHE_SIZE, CONCURRENCY, Lookup, Manners, ORDERED,
    TIMEOUT, Told, Trouble,
};

mod tremor;

pub use tremor::DNS_CLIENT;

/// The address that stands for the servers that the system asks.
const SYSTEM: &str = "system";
/// The port of DNS (RFC 1035).
const PORT: u16 = 53;
/// Questions to one server at the same time: beyond our own bound nothing waits in the resolver.
const REQUESTS_MAX: usize = 4096;

/// The kinds of records that can be asked for.
const TYPES: [&str; 9] = ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"];

/// Lookups of names.
pub static DNS: Connector = Connector {
    kind: "dns",
    notation: Notation::Temblor,
    doc: "Looks names and addresses up. Each event that goes to it comes back from `NAME/out`, with the question and \
          the answer in `$lookup.question` and `$lookup.answer`: an array of texts, or `null` when the name does not \
          exist or has no such record. A question that nobody answers is asked again, and its event goes to \
          `NAME/err` in the end. The step `lookup NAME into event.field` writes all of that. Events wait here and \
          hold up no worker; they count as delivered when all that stems from their return is. With `type = \"PTR\"` \
          the question is an address.",
    ends: Ends::Sink,
    address: Some(
        "\"system\": the servers that the system asks; or \"HOST:PORT\", several with commas",
    ),
    source: &[],
    sink: &[
        Setting::new("name", Takes::PerEvent, "What is looked up; nothing is when it is `null`.")
            .required(),
        Setting::new("metadata", Takes::Hidden("$"), "Comes back with the event."),
        Setting::new("type", Takes::Word(&TYPES), "The kind of record.").or("A"),
        TIMEOUT,
        ATTEMPTS,
        CONCURRENCY,
        ORDERED,
        CACHE_FOR,
        CACHE_MISSES_FOR,
        CACHE_SIZE,
    ],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &["out"],
    meta: &["lookup"],
    examples: &[
        r#"sink names into dns "system" with name = event.ip, type = "PTR" end;
in |> lookup names into event.host else unknown |> out"#,
        r#"sink servers into dns "127.0.0.1:53" with name = event.domain, type = "MX", cache_for = "1h" end;
in |> servers;
servers/out |> set event.mail = $lookup.answer |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let manners = Manners::of_settings(settings);
    let kind = settings.text("type").parse().expect("the declaration lists the kinds");
    let servers = servers(settings.text("address"))?;
    let names = Names::new(servers, manners.timeout, kind);
    Ok(Built { sink: Some(Lookup::sink(names, manners)), ..Built::default() })
}

/// The servers of an address; none for those of the system.
fn servers(text: &str) -> Result<Vec<SocketAddr>, Wrong> {
    if text == SYSTEM {
        return Ok(Vec::new());
    }
    let mut servers = Vec::new();
    for part in text.split(',') {
        let address = Address::parse_with_port(part.trim(), Some(PORT), "address")?;
        let ip: IpAddr = address.host.parse().map_err(|_| {
            let message = format!("`{}` is no address of a server", address.host);
            Wrong::at(
                "address",
                message,
                "write \"system\", or an address such as \"127.0.0.1:53\"",
            )
        })?;
        servers.push(SocketAddr::new(ip, address.port));
    }
    Ok(servers)
}

/// A resolver that is made when it is needed first, on the runtime of the run.
#[derive(Debug)]
struct Servers {
    addresses: Vec<SocketAddr>,
    timeout: Duration,
    made: OnceLock<Result<TokioResolver, String>>,
}

impl Servers {
    fn resolver(&self) -> Result<&TokioResolver, Trouble> {
        let made = self.made.get_or_init(|| self.make().map_err(|error| error.to_string()));
        let reason = |reason: &String| format!("no server of DNS can be asked: {reason}");
        made.as_ref().map_err(|error| Trouble::ForGood(reason(error)))
    }

    fn make(&self) -> Result<TokioResolver, NetError> {
        let mut builder = match self.addresses.is_empty() {
            true => TokioResolver::builder_tokio()?,
            false => {
                let servers = self.addresses.iter().map(|address| server(*address)).collect();
                let config = ResolverConfig::from_parts(None, Vec::new(), servers);
                Resolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
        };
        let options: &mut ResolverOpts = builder.options_mut();
        options.timeout = self.timeout;
        // Attempts and answers that are kept are ours to count.
        options.attempts = 0;
        options.cache_size = 0;
        options.max_active_requests = REQUESTS_MAX;
        builder.build()
    }

    async fn records(&self, name: Name, kind: RecordType) -> Result<Vec<Record>, Trouble> {
        let looked_up = self.resolver()?.lookup(name, kind).await;
        match looked_up {
            Ok(found) => Ok(found.answers().to_vec()),
            Err(error) if error.is_nx_domain() || error.is_no_records_found() => Ok(Vec::new()),
            Err(error) => Err(Trouble::ForNow(error.to_string(), None)),
        }
    }
}

fn server(address: SocketAddr) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    connections.iter_mut().for_each(|one| one.port = address.port());
    NameServerConfig::new(address.ip(), true, connections)
}

/// Asks for records of one kind.
#[derive(Debug)]
struct Names {
    servers: Servers,
    kind: RecordType,
}

impl Names {
    fn new(addresses: Vec<SocketAddr>, timeout: Duration, kind: RecordType) -> Self {
        Self { servers: Servers { addresses, timeout, made: OnceLock::new() }, kind }
    }
}

impl Ask for Names {
    async fn ask(&self, question: &str) -> Result<Told, Trouble> {
        let name = name_of(question, self.kind)?;
        let records = self.servers.records(name, self.kind).await?;
        let ours: Vec<_> = records.iter().filter(|one| one.record_type() == self.kind).collect();
        let holds = ours.iter().map(|one| one.ttl).min();
        let texts: Vec<_> = ours.iter().map(|one| shown(&one.data)).collect();
        let answer = (!texts.is_empty()).then(|| serde_json::Value::from(texts).to_string().into());
        Ok(Told { answer, holds: holds.map(|seconds| Duration::from_secs(u64::from(seconds))) })
    }
}

/// The name that a question asks for.
fn name_of(question: &str, kind: RecordType) -> Result<Name, Trouble> {
    if kind == RecordType::PTR
        && let Ok(address) = question.parse::<IpAddr>()
    {
        return Ok(Name::from(address));
    }
    if question.is_empty() {
        return Err(Trouble::ForGood("a name must not be empty".to_string()));
    }
    let wrong = |error: String| Trouble::ForGood(format!("`{question}` is no name: {error}"));
    let mut name = Name::from_utf8(question).map_err(|error| wrong(error.to_string()))?;
    // As it stands, without the domains that the system would try behind it.
    name.set_fqdn(true);
    Ok(name)
}

/// A record as a text: names without the dot at their ends, texts as they are.
fn shown(data: &RData) -> String {
    match data {
        RData::TXT(text) => {
            let parts = text.txt_data.iter().map(|part| String::from_utf8_lossy(part));
            parts.collect()
        }
        other => other.to_string().trim_end_matches('.').to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_addresses() {
        assert_eq!(servers("system").unwrap(), []);
        let two = servers("127.0.0.1:5353, [::1]").unwrap();
        assert_eq!(two, ["127.0.0.1:5353".parse().unwrap(), "[::1]:53".parse().unwrap()]);
        assert!(servers("dns.example:53").is_err() && servers("").is_err());
    }

    #[test]
    fn questions_are_names_or_addresses() {
        let name = |text, kind| name_of(text, kind).map(|name| name.to_string());
        assert_eq!(name("10.0.0.1", RecordType::PTR).unwrap(), "1.0.0.10.in-addr.arpa.");
        assert_eq!(name("a.example", RecordType::A).unwrap(), "a.example.");
        let long = "a".repeat(64);
        for wrong in ["", "a..b", &long] {
            let said = name(wrong, RecordType::A);
            assert!(matches!(said, Err(Trouble::ForGood(_))), "{wrong}: {said:?}");
        }
    }
}
