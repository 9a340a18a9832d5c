//! Extractors, the tests between bars (`re|…|`). Every kind stands in [`EXTRACTORS`] exactly once.

use temblor_lang::builtin::ExtractorKind;

/// All kinds of extractors.
pub static EXTRACTORS: &[ExtractorKind] = &[];
