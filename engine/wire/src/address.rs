//! Addresses as users write them: `HOST:PORT`, with or without a scheme.

use std::net::IpAddr;

use temblor_declare::Wrong;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name, or an address of IPv4 or IPv6 without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Reads `HOST:PORT`; a scheme in front (`tcp://`) and a `/` behind are allowed.
    ///
    /// # Errors
    /// What is wrong, for the setting `setting`.
    pub fn parse(text: &str, setting: &'static str) -> Result<Self, Wrong> {
        Self::parse_with_port(text, None, setting)
    }

    /// The same, with the port that holds when the text has none.
    ///
    /// # Errors
    /// What is wrong, for the setting `setting`.
    pub fn parse_with_port(
        text: &str,
        default: Option<u16>,
        setting: &'static str,
    ) -> Result<Self, Wrong> {
        let plain = text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/');
        let wrong = || {
            let message = format!("`{text}` is no address");
            Wrong::at(setting, message, "write HOST:PORT, such as \"127.0.0.1:5514\"")
        };
        let (host, port) = match plain.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
            _ => (plain, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = match port {
            Some(port) => port.parse().map_err(|_| wrong())?,
            None => default.ok_or_else(wrong)?,
        };
        if host.is_empty() {
            return Err(wrong());
        }
        Ok(Self { host: host.to_string(), port })
    }

    /// Whether only this machine reaches it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        let parse = |text| Address::parse(text, "address").map(|one| one.to_string());
        for (text, wanted) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("tcp://host:5514/", "host:5514"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(wanted));
        }
        for text in ["host", ":80", "host:port", "host:70000", "::1", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
        let default = Address::parse_with_port("host", Some(9200), "address").unwrap();
        assert_eq!(default.to_string(), "host:9200");
        assert!(Address::parse("[::1]:1", "address").unwrap().is_loopback());
        assert!(!Address::parse("0.0.0.0:1", "address").unwrap().is_loopback());
    }
}
