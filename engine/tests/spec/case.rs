//! The form of a case: a head, a text, sections behind lines that begin with `---`. What is written
//! back is what was read, but for the two sections that a run fills in.

/// The line in front of a case: `=== kind: title`.
pub const HEAD: &str = "=== ";
/// The line in front of a section; alone it begins the diagnostics.
const SECTION: &str = "---";

/// A file of cases.
pub struct Cases {
    /// What stands in front of the first case.
    pub preface: String,
    /// In order.
    pub list: Vec<Case>,
}

/// One case.
pub struct Case {
    /// `script`, `query`, `deploy`, `program` or `chain`.
    pub kind: String,
    /// A few words.
    pub title: String,
    /// The program.
    pub source: String,
    /// `--- module a/b.tremor`: name and text.
    pub modules: Vec<(String, String)>,
    /// `--- clock 1s`: time between two events, in nanoseconds.
    pub step_ns: u64,
    /// `--- codec string`: a line is a string instead of JSON.
    pub strings: bool,
    /// `--- meta`: metadata is shown.
    pub meta: bool,
    /// `--- in`: one event a line.
    pub input: Option<Vec<String>>,
    /// The lines of the options as they were written.
    options: Vec<String>,
}

/// What a case gave.
pub struct Played {
    /// Behind `---`.
    pub diagnostics: String,
    /// Behind `--- out`.
    pub output: String,
}

/// Reads a file.
pub fn parse(text: &str) -> Result<Cases, String> {
    let mut cases = Cases { preface: String::new(), list: Vec::new() };
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        match blocks.last_mut() {
            _ if line.starts_with(HEAD) => blocks.push(vec![line]),
            Some(block) => block.push(line),
            None => cases.preface.push_str(&format!("{line}\n")),
        }
    }
    for block in blocks {
        cases.list.push(case(&block)?);
    }
    Ok(cases)
}

fn case(lines: &[&str]) -> Result<Case, String> {
    let head = lines[0].trim_start_matches(HEAD);
    let (kind, title) = head.split_once(": ").ok_or(format!("`{head}`: expected kind: title"))?;
    let mut case = Case {
        kind: kind.to_string(),
        title: title.to_string(),
        source: String::new(),
        modules: Vec::new(),
        step_ns: 1,
        strings: false,
        meta: false,
        input: None,
        options: Vec::new(),
    };
    let sections = lines[1..].split(|line| is_section(line));
    let names = lines[1..].iter().filter(|line| is_section(line));
    let mut bodies = sections.map(|body| body.join("\n"));
    case.source = bodies.next().unwrap_or_default().trim_end_matches('\n').to_string();
    for (name, body) in names.zip(bodies) {
        section(&mut case, name.trim_start_matches(SECTION).trim(), &body)?;
    }
    Ok(case)
}

fn is_section(line: &str) -> bool {
    line == SECTION || line.starts_with("--- ")
}

fn section(case: &mut Case, name: &str, body: &str) -> Result<(), String> {
    let title = &case.title;
    match name.split_once(' ').unwrap_or((name, "")) {
        ("" | "out", "") => {}
        ("in", "") => case.input = Some(body.lines().map(str::to_string).collect()),
        ("module", file) => {
            let text = body.trim_end_matches('\n').to_string();
            case.modules.push((file.to_string(), text));
        }
        ("codec", "string") => case.strings = true,
        ("meta", "") => case.meta = true,
        ("clock", step) => {
            let step = temblor_engine::graph::parse_duration(step);
            case.step_ns = step.ok_or(format!("{title}: expected a time such as 1s"))?;
        }
        _ => return Err(format!("{title}: unknown section `{name}`")),
    }
    if matches!(name.split(' ').next(), Some("codec" | "meta" | "clock")) {
        case.options.push(format!("{SECTION} {name}"));
    }
    Ok(())
}

/// Writes a case with what it gave.
pub fn write(out: &mut String, case: &Case, played: &Played) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{HEAD}{}: {}\n{}\n", case.kind, case.title, case.source));
    for (name, text) in &case.modules {
        out.push_str(&format!("{SECTION} module {name}\n{text}\n"));
    }
    case.options.iter().for_each(|option| out.push_str(&format!("{option}\n")));
    if let Some(input) = &case.input {
        out.push_str(&format!("{SECTION} in\n"));
        input.iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    if case.input.is_none() || !played.diagnostics.is_empty() {
        out.push_str(&format!("{SECTION}\n{}", played.diagnostics));
    }
    if case.input.is_some() && !played.output.is_empty() {
        out.push_str(&format!("{SECTION} out\n{}", played.output));
    }
}
