//! What holds for a whole configuration: field names after the Elastic Common Schema or not, escapes,
//! and where variables come from.

use super::keeping::Keeping;
use super::libraries::Libraries;
use std::collections::HashMap;
use temblor_pipeline::registry::Registry;

/// Which field names plugins use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecs {
    /// The old names.
    Disabled,
    /// Names of the Elastic Common Schema 1.
    V1,
    /// Names of the Elastic Common Schema 8.
    #[default]
    V8,
}

impl Ecs {
    /// The mode of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "disabled" => Some(Ecs::Disabled),
            "v1" => Some(Ecs::V1),
            "v8" => Some(Ecs::V8),
            _ => None,
        }
    }

    /// Whether names follow the schema.
    #[must_use]
    pub fn is_on(self) -> bool {
        self != Ecs::Disabled
    }
}

/// The settings of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `pipeline.ecs_compatibility`
    pub ecs: Ecs,
    /// `config.support_escapes`
    pub escapes: bool,
    /// What `${NAME}` stands for.
    pub variables: HashMap<String, String>,
    /// Whether what Logstash does, but nobody would expect, is explained.
    pub explains: bool,
    /// What is kept on disk.
    pub keeping: Keeping,
    /// Whether `${NAME}` stays as it is, for whoever reads the text next.
    pub keeps_variables: bool,
    /// The patterns of grok that plugins share.
    pub libraries: Libraries,
    /// What plugins over the network are made of; without it they cannot be run.
    pub connectors: Option<&'static Registry>,
}

impl Settings {
    /// The settings that hold when nothing is said, with the variables of the environment.
    #[must_use]
    pub fn of_environment() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self { variables: variables.collect(), explains: true, ..Self::default() }
    }

    /// A text of the configuration as it is meant.
    #[must_use]
    pub fn unescape(&self, text: &str) -> String {
        if !self.escapes || !text.contains('\\') {
            return text.to_string();
        }
        let mut out = String::with_capacity(text.len());
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if character != '\\' {
                out.push(character);
                continue;
            }
            match characters.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some('0') => out.push('\0'),
                Some(same @ ('"' | '\'' | '\\')) => out.push(same),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            }
        }
        out
    }

    /// Puts values in the place of `${NAME}` and `${NAME:default}`. The error is the name of a
    /// variable that has no value.
    pub fn substitute(&self, text: &str) -> Result<String, String> {
        if self.keeps_variables {
            return Ok(text.to_string());
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            out.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            let name_end =
                inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
            let (name, after) = inside.split_at(name_end.unwrap_or(inside.len()));
            let starts_well = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
            let (default, after) = match after.strip_prefix(':') {
                Some(text) => text.split_once('}').map_or((None, ""), |(d, a)| (Some(d), a)),
                None => (None, after.strip_prefix('}').unwrap_or("")),
            };
            let closed = rest[start..].contains('}')
                && (default.is_some() || inside[name.len()..].starts_with('}'));
            if !starts_well || !closed {
                out.push_str("${");
                rest = inside;
                continue;
            }
            match self.variables.get(name).map(String::as_str).or(default) {
                Some(value) => out.push_str(value),
                None => return Err(name.to_string()),
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn substitutes_variables() {
        let mut settings = Settings::default();
        settings.variables.insert("A".to_string(), "1".to_string());
        for (text, expected) in [
            ("x${A}y", Ok("x1y")),
            ("${B:z}${A:q}", Ok("z1")),
            ("${B:}", Ok("")),
            ("${B}", Err("B")),
            ("${", Ok("${")),
            ("${1}", Ok("${1}")),
            ("$A %{x}", Ok("$A %{x}")),
        ] {
            let found = settings.substitute(text);
            assert_eq!(found.as_deref(), expected.map_err(str::to_string).as_deref(), "{text}");
        }
    }

    #[test]
    fn unescapes_when_asked() {
        let on = Settings { escapes: true, ..Settings::default() };
        assert_eq!(on.unescape(r#"a\n\t\"\\\d"#), "a\n\t\"\\\\d");
        assert_eq!(Settings::default().unescape(r"\n"), r"\n");
    }
}
