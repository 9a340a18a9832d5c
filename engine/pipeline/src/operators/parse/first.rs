//! `parse first of [grok "…", json, kv]`: formats that are tried in their order. One search for literals
//! says which of many can match, so that the number of patterns costs next to nothing.

use super::SETTINGS;
use super::format::{Format, Problem, Scratch};
use crate::operator::Surroundings;
use temblor_declare::{Given, Settings, read};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::{Arena, Value};
use temblor_stdlib::grok::Prefilter;

/// Formats of one step, at the most.
pub(super) const FORMATS_MAX: usize = 65_536;
/// Formats whose reasons are told when none of them reads a text.
const REASONS_MAX: usize = 3;
/// Settings that are not of a format, but of the step.
const OF_THE_STEP: [&str; 4] = ["first", "from", "into", "as"];

/// Formats, and which of them can read a text.
#[derive(Debug)]
pub(super) struct FirstOf {
    formats: Vec<Format>,
    prefilter: Prefilter,
}

impl FirstOf {
    pub(super) fn compile(settings: &Settings) -> Result<Self, Diagnostic> {
        let wrong = |message: String| settings.error("first", message);
        if settings.has("format") {
            return Err(settings.error("format", "`parse` takes a format or `first`, not both"));
        }
        let given = settings.value("first").ok_or_else(|| wrong("`first` is no list".into()))?;
        let count = given.get().size().unwrap_or(0);
        if count == 0 || count > FORMATS_MAX {
            return Err(wrong(format!("`first of` takes 1 to {FORMATS_MAX} formats, got {count}")));
        }
        let mut formats = Vec::with_capacity(count);
        for at in 0..count {
            let member = given.get().at(at).unwrap_or(Value::Null);
            let own = member_settings(member, settings)
                .map_err(|reason| wrong(format!("format {} of `first`: {reason}", at + 1)))?;
            let format = Format::compile(&own).map_err(|error| {
                let message = format!("format {} of `first`: {}", at + 1, error.message);
                Diagnostic { message, span: settings.span_of("first"), ..error }
            })?;
            formats.push(format);
        }
        let literals: Vec<_> = formats.iter().map(Format::required_literals).collect();
        Ok(Self { formats, prefilter: Prefilter::new(&literals) })
    }

    /// The value by the first format that reads the text, and its number.
    pub(super) fn read<'a>(
        &'a self,
        text: &'a str,
        scratch: &mut Scratch,
        around: &Surroundings<'a>,
    ) -> Result<(Value<'a>, usize), Problem> {
        // The formats search with memory of their own meanwhile.
        let mut hits = std::mem::take(&mut scratch.hits);
        let mut reasons = Vec::new();
        let mut found = None;
        for number in self.prefilter.candidates(text, &mut hits) {
            match self.formats[*number as usize].read(text, scratch, around) {
                Ok((value, _)) => {
                    found = Some((value, *number as usize));
                    break;
                }
                Err(problem) if reasons.len() < REASONS_MAX => reasons.push((*number, problem)),
                Err(_) => {}
            }
        }
        scratch.hits = hits;
        found.ok_or_else(|| self.explain(&reasons))
    }

    #[cold]
    fn explain(&self, reasons: &[(u32, Problem)]) -> Problem {
        let count = self.formats.len();
        let told: Vec<_> =
            reasons.iter().map(|(number, one)| format!("{number}: {}", one.reason)).collect();
        match told.is_empty() {
            true => Problem::new(format!("none of the {count} formats can read the text")),
            false => Problem::new(format!(
                "none of the {count} formats reads the text ({})",
                told.join("; ")
            )),
        }
    }
}

/// The settings of one format: its own, and those of the step that mean something to it.
fn member_settings(member: Value<'_>, step: &Settings) -> Result<Settings, String> {
    let span = step.span_of("first");
    let mut own = Settings::new(span);
    if let Value::Str(_) = member {
        own.insert("format", span, Given::Text("grok".to_string()));
        own.insert("pattern", span, Given::of(member));
    } else {
        let arena = Arena::new();
        let member = member.copy_into(&arena);
        let record = member.as_record(&arena).ok_or("it is neither a record nor a pattern")?;
        for (name, value) in record.iter() {
            let setting = SETTINGS.iter().find(|one| one.name == name);
            let setting = setting.filter(|one| !OF_THE_STEP.contains(&one.name));
            let setting = setting.ok_or_else(|| format!("formats have no setting `{name}`"))?;
            own.insert(setting.name, span, read::one(setting, value, span, &arena)?);
        }
    }
    let word = own.optional_text("format").ok_or("it has no `format`")?.to_string();
    for (name, span, given) in step.entries() {
        if !own.has(name) && super::format::takes(&word, name) {
            own.insert(name, span, given.clone());
        }
    }
    Ok(own)
}
