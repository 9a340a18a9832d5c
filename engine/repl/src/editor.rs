//! The line editor around a session: history, completion, several lines, Ctrl-C. It decides nothing.

use super::commands::Watched;
use super::hint::Signatures;
use super::worker::{Interrupted, Request, Worker};
use super::{Session, candidates};
use nu_ansi_term::{Color, Style};
use reedline::{
    Completer, CompletionResult, EditCommand, Emacs, FileBackedHistory, Highlighter, KeyCode,
    KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline,
    ReedlineEvent, ReedlineMenu, Signal, Span, StyledText, Suggestion, ValidationResult, Validator,
    default_emacs_keybindings,
};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use temblor_lang::syntax::RESERVED;

/// Entries that are remembered across sessions.
const HISTORY_MAX: usize = 5_000;
/// Name of the menu of completions.
const MENU: &str = "completion";

/// How often a file that is watched is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Talks with the user until they leave. Ctrl-C ends what is being evaluated, not the session.
///
/// # Errors
/// When the terminal cannot be used.
pub fn interact(session: Session) -> std::io::Result<()> {
    let mut worker = Worker::start(session)?;
    hear_interrupts(worker.interrupted());
    let vocabulary = Arc::new(Mutex::new(worker.sight.vocabulary.clone()));
    let mut watch = Watch::default();
    let mut editor = editor(vocabulary.clone(), watch.saved.clone());
    loop {
        watch.follow(worker.sight.watched.as_deref());
        match editor.read_line(&Caret(worker.sight.number, worker.sight.pastes))? {
            Signal::Success(entry) => {
                let reply = worker.ask(Request::Enter(entry, columns()));
                show(&reply.text);
                if reply.ends {
                    return Ok(());
                }
            }
            Signal::ExternalBreak(typed) => {
                let reply = worker.ask(Request::Look);
                show(&format!("\n{}", reply.text));
                editor.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(typed)]);
            }
            Signal::CtrlD => return Ok(()),
            // An entry that was given up, and whatever later versions of the editor add.
            _ => drop(worker.ask(Request::GiveUp)),
        }
        let mut known = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(&worker.sight.vocabulary);
    }
}

/// Prints; a terminal that is gone is found out when the next line is read.
fn show(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// From now on Ctrl-C ends the evaluation that runs.
fn hear_interrupts(interrupted: Interrupted) {
    let listen = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        // Without a runtime Ctrl-C ends the process, as it does everywhere.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                interrupted.lock().unwrap_or_else(PoisonError::into_inner).interrupt();
            }
        });
    };
    drop(std::thread::Builder::new().name("interrupts".to_string()).spawn(listen));
}

/// Looks at a file in a thread of its own and breaks the reading of a line when it was saved.
#[derive(Default)]
struct Watch {
    saved: Arc<AtomicBool>,
    file: Option<PathBuf>,
    /// The thread ends when this is gone.
    alive: Option<Arc<()>>,
}

impl Watch {
    fn follow(&mut self, file: Option<&Path>) {
        if self.file.as_deref() == file {
            return;
        }
        (self.file, self.alive) = (file.map(Path::to_path_buf), None);
        let Some(file) = self.file.clone() else { return };
        let alive = Arc::new(());
        let (held, saved) = (Arc::downgrade(&alive), self.saved.clone());
        let mut last = Watched::now(&file);
        let look = move || {
            while held.strong_count() > 0 {
                std::thread::sleep(LOOK);
                let now = Watched::now(&file);
                if now.stamp.is_some() && now != last {
                    last = now;
                    saved.store(true, Ordering::Relaxed);
                }
            }
        };
        self.alive = Some(alive);
        drop(std::thread::Builder::new().name("watch".to_string()).spawn(look));
    }
}

fn editor(vocabulary: Arc<Mutex<Vec<String>>>, saved: Arc<AtomicBool>) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![
        ReedlineEvent::Menu(MENU.to_string()),
        ReedlineEvent::MenuNext,
    ]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let menu = Box::new(reedline::ColumnarMenu::default().with_name(MENU));
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut editor = Reedline::create()
        .with_completer(Box::new(Words(vocabulary)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(menu))
        .with_validator(Box::new(Brackets))
        .with_highlighter(Box::new(Colours(colours)))
        .with_hinter(Box::new(Signatures::default()))
        .with_ansi_colors(colours)
        .with_break_signal(saved)
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

/// The prompt: the number of the sample, and whether lines are pasted.
struct Caret(usize, bool);

impl Prompt for Caret {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Owned(if self.1 { String::new() } else { self.0.to_string() })
    }
    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(if self.1 { "paste> " } else { "> " })
    }
    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("| ")
    }
    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search {}) ", search.term))
    }
}

/// Completes from what is known now.
struct Words(Arc<Mutex<Vec<String>>>);

impl Completer for Words {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let vocabulary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, words) = candidates(&vocabulary, line, at);
        let suggestion = |word: String| Suggestion {
            description: super::commands::hint(&word),
            value: word,
            span: Span::new(start, at),
            ..Suggestion::default()
        };
        CompletionResult::fresh(words.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// An entry is complete when its brackets and forms are closed and no step is missing. An empty line
/// ends it in any case.
struct Brackets;

impl Validator for Brackets {
    fn validate(&self, line: &str) -> ValidationResult {
        let given_up = line.ends_with("\n\n");
        let goes_on = || temblor_lang::syntax::is_open(line);
        let open = !given_up && !line.starts_with(':') && goes_on();
        if open { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// Colours the entry, if colours are wanted.
struct Colours(bool);

impl Highlighter for Colours {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut text = StyledText::new();
        if !self.0 {
            text.push((Style::new(), line.to_string()));
            return text;
        }
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
