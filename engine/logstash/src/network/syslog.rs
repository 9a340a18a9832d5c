//! What the input `syslog` makes of a line: a priority and a header of RFC 3164, through the filters that
//! read them everywhere else.

use crate::complain;
use crate::options::Arguments;
use crate::program::{Program, ProgramBuilder};
use crate::settings::Settings;
use crate::syntax::parse;
use crate::syntax::tree::SectionKind;
use temblor_lang::span::Sources;

/// The formats of times in front of messages.
const TIMES: [&str; 4] = ["MMM dd HH:mm:ss", "MMM  d HH:mm:ss", "MMM d HH:mm:ss", "ISO8601"];
const FAILED: &str = "_grokparsefailure_sysloginput";

/// The filters of a syslog input.
pub(crate) fn reader(arguments: &mut Arguments<'_>) -> Option<Program> {
    let ecs = arguments.ecs.is_on();
    let usual = if ecs {
        "<%{POSINT:[log][syslog][priority]:int}>%{SYSLOGLINE}"
    } else {
        "<%{POSINT:priority}>%{SYSLOGLINE}"
    };
    let pattern = arguments.text("grok_pattern").unwrap_or_else(|| usual.to_string());
    let field = arguments.text("syslog_field").unwrap_or_else(|| "message".to_string());
    let mut date = format!("match => [\"timestamp\", \"{}\"]", TIMES.join("\", \""));
    for name in ["locale", "timezone"] {
        if let Some(value) = arguments.text(name) {
            date.push_str(&format!(" {name} => {}", quoted(&value)));
        }
    }
    let mut labels = format!("use_labels => {}", arguments.flag("use_labels", true));
    for name in ["facility_labels", "severity_labels"] {
        if let Some(words) = arguments.words(name) {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            labels.push_str(&format!(" {name} => [{}]", words.join(", ")));
        }
    }
    let priority = if ecs { "[log][syslog][priority]" } else { "priority" };
    let text = format!(
        "filter {{\n\
         grok {{ match => {{ {field} => {pattern} }} overwrite => [\"message\"] \
         tag_on_failure => [\"{FAILED}\"] }}\n\
         date {{ {date} tag_on_failure => [] }}\n\
         syslog_pri {{ syslog_pri_field_name => \"{priority}\" {labels} }}\n}}",
        field = quoted(&field),
        pattern = quoted(&pattern),
    );
    compiled(&text, arguments)
}

/// A text between the quotes that it does not hold.
fn quoted(text: &str) -> String {
    let quote = if text.contains('"') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

fn compiled(text: &str, arguments: &mut Arguments<'_>) -> Option<Program> {
    let mut sources = Sources::default();
    let source = sources.add("<syslog>", text.to_string());
    let parsed = parse(text, source);
    let settings = Settings { ecs: arguments.ecs, ..Settings::default() };
    let mut diagnostics = parsed.diagnostics;
    let mut builder = ProgramBuilder::new(&settings, &mut diagnostics);
    for section in parsed.config.sections.iter().filter(|one| one.kind == SectionKind::Filter) {
        builder.section(&section.body);
    }
    let program = builder.finish();
    let Some(first) = diagnostics.first() else { return Some(program) };
    // What is wrong stands in a text that nobody has written; the option is what the user knows.
    let place = arguments.place("grok_pattern");
    arguments.complain(complain::bad_pattern("grok_pattern", place, &first.message));
    None
}
