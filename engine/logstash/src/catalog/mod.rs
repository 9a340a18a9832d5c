//! Plugins that Logstash and its community have and that cannot be run here, with their options, so that
//! a configuration that uses them is checked as far as it can be. What is written down here is the state
//! of Logstash 9; an option that is not is complained about, and refused only where it looks misspelt.

mod notation;

use super::complain;
use super::options::{Arguments, OptionSpec, Strictness};
use super::settings::Settings;
use super::syntax::tree::Plugin;
use std::sync::LazyLock;
use temblor_lang::diagnostic::{Diagnostic, nearest};

/// A plugin that is known by its options alone.
#[derive(Debug)]
pub struct Known {
    /// `input`, `filter`, `output` or `codec`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its own options, without those that all plugins of its kind have.
    pub options: Vec<OptionSpec>,
}

static ALL: LazyLock<Vec<Known>> =
    LazyLock::new(|| notation::read().expect("the tables are part of the program, and tested"));

/// The plugin of this kind and name.
#[must_use]
pub fn find(kind: &str, name: &str) -> Option<&'static Known> {
    ALL.iter().find(|one| one.kind == kind && one.name == name)
}

/// The names of all plugins of a kind.
pub fn names(kind: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    ALL.iter().filter(move |one| one.kind == kind).map(|one| one.name)
}

/// What is there of the plugins of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stock<'s> {
    /// `input`, `filter`, `output` or `codec`.
    pub kind: &'static str,
    /// The names of those that can be run.
    pub here: &'s [&'static str],
    /// The options that all of them have.
    pub common: &'static [OptionSpec],
    /// What to do without one.
    pub help: &'static str,
}

impl Stock<'_> {
    /// Says what is wrong with a plugin that cannot be run: that it cannot, unless its name is misspelt,
    /// and what is wrong with its options, as far as they are known. `see` looks at them too.
    pub(crate) fn absent(
        &self,
        plugin: &Plugin,
        settings: &Settings,
        diagnostics: &mut Vec<Diagnostic>,
        see: impl FnOnce(&mut Arguments<'_>),
    ) {
        let (name, span) = (&*plugin.name.text, plugin.name.span);
        if let Some(known) = find(self.kind, name) {
            let declared = (&*known.options, self.common);
            let strictness = Strictness::OfTables;
            see(&mut Arguments::checked(plugin, declared, strictness, settings, diagnostics));
        } else if nearest(name, self.names()).is_some() {
            diagnostics.push(complain::unknown_plugin(self.kind, name, span, self.names()));
            return;
        }
        diagnostics.push(complain::missing_plugin(self.kind, name, span, self.help));
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.here.iter().copied().chain(names(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, find, names, notation};
    use crate::options::Takes;

    #[test]
    fn tables_can_be_read_and_say_nothing_twice() {
        let all = notation::read().unwrap();
        for one in &all {
            for (at, option) in one.options.iter().enumerate() {
                let before = &one.options[..at];
                let twice = before.iter().any(|other| other.name == option.name);
                assert!(!twice, "{} {}: {} is there twice", one.kind, one.name, option.name);
            }
            let same = all.iter().filter(|other| (other.kind, other.name) == (one.kind, one.name));
            assert_eq!(same.count(), 1, "{} {}", one.kind, one.name);
            assert!(["input", "filter", "output", "codec"].contains(&one.kind), "{}", one.kind);
        }
        assert_eq!(all.len(), ALL.len());
    }

    #[test]
    fn options_have_their_kinds() {
        let option = |kind, name, option| {
            let known = find(kind, name).unwrap();
            *known.options.iter().find(|one| one.name == option).unwrap()
        };
        assert!(option("input", "tcp", "port").required);
        assert_eq!(option("input", "tcp", "port").takes, Takes::Number);
        assert_eq!(option("input", "tcp", "mode").takes, Takes::OneOf(&["server", "client"]));
        assert_eq!(option("input", "beats", "ssl").gone, Some("ssl_enabled"));
        assert_eq!(option("output", "elasticsearch", "hosts").takes, Takes::List);
        assert!(names("codec").any(|name| name == "netflow"));
        assert!(find("input", "nothing").is_none());
    }
}
