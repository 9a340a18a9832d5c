//! Values that are never shown: passwords, tokens, keys.
//!
//! Invariant: nothing prints a secret; its `Debug` is a row of stars, and its memory is overwritten when it goes.

use std::fmt;

use zeroize::Zeroizing;

/// In front of the name of an environment variable that holds a secret.
const ENVIRONMENT: &str = "env:";
/// In front of the path of a file that holds a secret.
const FILE: &str = "file:";

/// A value that is not to be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// What a setting says: `env:NAME`, `file:PATH` (without the line end behind it), or the value itself.
    ///
    /// # Errors
    /// A sentence, when there is no such variable or file.
    pub fn of_setting(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix(ENVIRONMENT) {
            let value = std::env::var(name);
            let value = value.map(|value| Self(Zeroizing::new(value)));
            return value.map_err(|_| format!("there is no environment variable {name}"));
        }
        if let Some(path) = text.strip_prefix(FILE) {
            let content = std::fs::read_to_string(path).map(Zeroizing::new);
            let content = content.map_err(|error| format!("{path} cannot be read: {error}"))?;
            let value = content.trim_end_matches(['\r', '\n']).to_string();
            return Ok(Self(Zeroizing::new(value)));
        }
        Ok(Self(Zeroizing::new(text.to_string())))
    }

    /// The value, for the peer that is to get it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_comes_from_a_file_or_the_text_and_is_not_shown() {
        let path = std::env::temp_dir().join(format!("temblor-secret-{}", std::process::id()));
        std::fs::write(&path, "hush\n").unwrap();
        let secret = Secret::of_setting(&format!("file:{}", path.display())).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((secret.reveal(), format!("{secret:?}").as_str()), ("hush", "***"));
        assert_eq!(Secret::of_setting("plain").unwrap().reveal(), "plain");
        let missing = Secret::of_setting("env:TEMBLOR_NO_SUCH_VARIABLE").unwrap_err();
        assert_eq!(missing, "there is no environment variable TEMBLOR_NO_SUCH_VARIABLE");
    }
}
