//! Much and long: pastes, loops without an end, Ctrl-C, and files larger than the memory they may
//! take.

use crate::terminal::driver::{CTRL_C, Terminal};
use crate::terminal::{SAMPLES, file, folder};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

/// Lines of the paste.
const PASTED: usize = 10_000;
/// Size of the file that is too large to be read.
const FILE_BYTES: u64 = 1 << 30;
/// Memory that may be taken to look at it, the command itself included.
const MEMORY_BYTES: u64 = 200 << 20;

#[test]
fn ten_thousand_lines_are_pasted() {
    let folder = folder("paste");
    let terminal = Terminal::start((80, 24), &folder, &["repl"]);
    terminal.wait_for("1>");
    terminal.press(":paste\r");
    terminal.wait_for("paste>");
    let lines: String = (0..PASTED).map(|n| format!("{{\"n\": {n}}}\n")).collect();
    // As a terminal does it: between the marks of a bracketed paste.
    terminal.press(&format!("\x1b[200~{lines}\x1b[201~\r"));
    terminal.press(":end\r");
    terminal.wait_for("10000 samples added");
    let screen = terminal.enter("where event.n > 5");
    assert!(screen.contains(" 9994  out  ") && screen.contains("10000 samples"), "{screen}");
}

#[test]
fn ctrl_c_ends_an_evaluation_and_not_the_session() {
    let folder = folder("interrupt");
    file(&folder, "s.ndjson", SAMPLES);
    let terminal = Terminal::start((100, 24), &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    terminal.press(":time event.ms + 1 10000000\r");
    // On a busy machine the evaluation may begin late, and Ctrl-C come too early for it.
    let mut pressed = Instant::now();
    terminal.wait("interrupted", |screen| {
        if pressed.elapsed() > Duration::from_millis(300) {
            terminal.press(CTRL_C);
            pressed = Instant::now();
        }
        screen.contains("interrupted")
    });
    assert!(terminal.enter("1 + 1").ends_with("\n2"));
    terminal.press("an entry that is given up");
    terminal.give_up();
    assert!(terminal.enter("2 + 2").ends_with("\n4"));
}

#[test]
fn loops_without_an_end_end() {
    let folder = folder("loop");
    let terminal = Terminal::start((100, 24), &folder, &["repl"]);
    terminal.wait_for("1>");
    terminal.enter(":sample [1,2,3,4,5,6,7,8,9,10]");
    let loops = "for event of case (k,v) => ".repeat(9) + "1" + &" end".repeat(9);
    let screen = terminal.enter(&loops);
    let ends =
        ["error[E0440]: the step budget is used up", "error[E0442]: the program needs more than"];
    assert!(ends.iter().any(|end| screen.contains(end)), "{screen}");
    assert!(terminal.enter("1 + 1").ends_with("\n2"));
}

#[test]
fn broken_lines_stand_in_nobodys_way() {
    let folder = folder("broken");
    file(&folder, "s.ndjson", "{\"a\": 1}\n{\"a\": \n\n{\"a\": 3}\n");
    let terminal = Terminal::start((100, 24), &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    let screen = terminal.enter(":next");
    assert!(screen.contains("sample 2 is broken: not JSON: expected JSON at byte"), "{screen}");
    let screen = terminal.enter("where event.a > 0");
    assert!(screen.contains("2  out  (1, 4)"), "{screen}");
}

/// A file of a gigabyte: lines at its beginning and its end, a hole in between.
fn large(folder: &std::path::Path) {
    let mut file = File::create(folder.join("large.log")).expect("it can be made");
    for number in 0..1_000 {
        writeln!(file, "{{\"n\": {number}}}").expect("it can be written");
    }
    file.seek(SeekFrom::Start(FILE_BYTES)).expect("files may have holes");
    write!(file, "\n{{\"n\": \"last\"}}\n").expect("it can be written");
}

#[test]
fn a_gigabyte_opens_at_once() {
    let folder = folder("large");
    large(&folder);
    let started = Instant::now();
    let terminal = Terminal::start((100, 24), &folder, &["repl", "--input", "large.log"]);
    terminal.wait_for("1>");
    assert!(started.elapsed() < Duration::from_secs(5), "it took {:?}", started.elapsed());
    terminal.enter(":mode json");
    assert!(terminal.enter(":goto 900").ends_with("{\"n\":899}"));
    // The hole is one line of a gigabyte: it is skipped without being kept.
    let screen = terminal.enter(":goto 1001");
    assert!(screen.contains("longer than 16777216 bytes"), "{screen}");
    assert!(terminal.enter(":goto 1002").ends_with("{\"n\":\"last\"}"));
    assert!(terminal.enter(":goto 2").ends_with("{\"n\":1}"));
    if let Some(memory) = terminal.memory_bytes() {
        assert!(memory < MEMORY_BYTES, "it took {memory} bytes of memory");
    }
    std::fs::remove_file(folder.join("large.log")).expect("it is there");
}
