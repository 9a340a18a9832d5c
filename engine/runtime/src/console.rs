//! Standard error, shared by messages, event errors and the progress line.
//!
//! Invariant: a message never lands inside a progress line, and the number of printed event errors is
//! bounded.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::limits::{ERROR_BYTES_PRINTED, ERRORS_PRINTED_MAX};
use crate::outputs::{ErrorRecord, place_of};

/// Takes the cursor to the start of the line and wipes the line.
const WIPE_LINE: &str = "\r\x1b[K";

/// The console of the run that is under way. Threads that follow a file are started while a program is built,
/// before there is a run, so that nobody can hand them its console.
static UNDER_WAY: Mutex<Weak<Console>> = Mutex::new(Weak::new());

/// Where messages go.
pub struct Console {
    state: Mutex<State>,
}

/// Takes each message; whoever is told adds time and place.
type Tell = Box<dyn Fn(&str) + Send>;

struct State {
    out: Box<dyn Write + Send>,
    /// Messages go there instead, to a log.
    tell: Option<Tell>,
    /// A progress line stands on the terminal's last line.
    progress_shown: bool,
    errors_printed: u64,
    errors_hidden: u64,
}

impl Console {
    /// The console on standard error.
    pub fn on_stderr() -> Self {
        Console::new(Box::new(std::io::stderr()))
    }

    /// A console that writes to `out`, for tests; see [`Console::on_stderr`].
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        let (progress_shown, tell) = (false, None);
        let state = State { out, tell, progress_shown, errors_printed: 0, errors_hidden: 0 };
        Console { state: Mutex::new(state) }
    }

    /// A console whose messages go to a log, and that shows no progress.
    pub fn telling(tell: impl Fn(&str) + Send + 'static) -> Self {
        let console = Console::new(Box::new(std::io::sink()));
        console.lock().tell = Some(Box::new(tell));
        console
    }

    /// From now on [`warn`] prints here, for as long as this console lives.
    pub fn attend(self: &Arc<Self>) {
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(self);
    }

    /// Prints a message that ends its line. A console that cannot be written to stays silent.
    pub fn message(&self, text: &str) {
        self.lock().message(text);
    }

    /// Replaces the progress line.
    pub fn progress(&self, text: &str) {
        let mut state = self.lock();
        state.progress_shown = true;
        let _ = write!(state.out, "{WIPE_LINE}{text}");
        let _ = state.out.flush();
    }

    /// Wipes the progress line, if there is one.
    pub fn end_progress(&self) {
        self.lock().wipe();
    }

    /// Prints event errors, unless enough were printed. `records` are the first of `count`.
    pub fn event_errors(&self, records: &[ErrorRecord], count: u64) {
        if count == 0 {
            return;
        }
        let mut state = self.lock();
        let room = ERRORS_PRINTED_MAX.saturating_sub(state.errors_printed);
        let shown = room.min(records.len() as u64);
        for record in &records[..shown as usize] {
            state.message(&render_error(record));
        }
        state.errors_printed += shown;
        state.errors_hidden += count - shown;
    }

    /// Says how many event errors were not printed.
    pub fn end_errors(&self) {
        let mut state = self.lock();
        if state.errors_hidden > 0 {
            let more = std::mem::take(&mut state.errors_hidden);
            state.message(&format!("… and {more} more errors, counted by kind in the summary"));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn message(&mut self, text: &str) {
        self.wipe();
        if let Some(tell) = &self.tell {
            return tell(text);
        }
        let _ = writeln!(self.out, "{text}");
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.progress_shown) {
            let _ = write!(self.out, "{WIPE_LINE}");
            let _ = self.out.flush();
        }
    }
}

/// An event error as text: place and reason, then the original bytes.
pub fn render_error(record: &ErrorRecord) -> String {
    let mut text = format!("error: {}: {}", place_of(&record.origin, record.line), record.reason);
    if !record.bytes.is_empty() {
        let shown = &record.bytes[..record.bytes.len().min(ERROR_BYTES_PRINTED)];
        let more = if shown.len() < record.bytes.len() { " …" } else { "" };
        text.push_str(&format!("\n  | {}{more}", escape(shown)));
    }
    text
}

/// Prints a warning on the console of the run that is under way, or on standard error while there is no run.
pub fn warn(text: &str) {
    let console = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    let console = console.unwrap_or_else(|| Arc::new(Console::on_stderr()));
    console.message(&format!("warning: {text}"));
}

/// Whether standard error is a terminal.
pub fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Bytes as text that cannot confuse a terminal.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        match character {
            '\t' => text.push(character),
            _ if character.is_control() => text.extend(character.escape_default()),
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn record() -> ErrorRecord {
        let (origin, reason) = ("a.log".to_string(), "no JSON".to_string());
        ErrorRecord { kind: "decode", origin, line: 3, reason, bytes: b"x\x1b[0m".to_vec() }
    }

    #[test]
    fn errors_name_place_and_reason_and_show_bytes_that_cannot_harm() {
        assert_eq!(render_error(&record()), "error: a.log:3: no JSON\n  | x\\u{1b}[0m");
    }

    #[test]
    fn printed_errors_are_bounded_and_the_rest_is_told() {
        let out = Shared::default();
        let console = Console::new(Box::new(out.clone()));
        for _ in 0..ERRORS_PRINTED_MAX + 3 {
            console.event_errors(&[record()], 1);
        }
        console.event_errors(&[record()], 2);
        console.end_errors();
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("no JSON").count() as u64, ERRORS_PRINTED_MAX);
        assert!(text.ends_with("… and 5 more errors, counted by kind in the summary\n"), "{text}");
    }

    #[test]
    fn warnings_of_other_threads_reach_the_console_of_the_run() {
        let out = Shared::default();
        let console = Arc::new(Console::new(Box::new(out.clone())));
        console.attend();
        console.progress("10 %");
        std::thread::spawn(|| warn("hosts.csv stays as it was")).join().unwrap();
        drop(console);
        warn("this one goes to standard error: the run is over");
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "\r\x1b[K10 %\r\x1b[Kwarning: hosts.csv stays as it was\n");
    }

    #[test]
    fn a_message_wipes_the_progress_line_first() {
        let out = Shared::default();
        let console = Console::new(Box::new(out.clone()));
        console.progress("10 %");
        console.message("note");
        console.message("more");
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "\r\x1b[K10 %\r\x1b[Knote\nmore\n");
    }
}
