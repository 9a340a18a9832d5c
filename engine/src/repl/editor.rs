//! The line editor around a session: history, completion, several lines, Ctrl-C. It decides nothing.

use super::{Session, candidates};
use nu_ansi_term::{Color, Style};
use reedline::{
    Completer, CompletionResult, Emacs, FileBackedHistory, Highlighter, KeyCode, KeyModifiers,
    MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, Span, StyledText, Suggestion, ValidationResult, Validator,
    default_emacs_keybindings,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use temblor_lang::syntax::RESERVED;

/// Entries that are remembered across sessions.
const HISTORY_MAX: usize = 5_000;
/// Name of the menu of completions.
const MENU: &str = "completion";

/// Talks with the user until they leave.
///
/// # Errors
/// When the terminal cannot be used.
pub fn interact(session: &mut Session) -> std::io::Result<()> {
    let vocabulary = Arc::new(Mutex::new(session.vocabulary()));
    let mut editor = editor(vocabulary.clone());
    loop {
        match editor.read_line(&Caret(session.samples.number()))? {
            Signal::Success(entry) => {
                let reply = session.enter(&entry);
                print!("{}", reply.text);
                if reply.ends {
                    return Ok(());
                }
                *vocabulary.lock().unwrap_or_else(PoisonError::into_inner) = session.vocabulary();
            }
            Signal::CtrlD => return Ok(()),
            // An entry that was given up, and whatever later versions of the editor add.
            _ => {}
        }
    }
}

fn editor(vocabulary: Arc<Mutex<Vec<String>>>) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![
        ReedlineEvent::Menu(MENU.to_string()),
        ReedlineEvent::MenuNext,
    ]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    let menu = Box::new(reedline::ColumnarMenu::default().with_name(MENU));
    let mut editor = Reedline::create()
        .with_completer(Box::new(Words(vocabulary)))
        .with_menu(ReedlineMenu::EngineCompleter(menu))
        .with_validator(Box::new(Brackets))
        .with_highlighter(Box::new(Colours))
        .use_bracketed_paste(true)
        .with_edit_mode(Box::new(Emacs::new(keys)));
    if let Some(file) = history_file()
        && let Ok(history) = FileBackedHistory::with_file(HISTORY_MAX, file)
    {
        editor = editor.with_history(Box::new(history));
    }
    editor
}

/// Where the history is kept (XDG Base Directory Specification).
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("temblor/history"))
}

/// The prompt: the number of the sample.
struct Caret(usize);

impl Prompt for Caret {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Owned(format!("{}", self.0))
    }
    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }
    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("| ")
    }
    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search {}) ", search.term))
    }
}

struct Words(Arc<Mutex<Vec<String>>>);

impl Completer for Words {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let vocabulary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, words) = candidates(&vocabulary, line, at);
        let suggestion = |word: &str| Suggestion {
            value: word.to_string(),
            description: super::command::hint(word),
            span: Span::new(start, at),
            ..Suggestion::default()
        };
        CompletionResult::fresh(words.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// An entry is complete when its brackets and forms are closed.
struct Brackets;

impl Validator for Brackets {
    fn validate(&self, line: &str) -> ValidationResult {
        let open = !line.starts_with(':') && temblor_lang::syntax::is_open(line);
        if open { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

struct Colours;

impl Highlighter for Colours {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut text = StyledText::new();
        for (start, end, class) in temblor_lang::syntax::classes(line) {
            let part = &line[start..end];
            let style = match class {
                temblor_lang::syntax::TokenClass::Word if RESERVED.contains(&part) => {
                    Style::new().fg(Color::Blue).bold()
                }
                temblor_lang::syntax::TokenClass::Number => Style::new().fg(Color::Magenta),
                temblor_lang::syntax::TokenClass::Text => Style::new().fg(Color::Green),
                temblor_lang::syntax::TokenClass::Comment => Style::new().dimmed(),
                _ => Style::new(),
            };
            text.push((style, part.to_string()));
        }
        text
    }
}
