//! A person at a terminal: a pseudo-terminal with a screen that can be read and keys that can be
//! typed. Whatever is waited for has a time limit.

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for something to appear.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks at the screen.
const LOOK: Duration = Duration::from_millis(5);
/// Time after which a prompt that was drawn waits for keys.
const SETTLED: Duration = Duration::from_millis(100);
/// Time after which a key that had no effect is pressed again.
const AGAIN: Duration = Duration::from_secs(2);
/// What a program sends to learn where the cursor is (ECMA-48, DSR).
const WHERE: &[u8] = b"\x1b[6n";
/// Clears the screen.
pub(super) const CTRL_L: &str = "\x0c";
/// Interrupts.
pub(super) const CTRL_C: &str = "\x03";

/// A terminal in which `temblor` runs.
pub(super) struct Terminal {
    pty: Arc<Pty>,
    parser: Arc<Mutex<vt100::Parser>>,
    child: Child,
}

impl Terminal {
    /// Starts `temblor` in a folder of its own; history goes there, too.
    pub(super) fn start((columns, rows): (u16, u16), folder: &Path, arguments: &[&str]) -> Self {
        let (pty, pts) = open().expect("there is a pseudo-terminal");
        pty.resize(Size::new(rows, columns)).expect("it can be resized");
        let child = Command::new(env!("CARGO_BIN_EXE_temblor"))
            .args(arguments)
            .current_dir(folder)
            .env_remove("NO_COLOR")
            .env_remove("VISUAL")
            .env("TERM", "xterm-256color")
            .env("XDG_STATE_HOME", folder)
            .spawn(pts)
            .expect("temblor starts");
        let size = |value| std::num::NonZeroU16::new(value).expect("a terminal has room");
        let parser = Arc::new(Mutex::new(vt100::Parser::new(size(rows), size(columns), 0)));
        let pty = Arc::new(pty);
        let (reader, screen) = (pty.clone(), parser.clone());
        std::thread::spawn(move || read(&reader, &screen));
        Self { pty, parser, child }
    }

    pub(super) fn parser(&self) -> MutexGuard<'_, vt100::Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be read on the screen, without blanks at the ends of lines.
    pub(super) fn screen(&self) -> String {
        let parser = self.parser();
        let lines: Vec<_> =
            parser.screen().contents().lines().map(|line| line.trim_end().to_string()).collect();
        lines.join("\n").trim_end().to_string()
    }

    pub(super) fn press(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).expect("the terminal is there");
    }

    /// Waits until the screen is as wanted; gives it.
    pub(super) fn wait(&self, what: &str, mut is_so: impl FnMut(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(started.elapsed() < PATIENCE, "no {what} on the screen:\n{screen}");
            std::thread::sleep(LOOK);
        }
    }

    pub(super) fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    /// Waits for a prompt that stands alone on an empty screen.
    fn clear(&self) {
        let mut pressed = Instant::now();
        self.press(CTRL_L);
        self.wait("empty screen", |screen| {
            // The key is lost where the prompt stands but no keys are read yet.
            if pressed.elapsed() > AGAIN {
                self.press(CTRL_L);
                pressed = Instant::now();
            }
            screen.lines().count() == 1 && ends_in_prompt(screen)
        });
    }

    /// Types an entry on an empty screen and waits for the next prompt; gives what stands between.
    pub(super) fn enter(&self, entry: &str) -> String {
        self.clear();
        self.press(entry);
        self.press("\r");
        let done = |screen: &str| screen.lines().count() > 1 && ends_in_prompt(screen);
        let screen = self.wait("prompt", done);
        let lines: Vec<&str> = screen.lines().collect();
        lines[..lines.len() - 1].join("\n")
    }

    /// Gives up the entry that is being typed.
    pub(super) fn give_up(&self) {
        self.press(CTRL_C);
        // Keys that come together with Ctrl-C would be lost with the entry.
        self.wait("prompt", ends_in_prompt);
        std::thread::sleep(SETTLED);
    }

    /// The most memory that `temblor` has taken so far; `None` where the system does not tell.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        Some(kibibytes * 1024)
    }

    /// Whether `temblor` has ended, waiting for it.
    pub(super) fn ends(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.child.try_wait().expect("it is our child").is_some() {
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the last line is an empty prompt.
pub(super) fn ends_in_prompt(screen: &str) -> bool {
    let last = screen.lines().last().unwrap_or_default();
    let number = last.strip_suffix('>').unwrap_or("no");
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Feeds the screen with what the program writes, and tells it where the cursor is when it asks.
fn read(pty: &Pty, screen: &Mutex<vt100::Parser>) {
    let mut pending = Vec::new();
    let mut block = [0; 4096];
    let mut pty = pty;
    while let Ok(length) = pty.read(&mut block) {
        if length == 0 {
            return;
        }
        pending.extend_from_slice(&block[..length]);
        let mut parser = screen.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(at) = pending.windows(WHERE.len()).position(|bytes| bytes == WHERE) {
            parser.process(&pending[..at]);
            pending.drain(..at + WHERE.len());
            let (row, column) = parser.screen().cursor_position();
            let answer = format!("\x1b[{};{}R", row + 1, column + 1);
            if pty.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
        // A question may be cut in two.
        let kept = (1..WHERE.len()).rev().find(|length| pending.ends_with(&WHERE[..*length]));
        let ready = pending.len() - kept.unwrap_or(0);
        parser.process(&pending[..ready]);
        pending.drain(..ready);
    }
}
