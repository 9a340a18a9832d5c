//! Links between pipelines: which addresses are sent to and which are listened to, so that a link within the
//! configuration can be told from one that leads out of it.

use super::load::Pipeline;
use super::settings::Settings;
use super::syntax::tree::{Plugin, SectionKind, Value, ValueKind};
use std::collections::HashSet;

/// The name of the input and of the output.
pub(crate) const PLUGIN: &str = "pipeline";

/// The addresses of a configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    sent: HashSet<String>,
    heard: HashSet<String>,
}

impl Links {
    /// Those of all pipelines.
    #[must_use]
    pub(crate) fn of(pipelines: &[Pipeline]) -> Self {
        let mut links = Self::default();
        for pipeline in pipelines {
            for plugin in pipeline.plugins(SectionKind::Output) {
                links.sent.extend(addresses(plugin, &pipeline.settings));
            }
            for plugin in pipeline.plugins(SectionKind::Input) {
                links.heard.extend(addresses(plugin, &pipeline.settings));
            }
        }
        links
    }

    /// Whether an input or output is a link to another pipeline of the configuration.
    #[must_use]
    pub(crate) fn is_inside(&self, plugin: &Plugin, settings: &Settings) -> bool {
        let both = |address: &String| self.sent.contains(address) && self.heard.contains(address);
        addresses(plugin, settings).iter().any(both)
    }
}

/// The addresses that a link says; none for other plugins.
fn addresses(plugin: &Plugin, settings: &Settings) -> Vec<String> {
    if plugin.name.text != PLUGIN {
        return Vec::new();
    }
    let is_address = |name: &str| matches!(name, "address" | "send_to");
    let values = plugin.options.iter().filter(|(name, _)| is_address(&name.text));
    let mut found = Vec::new();
    values.for_each(|(_, value)| gather(value, settings, &mut found));
    found
}

fn gather(value: &Value, settings: &Settings, found: &mut Vec<String>) {
    match &value.kind {
        ValueKind::Bare(text) | ValueKind::Text(text) => {
            found.extend(settings.substitute(&settings.unescape(text)));
        }
        ValueKind::Array(items) => items.iter().for_each(|item| gather(item, settings, found)),
        ValueKind::Number(_) | ValueKind::Hash(_) | ValueKind::Plugin(_) => {}
    }
}
