//! The order of `mutate`: its operations run in an order of their own. Where the text has them the other way
//! round and they touch the same field, that is explained.

use crate::complain;
use crate::options::{Arguments, Setting};

/// The operations as they run; the options of all filters come last.
pub(crate) const SEQUENCE: [&str; 16] = [
    "coerce",
    "rename",
    "update",
    "replace",
    "convert",
    "gsub",
    "uppercase",
    "capitalize",
    "lowercase",
    "strip",
    "split",
    "join",
    "merge",
    "copy",
    "add_field",
    "remove_field",
];

/// Explains each operation that runs before one that stands in front of it.
pub(super) fn explain(arguments: &mut Arguments<'_>) {
    let written: Vec<_> = arguments
        .entries()
        .filter_map(|(name, value)| {
            let rank = SEQUENCE.iter().position(|one| *one == name)?;
            Some((rank, value.span, fields(name, arguments)))
        })
        .collect();
    for (at, (rank, span, touched)) in written.iter().enumerate() {
        let overtaken = written[..at].iter().find(|(earlier, _, fields)| {
            earlier > rank && fields.iter().any(|field| touched.contains(field))
        });
        if let Some((earlier, ..)) = overtaken {
            let (first, second) = (SEQUENCE[*rank], SEQUENCE[*earlier]);
            arguments.explain(complain::runs_before(first, second, *span));
        }
    }
}

/// The fields that an operation reads or writes.
fn fields(name: &str, arguments: &Arguments<'_>) -> Vec<String> {
    let plain = |text: &str| text.trim_matches(['[', ']']).to_string();
    let texts = |setting: &Setting| -> Vec<String> {
        setting.items().iter().filter_map(Setting::text).map(plain).collect()
    };
    match name {
        "gsub" => {
            let items = arguments.get(name).map(texts).unwrap_or_default();
            items.into_iter().step_by(3).collect()
        }
        "uppercase" | "capitalize" | "lowercase" | "strip" | "remove_field" => {
            arguments.get(name).map(texts).unwrap_or_default()
        }
        "rename" | "copy" | "merge" => arguments
            .pairs(name)
            .iter()
            .flat_map(|(key, value)| std::iter::once(plain(key)).chain(texts(value)))
            .collect(),
        _ => arguments.pairs(name).iter().map(|(key, _)| plain(key)).collect(),
    }
}
