//! Keys: completion, hints, highlighting, several lines, history, and narrow terminals.

use crate::terminal::driver::{CTRL_L, Terminal};
use crate::terminal::{SAMPLES, file, folder};

fn terminal(name: &str, size: (u16, u16)) -> Terminal {
    let folder = folder(name);
    file(&folder, "s.ndjson", SAMPLES);
    let terminal = Terminal::start(size, &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    terminal
}

#[test]
fn words_are_completed() {
    let terminal = terminal("complete", (80, 24));
    for (typed, completed) in [
        (":expl\t", ":explain"),
        ("string::upperc\t", "string::uppercase"),
        ("event.stat\t", "event.status"),
        ("\"%{COMBINEDA\t", "\"%{COMBINEDAPACHELOG"),
        (":load s.nd\t", ":load s.ndjson"),
    ] {
        terminal.press(CTRL_L);
        terminal.press(typed);
        terminal.wait(completed, |screen| {
            screen.lines().next().is_some_and(|line| line.contains(completed))
        });
        terminal.give_up();
    }
    terminal.press(CTRL_L);
    terminal.press("event.\t");
    let screen = terminal.wait("menu", |screen| screen.contains("event.ms"));
    assert!(screen.contains("event.host") && screen.contains("event.path"), "{screen}");
}

#[test]
fn signatures_are_hinted() {
    let terminal = terminal("hints", (100, 24));
    terminal.press("string::split(event.host, ");
    terminal.wait_for("std::string::split(text: string, separator: string) -> array");
    terminal.give_up();
    terminal.press(":goto ");
    terminal.wait_for(":goto   N");
}

#[test]
fn entries_are_coloured() {
    let terminal = terminal("colours", (80, 24));
    terminal.press(CTRL_L);
    terminal.press("match \"x\" 12");
    terminal.wait_for("12");
    let parser = terminal.parser();
    let colour =
        |column: u16| parser.screen().cell(0, column).expect("it is on the screen").fgcolor();
    let (word, text, number) = (colour(3), colour(9), colour(13));
    assert_eq!(word, vt100::Color::Idx(4), "a word of the language is blue");
    assert_eq!(text, vt100::Color::Idx(2), "text is green");
    assert_eq!(number, vt100::Color::Idx(5), "a number is magenta");
}

#[test]
fn entries_go_over_several_lines() {
    let terminal = terminal("lines", (80, 24));
    terminal.press(CTRL_L);
    for line in
        ["match event.status of\r", "case 200 => \"fine\"\r", "case _ => \"odd\"\r", "end\r"]
    {
        terminal.press(line);
    }
    terminal.wait("answer", |screen| screen.ends_with("\"fine\"\n1>"));
    terminal.press("where event.ms > 900 |>\rset event.b = 1\r");
    terminal.wait_for("2  out  (2, 4)");
}

#[test]
fn history_outlives_the_session() {
    let folder = folder("history");
    file(&folder, "s.ndjson", SAMPLES);
    let mut first = Terminal::start((80, 24), &folder, &["repl", "--input", "s.ndjson"]);
    first.wait_for("1>");
    first.enter("event.ms + 4711");
    first.press(":quit\r");
    assert!(first.ends(), ":quit ends");
    let second = Terminal::start((80, 24), &folder, &["repl", "--input", "s.ndjson"]);
    second.wait_for("1>");
    second.press("\x1b[A\x1b[A");
    second.wait_for("event.ms + 4711");
}

#[test]
fn narrow_terminals_are_enough() {
    let terminal = terminal("narrow", (40, 30));
    let screen = terminal.enter("where event.ms > 900 |> set event.slow = true");
    assert!(screen.contains("2  out  (2, 4)"), "{screen}");
    assert!(terminal.parser().screen().row_wrapped(0), "the entry goes on in the next row");
    let screen = terminal.enter(":explain grok \"%{WORD:word} (?<rest>.*)\" \"aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii\"");
    assert!(
        screen.contains("\n  aaaa bbbb cccc dddd eeee ffff gggg hhh\n  aaaa bbbbb"),
        "{screen}"
    );
    let screen = terminal.enter(":help");
    assert!(screen.contains("anything else is an expression"), "{screen}");
}
