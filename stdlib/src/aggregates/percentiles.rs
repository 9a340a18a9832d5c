//! The list of percentiles that `hdr` and `dds` report. It is settled by the first event of a
//! window.

use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Value};

/// What is reported when the program asks for nothing else.
const DEFAULTS: [&str; 7] = ["0.5", "0.9", "0.95", "0.99", "0.999", "0.9999", "0.99999"];

/// Percentiles by name. Nothing is settled yet while it is `None`.
#[derive(Debug, Default, Clone)]
pub(super) struct Percentiles(Option<Vec<(Box<str>, f64)>>);

impl Percentiles {
    /// Takes the second argument of the first event, an array of strings, if it is there.
    pub(super) fn settle(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        if self.0.is_some() {
            return Ok(());
        }
        let arena = Arena::new();
        let asked = arguments.get(1).map(|list| list.copy_into(&arena));
        self.0 = Some(match asked.and_then(|list| list.as_array(&arena)) {
            Some(names) => names
                .iter()
                .filter_map(|name| name.as_str())
                .map(named)
                .collect::<Result<_, _>>()?,
            None => defaults(),
        });
        Ok(())
    }

    /// Takes over the percentiles of a later state when none are settled here.
    pub(super) fn join(&mut self, later: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&later.0);
        }
    }

    /// A record with the value of each percentile.
    pub(super) fn report<'a>(
        &self,
        arena: &'a Arena,
        value: impl Fn(f64) -> Result<Value<'a>, CallError>,
    ) -> Result<Value<'a>, CallError> {
        let default = if self.0.is_none() { defaults() } else { Vec::new() };
        let list = self.0.as_ref().unwrap_or(&default);
        let mut record = arena.record_builder(list.len());
        for (name, percentile) in list {
            record.insert(arena.str(name), value(*percentile)?);
        }
        Ok(record.finish())
    }

    /// The names, `null` when nothing is settled.
    pub(super) fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        match &self.0 {
            Some(list) => arena.array(list.iter().map(|(name, _)| Value::Str(arena.str(name)))),
            None => Value::Null,
        }
    }

    /// What [`Percentiles::save`] gave.
    pub(super) fn load(saved: Value<'_>, arena: &Arena) -> Option<Self> {
        // A copy, since the saved value need not live in the arena.
        let copy = saved.copy_into(arena);
        match copy {
            Value::Null => Some(Self(None)),
            _ => {
                let names = copy.as_array(arena)?.iter();
                let list = names.map(|name| named(name.as_str()?).ok()).collect::<Option<_>>()?;
                Some(Self(Some(list)))
            }
        }
    }
}

fn defaults() -> Vec<(Box<str>, f64)> {
    let list = DEFAULTS.iter().map(|name| named(name));
    list.collect::<Result<_, _>>().expect("the default percentiles are numbers")
}

fn named(name: &str) -> Result<(Box<str>, f64), CallError> {
    let bad = |why| CallError::failed(format!("the percentile '{name}' is no number: {why}"));
    let percentile = name.parse().map_err(bad)?;
    Ok((name.into(), percentile))
}
