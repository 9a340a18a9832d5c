//! What diagnostics look like.

use super::*;

/// A diagnostic about the first `part` of `text`, labelled `here`.
fn shown(text: &str, part: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add("x", text);
    let start = text.find(part).expect("the part is in the text");
    let span = Span::new(source, start, start + part.len());
    let one = Diagnostic::error("E0101", span, "wrong").with_label("here");
    render(&one, &sources, Colour::Off)
}

fn lines(text: &str, part: &str) -> Vec<String> {
    shown(text, part).lines().skip(1).map(str::to_string).collect()
}

#[test]
fn one_line() {
    assert_eq!(
        lines("a;\nlet b = c;\n", "b ="),
        [" --> x:2:5", "2 | let b = c;", "  |     ^^^ here"]
    );
}

#[test]
fn the_end_of_the_text() {
    let mut sources = Sources::default();
    let source = sources.add("x", "a\n");
    let one = Diagnostic::error("E0101", Span::new(source, 2, 2), "wrong");
    let text = render(&one, &sources, Colour::Off);
    assert_eq!(text, "error[E0101]: wrong\n --> x:2:1\n2 |\n  | ^\n");
}

#[test]
fn several_lines() {
    let text = "1;\nmatch event of\n  case _ => 1\nend; 2";
    let place = &text[3..text.len() - 3];
    let expected = [
        " --> x:2:1",
        "2 | match event of",
        "  | ^^^^^^^^^^^^^^",
        "  ...",
        "4 | end; 2",
        "  | ^^^ here",
    ];
    assert_eq!(lines(text, place), expected);
    let text = "f(1,\n  2)";
    let expected = [" --> x:1:1", "1 | f(1,", "  | ^^^^", "2 |   2)", "  |   ^^ here"];
    assert_eq!(lines(text, text), expected);
}

#[test]
fn numbers_of_lines_are_aligned() {
    let text = format!("{}[1,\n2]", "\n".repeat(8));
    let expected = ["  --> x:9:1", " 9 | [1,", "   | ^^^", "10 | 2]", "   | ^^ here"];
    assert_eq!(lines(&text, "[1,\n2]"), expected);
}

#[test]
fn wide_and_narrow_characters() {
    let expected = [" --> x:1:6", "1 | \"漢字\"+x", "  |       ^ here"];
    assert_eq!(lines("\"漢字\"+x", "+"), expected.map(|line| line.replace(":6", ":5")));
    // An accent of its own takes no column, an emoji two.
    assert_eq!(lines("e\u{301}😀+", "+")[2], "  |    ^ here");
    assert_eq!(lines("a 漢字 b", "漢字")[2], "  |   ^^^^ here");
}

#[test]
fn tabs_and_control_characters() {
    assert_eq!(lines("\tab\tc", "c")[1..], ["1 |     ab  c", "  |         ^ here"]);
    assert_eq!(lines("a\u{1b}[31mb", "b")[1..], ["1 | a\u{FFFD}[31mb", "  |       ^ here"]);
}

#[test]
fn carriage_returns_are_not_shown() {
    let text = "a\r\nlet b = c\r\nd\r\n";
    assert_eq!(lines(text, "c\r")[1..], ["2 | let b = c", "  |         ^ here"]);
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let text = format!("{}here{}", "a".repeat(5000), "b".repeat(5000));
    let shown = lines(&text, "here");
    assert_eq!(shown[0], " --> x:1:5001");
    assert_eq!(shown[1], format!("1 | …{}here{}…", "a".repeat(60), "b".repeat(96)));
    assert_eq!(shown[2], format!("  | {}^^^^ here", " ".repeat(61)));
    // A place that is longer than the part that is shown.
    let shown = lines(&text, &text[10..9000]);
    assert!(shown[2].ends_with("^ here") && shown[2].len() < 200, "{shown:?}");
}

#[test]
fn many_alike_are_counted() {
    let sources = Sources::default();
    let one = |message: &str| Diagnostic::error("E0101", Span::default(), message);
    let text = |count: usize| {
        let mut all = vec![one("other")];
        all.extend((0..count).map(|_| one("wrong")));
        render_all(&all, &sources, Colour::Off)
    };
    assert_eq!(text(ALIKE_SHOWN_MAX).matches("wrong").count(), ALIKE_SHOWN_MAX);
    assert!(!text(ALIKE_SHOWN_MAX).contains("more"));
    assert_eq!(text(2_000).matches("wrong").count(), ALIKE_SHOWN_MAX);
    assert!(text(2_000).ends_with("… and 1995 more of these\n"), "{}", text(2_000));
    let each: Vec<_> = (0..=SHOWN_MAX).map(|number| one(&format!("wrong {number}"))).collect();
    let text = render_all(&each, &sources, Colour::Off);
    assert_eq!(text.matches("wrong").count(), SHOWN_MAX);
    assert!(text.ends_with("… and 1 more of these\n"));
}
