//! URLs as users write them: `http://HOST:PORT/PATH`, with or without a scheme.
//!
//! Invariant: a URL never holds a password; credentials are a setting, so that no message shows them.

use hyper::Uri;
use temblor_declare::Wrong;
use temblor_wire::address::Address;

/// Whom a client asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The host and the port.
    pub address: Address,
    /// The path and the query; begins with `/`.
    pub path: String,
}

impl Target {
    /// Reads a URL. Without a scheme it is `http`; without a port, `port` holds, or that of the scheme.
    ///
    /// # Errors
    /// What is wrong, for the setting `setting`.
    pub(crate) fn parse(
        text: &str,
        port: Option<u16>,
        setting: &'static str,
    ) -> Result<Self, Wrong> {
        let wrong = |why: &str| {
            let help = "write a URL such as \"http://127.0.0.1:8080/path\"";
            Wrong::at(setting, format!("`{text}` is no URL of a server: {why}"), help)
        };
        let (scheme, rest) = match text.split_once("://") {
            Some(("http" | "ws", rest)) => ("http", rest),
            Some(("https" | "wss", rest)) => ("https", rest),
            Some((other, _)) => return Err(wrong(&format!("it cannot be `{other}://`"))),
            None => ("http", text),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            let message = format!("the URL of `{setting}` holds a password");
            return Err(Wrong::at(setting, message, "write auth = {\"basic\": {…}} instead"));
        }
        let default = port.unwrap_or(if scheme == "https" { 443 } else { 80 });
        let address = Address::parse_with_port(authority, Some(default), setting)?;
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        let target = Self { scheme, address, path };
        target.uri(&target.path).map_err(|error| wrong(&error))?;
        Ok(target)
    }

    /// The URI of another path on the same server.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub(crate) fn uri(&self, path: &str) -> Result<Uri, String> {
        let text = format!("{}://{}{path}", self.scheme, self.address);
        text.parse().map_err(|error: hyper::http::uri::InvalidUri| error.to_string())
    }

    /// The URI of a path below this one.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub(crate) fn below(&self, path: &str) -> Result<Uri, String> {
        self.uri(&format!("{}{path}", self.path.trim_end_matches('/')))
    }

    /// Whether nobody in between can read what is sent.
    #[must_use]
    pub(crate) fn is_safe(&self) -> bool {
        self.scheme == "https" || self.address.is_loopback()
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.address, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_scheme_a_host_a_port_and_a_path() {
        let parse = |text| Target::parse(text, None, "address").map(|one| one.to_string());
        for (text, wanted) in [
            ("http://host", "http://host:80/"),
            ("https://host/a?b=c", "https://host:443/a?b=c"),
            ("[::1]:80/x", "http://[::1]:80/x"),
            ("host:81?q", "http://host:81/?q"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(wanted));
        }
        for text in ["ftp://host", "http://", "http://host:port", "http://u:p@host", "http://h/a b"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        let target = Target::parse("http://host:1/base/", None, "address").unwrap();
        assert_eq!(target.below("/_bulk").unwrap().to_string(), "http://host:1/base/_bulk");
    }
}
