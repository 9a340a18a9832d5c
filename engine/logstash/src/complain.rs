//! All that can be wrong with a configuration, by name. Codes E07xx and W07xx are those of Logstash
//! configurations; none is used twice.

use temblor_lang::diagnostic::{Class, Diagnostic};
use temblor_lang::span::Span;

/// What stands in a text where something else should.
pub(crate) fn unexpected(span: Span, found: &str, wanted: &str) -> Diagnostic {
    let found = match found {
        "" => "the end of the text".to_string(),
        found => format!("`{found}`"),
    };
    let message = format!("unexpected {found}");
    let error = Diagnostic::error("E0701", span, message).with_label(format!("expected {wanted}"));
    match found.as_str() {
        "`elsif`" | "`elseif`" => error.with_help("write `else if`"),
        "`not`" => error.with_help("write `!(…)`, or `[field] not in …`"),
        "`true`" | "`false`" => error.with_help(
            "conditions have no such word: test the field, `[name]` or `![name]`, or compare with a text",
        ),
        "`&`" | "`&&`" => error.with_help("write `and`"),
        "`|`" | "`||`" => error.with_help("write `or`"),
        _ => error,
    }
}

/// What to say of a text that goes on behind the quote that ends `before`.
pub(crate) fn kept_quote(before: &str) -> String {
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!(
        "the text in front of it goes on behind the quote at {line}:{column}: as in Logstash, a backslash right \
         before a quote makes it part of the text, even behind another backslash"
    )
}

/// A text or regular expression without its end.
pub(crate) fn unterminated(span: Span, quote: char) -> Diagnostic {
    Diagnostic::error("E0702", span, format!("this {quote} is never closed"))
        .with_label("opened here")
        .with_help(
            "a backslash before a quote makes it part of the text, even as the last character",
        )
}

/// Nested too deep.
pub(crate) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0703", span, format!("nested deeper than {limit} levels"))
}

/// `xor` or `nand` beside another operator.
pub(crate) fn needs_parentheses(span: Span) -> Diagnostic {
    Diagnostic::error("E0704", span, "`xor` and `nand` have no precedence")
        .with_help("put parentheses around the parts")
}

/// A key twice in one hash.
pub fn duplicate_key(key: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("the key `{key}` is there already: the plugin gets a list of its values");
    odd(span, &message, "write the values as a list, or leave one out")
        .with_place(first, "first here")
}

/// A plugin that nobody knows.
pub(crate) fn unknown_plugin(
    kind: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'static str>,
) -> Diagnostic {
    Diagnostic::error("E0706", span, format!("there is no {kind} plugin `{name}`"))
        .with_nearest(name, known)
}

/// The code of plugins that cannot be run.
pub(crate) const MISSING: &str = "W0707";

/// A plugin that Logstash has and Temblor has not.
pub(crate) fn missing_plugin(kind: &str, name: &str, span: Span, help: &str) -> Diagnostic {
    let message = format!("the {kind} plugin `{name}` is not available yet");
    Diagnostic::warning(MISSING, Class::Behaviour, span, message).with_help(help)
}

/// Code beyond the part of Ruby that is run.
pub(crate) fn unknown_ruby(plugin: &str, span: Span, reason: &str) -> Diagnostic {
    let message = format!("`{plugin}` cannot run this code: {reason}");
    Diagnostic::warning(MISSING, Class::Behaviour, span, message)
        .with_help("say it with other filters; --skip-missing passes events on unchanged")
}

/// An option that the plugin does not have.
pub(crate) fn unknown_option(
    plugin: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'static str>,
) -> Diagnostic {
    Diagnostic::error("E0708", span, format!("`{plugin}` has no option `{name}`"))
        .with_nearest(name, known)
}

/// An option that there was once.
pub(crate) fn obsolete_option(plugin: &str, name: &str, span: Span, hint: &str) -> Diagnostic {
    Diagnostic::error("E0709", span, format!("`{plugin}` has no option `{name}` any more"))
        .with_help(hint)
}

/// An option that is not known of a plugin that cannot be run.
pub(crate) fn unlisted_option(plugin: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("`{plugin}` of Logstash 9 is not known to have an option `{name}`");
    Diagnostic::warning("W0725", Class::Behaviour, span, message)
        .with_help("Logstash refuses options that a plugin does not have")
}

/// An option that Logstash 9 took from a plugin that cannot be run.
pub(crate) fn former_option(plugin: &str, name: &str, span: Span, instead: &str) -> Diagnostic {
    let message = format!("`{plugin}` of Logstash 9 has no option `{name}` any more");
    Diagnostic::warning("W0726", Class::Behaviour, span, message)
        .with_help(format!("what does its work now: {instead}"))
}

/// A value that the option does not take.
pub(crate) fn bad_value(option: &str, span: Span, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0710", span, format!("`{option}` must be {wanted}"))
}

/// The code of an option that must be there.
pub(crate) const NEEDED: &str = "E0711";

/// An option that must be there.
pub(crate) fn missing_option(plugin: &str, option: &str, span: Span) -> Diagnostic {
    Diagnostic::error(NEEDED, span, format!("`{plugin}` needs the option `{option}`"))
}

/// Text that is no field reference.
pub(crate) fn bad_reference(text: &str, span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0712", span, format!("`{text}` is no field reference: {reason}"))
        .with_help("write `name`, `[name]` or `[outer][inner]`")
}

/// Text that is no field reference, in a place that Logstash looks at only when an event comes.
pub(crate) fn failing_reference(text: &str, span: Span, reason: &str) -> Diagnostic {
    let message = format!("`{text}` is no field reference: {reason}");
    Diagnostic::warning("W0729", Class::Behaviour, span, message)
        .with_label("this fails for every event, as in Logstash")
        .with_help("write `name`, `[name]` or `[outer][inner]`")
}

/// `${NAME}` without a value.
pub(crate) fn unset_variable(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0713", span, format!("the environment variable `{name}` is not set"))
        .with_help(format!("set it, or write `${{{name}:default}}`"))
}

/// The same in a plugin that cannot be run here.
pub(crate) fn unset_elsewhere(name: &str, span: Span) -> Diagnostic {
    let message = format!("the environment variable `{name}` is not set here");
    Diagnostic::warning("W0731", Class::Behaviour, span, message)
        .with_help(format!("set it where the plugin runs, or write `${{{name}:default}}`"))
}

/// A regular expression or pattern that does not compile.
pub(crate) fn bad_pattern(text: &str, span: Span, reason: &str) -> Diagnostic {
    let shown: String = text.chars().take(60).collect();
    Diagnostic::error("E0714", span, format!("`{shown}` is no pattern: {reason}"))
}

/// A pattern that is probably in files that are not there.
pub(crate) fn absent_pattern(span: Span, reason: &str) -> Diagnostic {
    let message = format!("this pattern cannot be read without its files: {reason}");
    Diagnostic::warning(MISSING, Class::Behaviour, span, message)
        .with_help("`patterns_dir` is looked for as it is written, from the current folder")
}

/// An option that changes nothing in this mode.
pub(crate) fn without_effect(option: &str, span: Span, reason: &str) -> Diagnostic {
    let message = format!("`{option}` has no effect {reason}");
    Diagnostic::warning("W0727", Class::Behaviour, span, message)
}

/// `\n` where a newline cannot be written so.
pub(crate) fn two_characters(option: &str, span: Span) -> Diagnostic {
    let message = format!("`{option}` holds a backslash and a letter here, not one character");
    Diagnostic::warning("W0728", Class::Behaviour, span, message)
        .with_help("write the character itself between the quotes, or set `config.support_escapes`")
}

/// The code of what is explained, as nobody would expect it.
const ODD: &str = "W0730";

/// Operations of `mutate` that are written in another order than they run in.
pub(crate) fn runs_before(first: &str, second: &str, span: Span) -> Diagnostic {
    let message = format!("`{first}` runs before `{second}`, whatever their order in the text");
    Diagnostic::warning(ODD, Class::Behaviour, span, message)
        .with_help("put what comes later into a `mutate` of its own")
}

/// What Logstash does here, though it looks otherwise.
pub fn odd(span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::warning(ODD, Class::Behaviour, span, message).with_help(help)
}

/// A condition that cannot be meant.
pub(crate) fn bad_condition(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0715", span, reason)
}

/// A file that a plugin needs.
pub(crate) fn bad_file(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0716", span, reason)
}

/// `[f] in ["x"]`
pub(crate) fn list_of_one(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` is read as the field of that name, not as a list of one text");
    Diagnostic::warning("W0717", Class::Behaviour, span, message)
        .with_help("compare with `==`, or add a second element to the list")
}

/// A block of a converted configuration that nobody has decided about.
pub fn undecided(block: &str, reason: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0721", span, format!("{block} was not converted"))
        .with_label(reason.to_string())
        .with_help("write what belongs here instead, or take the step out if it is not needed")
}

/// Pipelines that send to each other in a circle.
pub(crate) fn circle(names: &[String]) -> Diagnostic {
    let names = names.join(" -> ");
    let message = format!("pipelines send to each other in a circle: {names}");
    Diagnostic::error("E0722", Span::default(), message)
        .with_help("an event would never come to an end; take one of the links out")
}

/// An address that no pipeline listens to.
pub(crate) fn nobody_listens(address: &str) -> Diagnostic {
    let message = format!("no pipeline listens to the address `{address}`; its events are dropped");
    Diagnostic::warning("W0723", Class::Behaviour, Span::default(), message)
        .with_help(format!("add `input {{ pipeline {{ address => \"{address}\" }} }}` to one"))
}

/// The code of files that are not there.
pub const MISSING_FILE: &str = "W0720";

/// A file or folder that is not there now, but may be where the configuration runs.
pub(crate) fn missing_file(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::warning(MISSING_FILE, Class::Behaviour, span, reason)
}
