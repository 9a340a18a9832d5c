//! JSON of files that configurations name, as values.

use temblor_lang::value::{Arena, Value};

/// The value of a text; `None` when it is no JSON.
pub(crate) fn read<'a>(text: &str, arena: &'a Arena) -> Option<Value<'a>> {
    temblor_stdlib::formats::json::parse(arena.str(text), arena).ok()
}
