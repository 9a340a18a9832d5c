//! What is shown dimmed behind the cursor: the signature of the function that is being called, what
//! a command takes, or how an earlier entry went on.

use super::commands::{COMMANDS, signature};
use nu_ansi_term::{Color, Style};
use reedline::{DefaultHinter, Hinter, History};

/// Gives hints while an entry is typed.
#[derive(Default)]
pub(crate) struct Signatures {
    /// What earlier entries say; it can be accepted by the right arrow.
    earlier: DefaultHinter,
    /// Whether the hint is for the eyes alone.
    is_signature: bool,
}

impl Hinter for Signatures {
    fn handle(
        &mut self,
        line: &str,
        at: usize,
        history: &dyn History,
        colour: bool,
        folder: &str,
    ) -> String {
        let hint = if at == line.len() { for_entry(line) } else { None };
        self.is_signature = hint.is_some();
        match hint {
            Some(hint) if colour => {
                Style::new().fg(Color::DarkGray).paint(format!("  {hint}")).to_string()
            }
            Some(hint) => format!("  {hint}"),
            None => self.earlier.handle(line, at, history, colour, folder),
        }
    }

    fn complete_hint(&self) -> String {
        if self.is_signature { String::new() } else { self.earlier.complete_hint() }
    }

    fn next_hint_token(&self) -> String {
        if self.is_signature { String::new() } else { self.earlier.next_hint_token() }
    }
}

/// The hint for an entry that ends at the cursor.
pub(crate) fn for_entry(line: &str) -> Option<String> {
    if let Some(command) = line.strip_prefix(':') {
        let (name, rest) = command.split_once(' ')?;
        let command = COMMANDS.iter().find(|one| one.name == name)?;
        if rest.trim().is_empty() && !command.arguments.is_empty() {
            return Some(command.arguments.to_string());
        }
    }
    signature(&called(line)?)
}

/// The name of the innermost function whose arguments are being typed.
fn called(line: &str) -> Option<String> {
    let mut open: Vec<usize> = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for (at, one) in line.char_indices() {
        match one {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => open.push(at),
            ')' if !quoted => drop(open.pop()),
            _ => {}
        }
    }
    let before = &line[..open.pop()?];
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let start = before
        .rfind(|c: char| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let name = &before[start..];
    (!name.is_empty()).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_is_hinted() {
        for (line, expected) in [
            ("string::split(", Some("std::string::split(")),
            ("string::split(event.a, ", Some("std::string::split(")),
            ("string::split(string::uppercase(event.a), ", Some("std::string::split(")),
            ("string::split(string::uppercase(", Some("std::string::uppercase(")),
            ("string::split(a, b)", None),
            ("\"(\" + string::len(", Some("std::string::len(")),
            ("nothing::known(", None),
            (":goto ", Some("N")),
            (":goto 5", None),
        ] {
            let hint = for_entry(line);
            match expected {
                Some(start) => assert!(hint.is_some_and(|hint| hint.starts_with(start)), "{line}"),
                None => assert_eq!(hint, None, "{line}"),
            }
        }
    }
}
