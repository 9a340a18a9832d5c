//! The dictionary of `translate` as a lookup table with a name, which other steps and scripts can ask too.

use super::filters::Filters;
use super::idiom::word_of;
use super::notation::setting as written;
use crate::filter;
use crate::options::{Arguments, COMMON, Setting, SettingKind};
use crate::syntax::tree::Plugin;

impl Filters<'_, '_> {
    /// Declares the table of a translate and names it in the settings, if the dictionary is one: values by
    /// key, each of them a text or a number.
    pub(crate) fn table_of(&mut self, plugin: &Plugin, settings: &mut [(String, Setting)]) {
        let Some(at) = settings.iter().position(|(name, _)| name == "dictionary") else { return };
        let declared = filter::FILTERS.iter().find(|one| one.name == "translate");
        let options = declared.map_or(&[][..], |one| one.options);
        let mut diagnostics = Vec::new();
        let entries = Arguments::new(plugin, options, COMMON, &self.open, &mut diagnostics)
            .pairs("dictionary");
        let is_plain = |setting: &Setting| {
            matches!(setting.kind, SettingKind::Text(_) | SettingKind::Number(_))
        };
        if entries.is_empty() || !entries.iter().all(|(_, value)| is_plain(value)) {
            return;
        }
        let name = self.page.name(&name_of(settings));
        let place = self.page.place(plugin.span);
        let rows = Setting { span: plugin.span, kind: SettingKind::Hash(entries) };
        let rows = written(&rows, 2);
        self.page.note_head(&format!(
            "# {place}\ntable {name} from record with\n  rows = {rows}\nend;\n"
        ));
        let kind = SettingKind::Text(name);
        settings[at] = ("table".to_string(), Setting { span: plugin.span, kind });
    }
}

/// `level_to_severity`, or `level_names` where the field itself is translated.
fn name_of(settings: &[(String, Setting)]) -> String {
    let word = |names: [&str; 2]| {
        let found = settings.iter().find(|(name, _)| names.contains(&&**name));
        found
            .and_then(|(_, setting)| setting.text())
            .map(|text| word_of(text.trim_end_matches(']')))
    };
    let from = word(["source", "field"]).unwrap_or_else(|| "field".to_string());
    match word(["target", "destination"]) {
        Some(to) if to != from => format!("{from}_to_{to}"),
        _ => format!("{from}_names"),
    }
}
