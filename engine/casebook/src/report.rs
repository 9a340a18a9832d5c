//! Results of tests as text for people, as JSON, and as JUnit's XML for build servers. Nothing
//! here prints.

use super::coverage::{Location, Reach};
use super::difference::Line;
use super::walk::{Outcome, Results, TestResult};
use std::fmt::Write;
use std::time::Duration;
use temblor_lang::diagnostic::Colour;
use temblor_lang::value::push_json_string;

/// What is wrong with the tests that failed, and a line that counts.
#[must_use]
pub fn text(results: &Results, colour: Colour, took: Duration) -> String {
    let mut text = String::new();
    let mut failed = 0;
    for test in &results.tests {
        if test.outcome != Outcome::Passed {
            failed += 1;
            failure(&mut text, test, colour);
        }
    }
    for file in &results.updated {
        // Writing into a String does not fail.
        let _ = writeln!(text, "updated {}", file.display());
    }
    let passed = results.tests.len() - failed;
    let word = if failed == 0 { paint(colour, "32", "passed") } else { "passed".to_string() };
    let _ = write!(text, "{passed} {word}");
    if failed > 0 {
        let _ = write!(text, ", {}", paint(colour, "1;31", &format!("{failed} failed")));
    }
    let _ = writeln!(text, " in {:.2} s", took.as_secs_f64());
    text
}

fn paint(colour: Colour, code: &str, text: &str) -> String {
    match colour {
        Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
        Colour::Off => text.to_string(),
    }
}

fn failure(text: &mut String, test: &TestResult, colour: Colour) {
    let head = paint(colour, "1;31", "failed");
    let place = format!("{}:{}", test.file.display(), test.line);
    let _ = writeln!(text, "{head} {} ({place})", test.name);
    match &test.outcome {
        Outcome::Passed => {}
        Outcome::Failed(reason) => {
            for line in reason.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        Outcome::Differs(differences) => {
            for difference in differences {
                let name = format!("--- {}", difference.section);
                let _ = writeln!(text, "    {}", name.trim_end());
                for line in difference.lines() {
                    let _ = writeln!(text, "    {}", difference_line(line, colour));
                }
            }
        }
    }
    text.push('\n');
}

fn difference_line(line: Line<'_>, colour: Colour) -> String {
    match line {
        Line::Same(line) => format!("  {line}"),
        Line::Missing(line) => paint(colour, "31", &format!("- {line}")),
        Line::Extra(line) => paint(colour, "32", &format!("+ {line}")),
    }
}

/// The branches that no test took and the output ports on which no event left, with their places;
/// and two lines that count.
#[must_use]
pub fn coverage(reach: &Reach) -> String {
    let mut text = String::new();
    for (place, branch) in reach.branches.iter().filter(|(_, branch)| branch.taken == 0) {
        let _ = writeln!(text, "{place}: {} not taken: {}", branch.kind.noun(), branch.text);
    }
    for (place, ports) in &reach.ports {
        for (port, _) in ports.iter().filter(|(_, used)| !**used) {
            let _ = writeln!(text, "{place}: port not reached: {port}");
        }
    }
    let taken = reach.branches.values().filter(|branch| branch.taken > 0).count();
    let _ = writeln!(text, "{taken} of {} branches were taken", reach.branches.len());
    let ports = || reach.ports.values().flat_map(|ports| ports.values());
    let used = ports().filter(|used| **used).count();
    let _ = writeln!(text, "{used} of {} output ports were reached", ports().count());
    text
}

/// What is wrong with a test, without colour; `None` when it passed.
fn message(test: &TestResult) -> Option<String> {
    match &test.outcome {
        Outcome::Passed => None,
        Outcome::Failed(reason) => Some(reason.clone()),
        Outcome::Differs(differences) => {
            let lines = differences.iter().flat_map(|difference| {
                let name = format!("--- {}", difference.section).trim_end().to_string();
                let lines = difference.lines();
                let lines: Vec<_> =
                    lines.into_iter().map(|line| difference_line(line, Colour::Off)).collect();
                std::iter::once(name).chain(lines)
            });
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_json_string(&mut out, text);
    String::from_utf8(out).expect("JSON output is UTF-8")
}

/// One JSON object: `{"passed": …, "failed": …, "tests": […]}`, and with coverage also "branches"
/// and "ports".
#[must_use]
pub fn json(results: &Results) -> String {
    let failed = results.tests.iter().filter(|test| test.outcome != Outcome::Passed).count();
    let tests: Vec<_> = results.tests.iter().map(json_test).collect();
    let passed = results.tests.len() - failed;
    let tests = tests.join(",");
    let reach = json_reach(&results.reach);
    format!("{{\"passed\":{passed},\"failed\":{failed},\"tests\":[{tests}]{reach}}}\n")
}

/// `,"branches":[…],"ports":[…]`, when it is known what was reached.
fn json_reach(reach: &Reach) -> String {
    if reach.branches.is_empty() && reach.ports.is_empty() {
        return String::new();
    }
    let place = |place: &Location| {
        let (file, Location { line, column, .. }) = (quoted(&place.file.to_string_lossy()), place);
        format!("\"file\":{file},\"line\":{line},\"column\":{column}")
    };
    let branches = reach.branches.iter().map(|(at, branch)| {
        let (kind, taken) = (quoted(branch.kind.noun()), branch.taken);
        format!("{{{},\"kind\":{kind},\"taken\":{taken}}}", place(at))
    });
    let ports = reach.ports.iter().flat_map(|(at, ports)| {
        let port = move |(port, used): (&String, &bool)| {
            format!("{{{},\"port\":{},\"reached\":{used}}}", place(at), quoted(port))
        };
        ports.iter().map(port).collect::<Vec<_>>()
    });
    let (branches, ports): (Vec<_>, Vec<_>) = (branches.collect(), ports.collect());
    format!(",\"branches\":[{}],\"ports\":[{}]", branches.join(","), ports.join(","))
}

fn json_test(test: &TestResult) -> String {
    let message = message(test);
    format!(
        "{{\"file\":{},\"line\":{},\"name\":{},\"passed\":{},\"seconds\":{:.6},\"message\":{}}}",
        quoted(&test.file.to_string_lossy()),
        test.line,
        quoted(&test.name),
        message.is_none(),
        test.duration.as_secs_f64(),
        message.as_deref().map_or("null".to_string(), quoted),
    )
}

/// JUnit's XML as build servers read it: a suite for each file, a case for each test.
#[must_use]
pub fn junit(results: &Results) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for tests in results.tests.chunk_by(|left, right| left.file == right.file) {
        let failed = tests.iter().filter(|test| test.outcome != Outcome::Passed).count();
        let seconds: f64 = tests.iter().map(|test| test.duration.as_secs_f64()).sum();
        let file = escaped(&tests[0].file.to_string_lossy());
        let count = tests.len();
        let _ = writeln!(
            text,
            "  <testsuite name=\"{file}\" tests=\"{count}\" failures=\"{failed}\" time=\"{seconds:.6}\">"
        );
        for test in tests {
            junit_test(&mut text, test, &file);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn junit_test(text: &mut String, test: &TestResult, file: &str) {
    let (name, seconds) = (escaped(&test.name), test.duration.as_secs_f64());
    let line = test.line;
    let head = format!(
        "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\" time=\"{seconds:.6}\""
    );
    let _ = match message(test) {
        None => writeln!(text, "{head}/>"),
        Some(message) => writeln!(
            text,
            "{head}>\n      <failure message=\"not as expected\">{}</failure>\n    </testcase>",
            escaped(&message)
        ),
    };
}

/// Text in XML (<https://www.w3.org/TR/xml/#charsets>): control characters cannot be said at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
