//! Runs one case: compiles its program, sends its input by a clock of its own, and compares every
//! section that says what is expected. Nothing outside of the case has an influence on it.

use super::coverage::{Location, Reach, in_file};
use super::difference::{Difference, differs};
use super::file::Case;
use std::collections::BTreeSet;
use std::path::Path;
use temblor_codec::InputCodec;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Loader;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax;
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Arena, Frozen, JsonStyle};
use temblor_logstash::configuration::{self, Wishes};
use temblor_logstash::settings::Ecs;
use temblor_pipeline::load::{Language, LoadOptions, Loaded};
use temblor_pipeline::operator::{IN, OUT};
use temblor_pipeline::rehearsal::{Happening, Rehearsal};
use temblor_stdlib::formats::json;

/// Section: what the compiler says; its name is empty.
pub const DIAGNOSTICS: &str = "";
/// Section: the input.
pub const INPUT: &str = "in";
/// Section: what comes out.
pub const OUTPUT: &str = "out";
/// The beginning of the names of sections that hold a module's text: `module a/b.tremor`.
const MODULE: &str = "module ";
/// Option: the time between two events.
const CLOCK: &str = "clock ";
/// Option: each line of the input is a string.
const STRINGS: &str = "codec string";
/// The beginning of an option: arguments of the program, as a JSON record.
const ARGS: &str = "args ";
/// Option: metadata is shown.
const META: &str = "meta";
/// In front of the kind of a case that only concerns the parser.
const PARSE: &str = "parse ";
/// The kind of a case whose program is a file; the case holds its path, seen from the case.
const FILE: &str = "file";
/// The kind of a case whose program is a Logstash configuration.
const LOGSTASH: &str = "logstash";
/// The name that the program has in messages.
const PROGRAM: &str = "case";

/// What became of a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Sections that are not as expected. The case passes when there are none.
    pub differences: Vec<Difference>,
    /// What the case reached of its program.
    pub reach: Reach,
}

/// What is wrong with a case itself, as a sentence.
pub(crate) type CaseError = String;

/// The sections of a case that say what is expected, as they turn out.
#[derive(Debug, Default)]
struct Actual {
    diagnostics: String,
    output: String,
    reach: Reach,
}

impl Actual {
    fn sections(&mut self) -> [(&'static str, String); 2] {
        let (diagnostics, output) = (&mut self.diagnostics, &mut self.output);
        [(DIAGNOSTICS, std::mem::take(diagnostics)), (OUTPUT, std::mem::take(output))]
    }
}

/// Runs a case that stands in `file`, and compares. `given`: what its program gets from outside;
/// `counted`: what it reaches is noted.
///
/// # Errors
/// When the case is not in order, such as one of an unknown kind.
pub fn run(
    case: &Case,
    file: &Path,
    given: &LoadOptions<'_>,
    counted: bool,
) -> Result<Verdict, CaseError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut actual = actual(case, folder, given, counted.then_some(file))?;
    let mut differences = Vec::new();
    for (section, actual) in actual.sections() {
        let expected = case.section(section).unwrap_or_default();
        if differs(expected, &actual) {
            differences.push(Difference { section, expected: expected.to_string(), actual });
        }
    }
    Ok(Verdict { differences, reach: actual.reach })
}

/// Runs a case that stands in a file in `folder` and makes what happens what it expects. Whether
/// that changed the case.
///
/// # Errors
/// When the case is not in order.
pub fn update(case: &mut Case, folder: &Path, given: &LoadOptions<'_>) -> Result<bool, CaseError> {
    let mut actual = actual(case, folder, given, None)?;
    let mut changed = false;
    for (name, actual) in actual.sections() {
        let expected = case.section(name);
        // A case without input says by an empty section that there are no diagnostics.
        let stays = name == DIAGNOSTICS && case.section(INPUT).is_none();
        if expected.is_none() && (stays || !actual.is_empty())
            || expected.is_some_and(|expected| differs(expected, &actual))
        {
            changed = true;
            case.set_section(name, actual, stays);
        }
    }
    Ok(changed)
}

/// `counted`: the file with the case, when it is to be noted what the case reaches.
fn actual(
    case: &Case,
    folder: &Path,
    given: &LoadOptions<'_>,
    counted: Option<&Path>,
) -> Result<Actual, CaseError> {
    check_sections(case)?;
    if let Some(kind) = case.kind.strip_prefix(PARSE) {
        return Ok(Actual { diagnostics: parse(kind, case)?, ..Actual::default() });
    }
    let loaded = load(case, folder, given, counted.is_some())?;
    let sources = &loaded.sources;
    let diagnostics = loaded.diagnostics.iter().map(|one| line(one, sources)).collect();
    let mut actual = Actual { diagnostics, ..Actual::default() };
    if let (Some(input), false) = (case.section(INPUT), loaded.has_errors()) {
        play(case, input, loaded, counted, &mut actual)?;
    }
    Ok(actual)
}

fn check_sections(case: &Case) -> Result<(), CaseError> {
    let known = [DIAGNOSTICS, INPUT, OUTPUT, STRINGS, META];
    let is_known = |name: &str| {
        known.contains(&name) || [MODULE, CLOCK, ARGS].iter().any(|start| name.starts_with(start))
    };
    if let Some(section) = case.sections.iter().find(|section| !is_known(&section.name)) {
        return Err(format!(
            "unknown section `--- {}`; expected in, out, module FILE, clock STEP, args RECORD, codec string, \
             meta, or no name for the diagnostics",
            section.name
        ));
    }
    let asserts = case.section(DIAGNOSTICS).or(case.section(INPUT));
    asserts.map(drop).ok_or_else(|| {
        "the case expects nothing: give it a section `---`, or `--- in` and `--- out`".to_string()
    })
}

fn unknown_kind(kind: &str) -> CaseError {
    format!(
        "`{kind}` is no kind of case; expected script, query, deploy, program, chain, logstash or file"
    )
}

fn parse(kind: &str, case: &Case) -> Result<String, CaseError> {
    let mut sources = Sources::default();
    let source = sources.add(PROGRAM, program(case));
    let found = match kind {
        "script" => syntax::parse_script(&sources, source).diagnostics,
        "module" => syntax::parse_module(&sources, source).diagnostics,
        "query" => syntax::parse_query(&sources, source).diagnostics,
        "deploy" => syntax::parse_deploy(&sources, source).diagnostics,
        "program" => syntax::parse_program(&sources, source).diagnostics,
        other => return Err(unknown_kind(other)),
    };
    Ok(found.iter().map(|one| line(one, &sources)).collect())
}

/// The text of the program, without the end of its last line.
fn program(case: &Case) -> &str {
    case.program.strip_suffix('\n').unwrap_or(&case.program)
}

/// `line:column`, with the file when it is not the program.
fn place(span: Span, sources: &Sources) -> String {
    let at = sources.position(span);
    match sources.get(span.source) {
        Some(source) if source.name != PROGRAM => {
            format!("{}:{}:{}", source.name, at.line, at.column)
        }
        _ => format!("{}:{}", at.line, at.column),
    }
}

/// A diagnostic in one line: `place code message (label)`, and its help in a second.
fn line(one: &Diagnostic, sources: &Sources) -> String {
    let label = if one.label.is_empty() { String::new() } else { format!(" ({})", one.label) };
    let help = one.help.as_ref().map_or(String::new(), |help| format!("\n    help: {help}"));
    format!("{} {} {}{label}{help}\n", place(one.span, sources), one.code, one.message)
}

fn load(
    case: &Case,
    folder: &Path,
    given: &LoadOptions<'_>,
    counted: bool,
) -> Result<Loaded, CaseError> {
    let language = match case.kind.as_str() {
        FILE => {
            let file = folder.join(case.program.trim());
            return LoadOptions { coverage: counted, ..given.clone() }.file(&file);
        }
        "script" => Language::Script,
        "query" => Language::Query,
        "deploy" => Language::Deploy,
        "program" | "chain" => Language::Temblor,
        other => match other.split_once(' ').unwrap_or((other, "")) {
            (LOGSTASH, settings) => return logstash(case, settings),
            _ => return Err(unknown_kind(other)),
        },
    };
    let option = case.sections.iter().find_map(|section| section.name.strip_prefix(ARGS));
    let args = option.map(record).transpose()?;
    let args = args.as_ref().or(given.args);
    let options = LoadOptions { coverage: counted, args, ..given.clone() };
    Ok(options.compile(PROGRAM, program(case).to_string(), language, &Modules(case)))
}

/// The record in `--- args {"name": …}`.
fn record(text: &str) -> Result<Frozen, CaseError> {
    let arena = Arena::new();
    let value = json::parse(text, &arena).map_err(|error| format!("--- args: {error}"))?;
    Ok(Frozen::new(value))
}

/// The filters of a Logstash configuration. Behind the kind stand words for its settings: names of
/// fields (`disabled`, `v1`), whether texts have `escapes`, and whether odd things are not explained
/// (`strict`).
fn logstash(case: &Case, settings: &str) -> Result<Loaded, CaseError> {
    let mut wishes = Wishes { stdin: true, stdout: true, ..Wishes::default() };
    wishes.settings.explains = true;
    for word in settings.split_whitespace() {
        match (word, Ecs::named(word)) {
            (_, Some(ecs)) => wishes.settings.ecs = ecs,
            ("escapes", _) => wishes.settings.escapes = true,
            ("strict", _) => wishes.settings.explains = false,
            _ => {
                return Err(format!(
                    "`{word}` is no setting: write disabled, v1, v8, escapes or strict"
                ));
            }
        }
    }
    Ok(configuration::of_text(PROGRAM, program(case).to_string(), &wishes).loaded)
}

/// The modules that a case brings with it, in sections `--- module a/b.tremor`.
#[derive(Debug)]
struct Modules<'c>(&'c Case);

impl Loader for Modules<'_> {
    fn load(&self, path: &[&str]) -> Option<(String, String)> {
        let wanted = path.join("/");
        self.0.sections.iter().find_map(|section| {
            let file = section.name.strip_prefix(MODULE)?.trim();
            let found = Path::new(file).with_extension("") == Path::new(&wanted);
            found.then(|| (file.to_string(), section.text.trim_end_matches('\n').to_string()))
        })
    }
}

/// Sends the input and writes down what comes out.
fn play(
    case: &Case,
    input: &str,
    loaded: Loaded,
    counted: Option<&Path>,
    actual: &mut Actual,
) -> Result<(), CaseError> {
    let coverage = loaded.coverage.clone();
    let own = loaded.program.name.clone();
    let mut ports_used = BTreeSet::new();
    let strings = case.section(STRINGS).is_some();
    let mut stage = Stage {
        codec: if strings { InputCodec::String } else { InputCodec::Json },
        step_ns: clock(case)?,
        next_ns: 0,
        rehearsal: Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Sorted)
            .with_tables(loaded.endpoints.tables.shared()),
    };
    let shows_meta = case.section(META).is_some();
    let mut note = |stage: &Stage, happenings: Vec<Happening>| {
        for happening in &happenings {
            if let Happening::Output { port, .. } = happening {
                ports_used.insert(port.clone());
            }
            actual.output.push_str(&said(happening, stage.rehearsal.sources(), shows_meta));
        }
    };
    for line in input.lines() {
        let happenings = stage.take(line)?;
        note(&stage, happenings);
    }
    let happenings = stage.rehearsal.flush();
    note(&stage, happenings);
    if let Some(file) = counted {
        let place = |name: &str, line, column| place_for_user(case, file, name, (line, column));
        actual.reach.add(&coverage, stage.rehearsal.sources(), place);
        if let Some(program) = place(&own, 1, 1) {
            for port in stage.rehearsal.graph().connected_outputs() {
                actual.reach.add_port(program.clone(), port, ports_used.contains(port));
            }
        }
    }
    Ok(())
}

/// Where a line of one of the texts of a case stands: in the case itself, or in a file that it names.
fn place_for_user(
    case: &Case,
    file: &Path,
    name: &str,
    (line, column): (usize, usize),
) -> Option<Location> {
    let inside = |head: usize| Location { file: file.to_path_buf(), line: head + line, column };
    if name == PROGRAM {
        return Some(inside(case.line));
    }
    let module = case
        .sections
        .iter()
        .find(|one| one.name.strip_prefix(MODULE).is_some_and(|module| module.trim() == name));
    module.map(|section| inside(section.line)).or_else(|| in_file(name, line, column))
}

/// The time between two events.
fn clock(case: &Case) -> Result<u64, CaseError> {
    let option = case.sections.iter().find_map(|section| section.name.strip_prefix(CLOCK));
    option.map_or(Ok(1), |step| {
        parse_duration(step).ok_or_else(|| format!("`{step}` is no time: write it like 1s"))
    })
}

/// A program that is played, and its clock.
struct Stage {
    rehearsal: Rehearsal,
    codec: InputCodec,
    /// Time between two events.
    step_ns: u64,
    /// Time of the next event.
    next_ns: u64,
}

impl Stage {
    /// A line of the input: `@ 10s` puts the clock, `@ +10s` moves it, `/port event` sends an event
    /// to a port, and any other line is an event for `in`.
    fn take(&mut self, line: &str) -> Result<Vec<Happening>, CaseError> {
        if let Some(time) = line.strip_prefix("@ ") {
            let (start_ns, duration) = match time.trim().strip_prefix('+') {
                Some(duration) => (self.rehearsal.now_ns(), duration),
                None => (0, time),
            };
            let step_ns = parse_duration(duration)
                .ok_or_else(|| format!("`{line}` is no clock step: write `@ 10s` or `@ +10s`"))?;
            self.next_ns = start_ns.saturating_add(step_ns);
            return Ok(self.rehearsal.set_clock(self.next_ns));
        }
        let (port, event) = match line.strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
            Some((port, event)) if self.codec == InputCodec::Json => (port, event),
            _ => (IN, line),
        };
        let now_ns = self.next_ns.max(self.rehearsal.now_ns());
        let mut happenings = self.rehearsal.set_clock(now_ns);
        self.next_ns = now_ns.saturating_add(self.step_ns);
        let caused = self.rehearsal.send(port, self.codec, event.as_bytes());
        happenings.extend(caused.ok_or_else(|| format!("the program has no input port `{port}`"))?);
        Ok(happenings)
    }
}

/// What happened, in lines.
fn said(happening: &Happening, sources: &Sources, shows_meta: bool) -> String {
    match happening {
        Happening::Output { port, data, meta } => {
            let port = if port == OUT { String::new() } else { format!("{port}: ") };
            let meta = if shows_meta { format!(" $ {meta}") } else { String::new() };
            format!("{port}{data}{meta}\n")
        }
        Happening::Failed { error, .. } => {
            let at =
                error.span().map_or(String::new(), |span| format!(" at {}", place(span, sources)));
            let help = error.help().map_or(String::new(), |help| format!(" (help: {help})"));
            format!("error: {} {}{at}{help}\n", error.code(), error.message())
        }
        Happening::Undecodable(reason) => format!("(undecodable: {reason})\n"),
        Happening::Dropped { events, .. } => (0..*events).map(|_| "(dropped)\n").collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::CaseFile;
    use super::*;

    fn case(text: &str) -> Case {
        CaseFile::read(text).cases.remove(0)
    }

    #[test]
    fn output_is_compared_as_json() {
        let text = "=== script: s\n{\"b\": event.a, \"a\": 1}\n--- in\n{\"a\": 2}\n--- out\n\
                    { \"a\": 1, \"b\": 2 }\n";
        assert!(
            run(
                &case(text),
                Path::new("c.txt"),
                &LoadOptions::new(temblor_catalog::registry()),
                false
            )
            .expect("the case is good")
            .differences
            .is_empty()
        );
        let wrong = text.replace("\"b\": 2", "\"b\": 3");
        let verdict = run(
            &case(&wrong),
            Path::new("c.txt"),
            &LoadOptions::new(temblor_catalog::registry()),
            false,
        )
        .expect("the case is good");
        assert_eq!(verdict.differences[0].actual, "{\"a\":1,\"b\":2}\n");
    }

    #[test]
    fn the_clock_moves_as_it_is_told() {
        let text = "=== query: w\ndefine window w from tumbling with interval = 1000000000 end;\n\
                    select aggr::stats::count() from in[w] into out\n--- in\n1\n@ +2s\n2\n@ 9s\n3\n";
        let mut case = case(text);
        assert!(
            update(&mut case, Path::new("."), &LoadOptions::new(temblor_catalog::registry()))
                .expect("the case is good")
        );
        let output = case.section(OUTPUT).expect("it was added");
        assert_eq!(output.lines().filter(|line| *line == "1").count(), 2, "{output}");
        assert!(
            !update(&mut case, Path::new("."), &LoadOptions::new(temblor_catalog::registry()))
                .expect("the case is good")
        );
    }

    #[test]
    fn modules_come_with_the_case() {
        let text = "=== script: m\nuse a::b;\nb::F\n--- module a/b.tremor\nconst F = 7;\n--- in\n1\n\
                    --- out\n7\n";
        assert!(
            run(
                &case(text),
                Path::new("c.txt"),
                &LoadOptions::new(temblor_catalog::registry()),
                false
            )
            .expect("the case is good")
            .differences
            .is_empty()
        );
    }

    #[test]
    fn cases_that_are_not_in_order_say_why() {
        for (text, word) in [
            ("=== script: x\n1\n", "expects nothing"),
            ("=== poem: x\n1\n---\n", "no kind"),
            ("=== script: x\n1\n--- outptu\n", "unknown section"),
            ("=== script: x\n1\n--- in\n/y 1\n", "no input port"),
            ("=== script: x\n1\n--- in\n@ soon\n", "clock"),
        ] {
            let error = run(
                &case(text),
                Path::new("c.txt"),
                &LoadOptions::new(temblor_catalog::registry()),
                false,
            )
            .expect_err(text);
            assert!(error.contains(word), "{error}");
        }
    }
}
