//! The picture in the README: a session is typed and the screen becomes an SVG file. The committed
//! picture must be what the tool shows now; `TEMBLOR_BLESS=1` draws it anew.

use crate::terminal::driver::Terminal;
use crate::terminal::{file, folder};
use std::fmt::Write;
use std::path::Path;

/// What is typed, an entry each.
const ENTRIES: [&str; 5] = [
    ":mode json",
    ":suggest",
    "parse grok \"%{IP:ip} %{WORD:verb} %{URIPATH:path} %{INT:status:int}\" |> where event.status >= 400",
    ":goto 3",
    ":explain",
];
/// The samples.
const LOG: &str =
    "10.0.0.1 GET /a 200\n10.0.0.2 POST /b 503\n10.0.0.3 GET /c -\n10.0.0.4 GET /d 404\n";
/// Size of the screen, in characters.
const SIZE: (u16, u16) = (114, 36);
/// Size of a character, in pixels.
const CELL: (f32, f32) = (8.4, 18.0);
/// Free space around the text, in pixels.
const EDGE: f32 = 14.0;
/// The sixteen colours of the terminal.
const COLOURS: [&str; 16] = [
    "#1e2127", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
    "#7f848e", "#f44747", "#b5e890", "#f5d08b", "#81cfff", "#d68ded", "#76d6e2", "#ffffff",
];

#[test]
fn the_picture_in_the_readme_is_true() {
    let folder = folder("recording");
    file(&folder, "access.log", LOG);
    let arguments = ["repl", "--input", "access.log"];
    let terminal = Terminal::start(SIZE, &folder, &arguments);
    terminal.wait_for("1>");
    for (number, entry) in ENTRIES.iter().enumerate() {
        terminal.press(entry);
        terminal.press("\r");
        terminal.wait(entry, |screen| {
            let prompts = screen.lines().filter(|line| is_prompt(line)).count();
            prompts == number + 2 && crate::terminal::driver::ends_in_prompt(screen)
        });
    }
    let picture = svg(terminal.parser().screen());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/repl/repl.svg");
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(&path, &picture).expect("the picture can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == picture, "TEMBLOR_BLESS=1 draws examples/repl/repl.svg anew");
}

fn is_prompt(line: &str) -> bool {
    line.split_once('>').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The screen as a picture: a line of text for each row, a part of it for each colour.
fn svg(screen: &vt100::Screen) -> String {
    let used = (0..SIZE.1).rev().find(|row| !row_text(screen, *row).trim().is_empty());
    let rows = used.map_or(1, |row| row + 1);
    let (width, height) =
        (f32::from(SIZE.0) * CELL.0 + 2.0 * EDGE, f32::from(rows) * CELL.1 + 2.0 * EDGE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        COLOURS[0]
    );
    for row in 0..rows {
        let y = EDGE + (f32::from(row) + 0.75) * CELL.1;
        let _ = write!(out, "<text xml:space=\"preserve\" x=\"{EDGE}\" y=\"{y:.1}\">");
        let cells: Vec<_> = (0..SIZE.0).filter_map(|column| screen.cell(row, column)).collect();
        let used = cells.iter().rposition(|cell| cell.has_contents()).map_or(0, |last| last + 1);
        let runs = cells[..used].chunk_by(|left, right| style(left) == style(right));
        for run in runs {
            let text: String = run
                .iter()
                .map(|cell| if cell.has_contents() { cell.contents() } else { " " })
                .collect();
            let (colour, is_bold) = style(run[0]);
            let weight = if is_bold { " font-weight=\"bold\"" } else { "" };
            let _ = write!(out, "<tspan fill=\"{colour}\"{weight}>{}</tspan>", escaped(&text));
        }
        out.push_str("</text>\n");
    }
    out + "</svg>\n"
}

fn row_text(screen: &vt100::Screen, row: u16) -> String {
    let cells = (0..SIZE.0).filter_map(|column| screen.cell(row, column));
    cells.map(|cell| cell.contents().to_string()).collect()
}

/// Colour and weight of a character.
fn style(cell: &vt100::Cell) -> (&'static str, bool) {
    let colour = match cell.fgcolor() {
        vt100::Color::Idx(index) => COLOURS.get(usize::from(index)).copied(),
        _ => None,
    };
    (colour.unwrap_or(COLOURS[7]), cell.bold())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
