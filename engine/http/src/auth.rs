//! Who may send, and as whom to send: the header `Authorization` (RFC 7235) on both sides.
//!
//! Invariant: no secret is shown, and how long a comparison takes tells nothing of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use temblor_declare::{Setting, Settings, Takes, Wrong};

/// The keys of the record `basic`.
const BASIC: &[Setting] = &[
    Setting::new("user", Takes::Text, "The name.").required(),
    Setting::new("password", Takes::Secret, "The password.").required(),
];

/// The keys of the record `auth`.
pub(crate) const AUTH: &[Setting] = &[
    Setting::new("basic", Takes::Record(BASIC), "A name and a password (RFC 7617)."),
    Setting::new("bearer", Takes::Secret, "A token (RFC 6750)."),
    Setting::new("api_key", Takes::Secret, "A key of Elasticsearch or OpenSearch, in Base64."),
];

/// What one side shows and the other expects.
#[derive(Clone)]
pub(crate) struct Credentials {
    scheme: &'static str,
    value: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ***", self.scheme)
    }
}

impl Credentials {
    /// As the record `auth` says, if there is one.
    ///
    /// # Errors
    /// Not exactly one kind is given.
    pub(crate) fn of_settings(settings: &Settings) -> Result<Option<Self>, Wrong> {
        let Some(auth) = settings.record("auth") else { return Ok(None) };
        let basic = auth.record("basic").map(|basic| {
            let password = basic.secret("password").map_or("", |secret| secret.reveal());
            Self::basic(basic.optional_text("user").unwrap_or_default(), password)
        });
        let token = |name: &str, scheme| {
            let secret = auth.secret(name)?;
            Some(Self::of_scheme(scheme, secret.reveal()))
        };
        let given = [basic, token("bearer", "Bearer"), token("api_key", "ApiKey")];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(one), None) if one.header().is_ok() => Ok(Some(one)),
            (Some(_), None) => {
                let help = "a token holds no line ends and no control characters";
                Err(Wrong::at("auth", "`auth` cannot be written into a header", help))
            }
            _ => {
                let help = "write auth = {\"basic\": {\"user\": …, \"password\": …}} or \
                            {\"bearer\": \"env:TOKEN\"}";
                Err(Wrong::at("auth", "`auth` takes exactly one of basic, bearer, api_key", help))
            }
        }
    }

    /// A name and a password.
    #[must_use]
    pub(crate) fn basic(user: &str, password: &str) -> Self {
        Self { scheme: "Basic", value: STANDARD.encode(format!("{user}:{password}")) }
    }

    /// A token of the given scheme.
    #[must_use]
    pub(crate) fn of_scheme(scheme: &'static str, token: &str) -> Self {
        Self { scheme, value: token.to_string() }
    }

    /// The value of the header.
    ///
    /// # Errors
    /// The secret holds bytes that no header may have.
    pub(crate) fn header(&self) -> Result<HeaderValue, hyper::header::InvalidHeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{} {}", self.scheme, self.value))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Whether a request shows them.
    #[must_use]
    pub(crate) fn are_shown_in(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(AUTHORIZATION) else { return false };
        let Some((scheme, shown)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case(self.scheme) && are_equal(shown.trim(), &self.value)
    }

    /// What a server says that it expects: the value of `WWW-Authenticate`.
    #[must_use]
    pub(crate) fn challenge(&self) -> HeaderValue {
        match self.scheme {
            "Basic" => HeaderValue::from_static("Basic realm=\"temblor\", charset=\"UTF-8\""),
            _ => HeaderValue::from_static("Bearer"),
        }
    }
}

/// Compares without stopping at the first difference.
fn are_equal(shown: &str, wanted: &str) -> bool {
    let (shown, wanted) = (shown.as_bytes(), wanted.as_bytes());
    let differences = wanted
        .iter()
        .enumerate()
        .fold(0, |found, (at, byte)| found | (byte ^ shown.get(at).copied().unwrap_or(!*byte)));
    std::hint::black_box(differences) == 0 && shown.len() == wanted.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_compared_whole_and_not_shown() {
        let known = Credentials::basic("ann", "secret");
        assert_eq!(format!("{known:?}"), "Basic ***");
        let shown = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(text));
            known.are_shown_in(&headers)
        };
        assert!(shown("Basic YW5uOnNlY3JldA=="));
        assert!(shown("basic YW5uOnNlY3JldA=="));
        for text in
            ["Basic YW5uOnNlY3JldA", "Basic YW5uOnNlY3JldA==x", "Bearer YW5uOnNlY3JldA==", ""]
        {
            assert!(!shown(text), "{text}");
        }
        assert!(!known.are_shown_in(&HeaderMap::new()));
    }
}
