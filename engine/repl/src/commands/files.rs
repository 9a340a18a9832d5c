//! Commands about files: loading, saving, editing elsewhere, watching.

use super::super::program::{Notation, Program, configuration_at, is_configuration};
use super::super::samples::Kind;
use super::Session;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use temblor_casebook::file::CaseFile;
use temblor_catalog::registry;
use temblor_lang::value::{Value, to_json};
use temblor_logstash::configuration::Wishes;
use temblor_logstash::settings::Ecs;
use temblor_pipeline::load::{Language, LoadOptions, read_program};

/// Samples that a saved test holds, at the most.
const TEST_SAMPLES_MAX: usize = 100;
/// Where tests go that are saved without a file.
const TESTS: &str = "tests.txt";
/// In front of the further lines of an entry in a saved session.
pub(crate) const CONTINUES: &str = "| ";
/// The editor where none is chosen.
const EDITOR: &str = "vi";

/// A file that is looked at, and how it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// The file.
    pub file: PathBuf,
    /// Time of the last change and size; `None` while it is not there.
    pub stamp: Option<(SystemTime, u64)>,
}

impl Watched {
    /// The file as it is now.
    #[must_use]
    pub(crate) fn now(file: &Path) -> Self {
        let stamp =
            std::fs::metadata(file).ok().and_then(|one| Some((one.modified().ok()?, one.len())));
        Self { file: file.to_path_buf(), stamp }
    }
}

/// Samples or a program, by the ending of the name.
pub(super) fn load(session: &mut Session, text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err(
            "error: write the file behind the command, such as `:load a.ndjson`".to_string()
        );
    }
    let file = Path::new(text);
    if Language::of(file).is_some() || is_configuration(file) {
        return session.enter_file(text);
    }
    session.load(file)?;
    let note = match session.samples.kind() {
        Some(Kind::DeadLetters) => "dead letters: the samples are the events that failed\n",
        _ => "",
    };
    Ok(note.to_string() + &super::samples::show(session, "")?)
}

/// The program in a file; `wishes` hold for configurations of Logstash.
pub(crate) fn program_of(name: &str, wishes: &Wishes) -> Result<Program, String> {
    let file = Path::new(name);
    if is_configuration(file) {
        return configuration_at(file, wishes);
    }
    let (language, text) = read_program(file).map_err(|error| format!("error: {error}"))?;
    let file = Some(file.to_path_buf());
    let notation = Notation::Of(language);
    Ok(Program { name: name.to_string(), prelude: String::new(), text, notation, file })
}

fn told(file: &str, error: &std::io::Error) -> String {
    format!("error: {file}: {error}")
}

/// Runs a program again whenever its file is saved.
pub(crate) fn watch(session: &mut Session, text: &str) -> Result<String, String> {
    if matches!(text, "" | "off") {
        session.watched = None;
        return Ok("nothing is watched\n".to_string());
    }
    let now = Watched::now(Path::new(text));
    if now.stamp.is_none() {
        return Err(format!("error: {text}: there is no such file"));
    }
    session.watched = Some(now);
    let first = load(session, text).unwrap_or_else(|reason| reason);
    Ok(format!("watching {text}; `:watch off` ends\n{first}"))
}

impl Session {
    /// Loads the file that is watched again, if it has changed; the answer is that of `:load`.
    pub fn look_at_watched(&mut self) -> Option<String> {
        let watched = self.watched.as_ref()?;
        let now = Watched::now(&watched.file);
        if now.stamp.is_none() || now == *watched {
            return None;
        }
        let name = now.file.display().to_string();
        self.watched = Some(now);
        let shown = load(self, &name).unwrap_or_else(|reason| reason);
        Some(format!("{name} was saved\n{shown}"))
    }
}

/// Opens the editor of the user on a file, or on what is on the bench.
pub(crate) fn edit(session: &mut Session, text: &str) -> Result<String, String> {
    if !text.is_empty() {
        open_editor(Path::new(text))?;
        return load(session, text);
    }
    let configuration =
        session.pipeline.as_ref().and_then(|pipeline| match pipeline.program.notation {
            Notation::Logstash(_) => pipeline.program.file.clone(),
            Notation::Of(_) => None,
        });
    if let Some(file) = configuration {
        open_editor(&file)?;
        return load(session, &file.display().to_string());
    }
    let before = match &session.pipeline {
        Some(pipeline) => pipeline.program.text.clone(),
        None => session.kept.iter().map(|kept| format!("{};\n", kept.text)).collect(),
    };
    let name = format!("temblor-{}.tmb", std::process::id());
    let file = std::env::temp_dir().join(name);
    let written = std::fs::write(&file, &before);
    written.map_err(|error| told(&file.display().to_string(), &error))?;
    let opened = open_editor(&file);
    let after = std::fs::read_to_string(&file);
    let _ = std::fs::remove_file(&file);
    opened?;
    let after = after.map_err(|error| told(&file.display().to_string(), &error))?;
    if after == before {
        return Ok("nothing was changed\n".to_string());
    }
    let kept = std::mem::take(&mut session.kept);
    let entry = after.trim();
    let answer = if entry.is_empty() { Ok(String::new()) } else { session.program(entry) };
    if answer.is_err() || session.pipeline.is_some() {
        // A pipeline was edited, or what was written cannot be read: entries stay as they were.
        session.kept = kept;
    }
    answer
}

fn open_editor(file: &Path) -> Result<(), String> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"));
    let editor = editor.unwrap_or_else(|| EDITOR.to_string());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(EDITOR);
    let status = Command::new(program).args(words).arg(file).status();
    let wrong = "set EDITOR to your editor";
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("error: `{editor}` ended with {status}")),
        Err(error) => Err(format!("error: `{editor}` cannot be started: {error}; {wrong}")),
    }
}

/// `:save test NAME [FILE]`, `:save session FILE`
pub(crate) fn save(session: &mut Session, text: &str) -> Result<String, String> {
    if let Some(file) = text.strip_prefix("session ") {
        let lines: String = session.log.iter().map(|entry| written(entry)).collect();
        std::fs::write(file, lines).map_err(|error| told(file, &error))?;
        return Ok(format!("wrote {file}\n"));
    }
    let wrong = "error: write `:save test NAME [FILE]` or `:save session FILE`";
    let arguments = text.strip_prefix("test").map(str::trim).filter(|rest| !rest.is_empty());
    let arguments = arguments.ok_or(wrong)?;
    let (name, file) = match arguments.rsplit_once(' ') {
        Some((name, file)) if file.ends_with(".txt") => (name.trim(), file),
        _ => (arguments, TESTS),
    };
    let mut case = test_case(session, name)?;
    let folder = Path::new(file).parent().unwrap_or(Path::new("."));
    temblor_casebook::run::update(&mut case, folder, &LoadOptions::new(registry()))
        .map_err(|error| format!("error: {error}"))?;
    let before = std::fs::read_to_string(file).unwrap_or_default();
    let mut cases = CaseFile::read(&before);
    cases.cases.retain(|other| other.head != case.head);
    cases.cases.push(case);
    std::fs::write(file, cases.write()).map_err(|error| told(file, &error))?;
    Ok(format!("wrote {file}\n"))
}

/// An entry as it stands in a saved session.
fn written(entry: &str) -> String {
    format!("{}\n", entry.replace('\n', &format!("\n{CONTINUES}")))
}

/// What is on the bench as a case: a pipeline with all samples, or else the assignments with the
/// current one.
fn test_case(session: &mut Session, name: &str) -> Result<temblor_casebook::file::Case, String> {
    let program = session.present()?;
    let kind = kind_of(&program)?;
    let samples = match &session.pipeline {
        Some(_) => session.first_samples(TEST_SAMPLES_MAX)?,
        None => vec![session.samples.current()?],
    };
    let whole = |sample: &super::super::samples::Sample| sample.line.is_some();
    let samples: Vec<_> = samples.into_iter().filter(whole).collect();
    if samples.is_empty() {
        return Err("error: there is no sample: :load FILE, or :sample JSON".to_string());
    }
    let all_text = samples.iter().all(|sample| !sample.is_json);
    let mut text = format!("=== {kind}: {name}\n{}{}\n", program.prelude, program.text.trim_end());
    if all_text {
        text.push_str("--- codec string\n");
    }
    text.push_str("--- in\n");
    for sample in samples {
        let line = sample.line.unwrap_or_default();
        let json = || to_json(Value::Str(&line));
        let line = if sample.is_json || all_text { line.clone() } else { json() };
        text.push_str(&format!("{line}\n"));
    }
    let mut file = CaseFile::read(&text);
    if file.cases.is_empty() {
        return Err("error: that cannot be written as a test".to_string());
    }
    Ok(file.cases.remove(0))
}

/// What a case of a program is called.
fn kind_of(program: &Program) -> Result<String, String> {
    let wishes = match &program.notation {
        Notation::Of(Language::Script) => return Ok("script".to_string()),
        Notation::Of(Language::Temblor) => return Ok("program".to_string()),
        Notation::Of(Language::Query) => return Ok("query".to_string()),
        Notation::Of(Language::Deploy) => return Ok("deploy".to_string()),
        Notation::Logstash(wishes) => wishes,
    };
    if program.text.is_empty() {
        return Err("error: only a configuration in one file can be saved as a test".to_string());
    }
    let ecs = match wishes.settings.ecs {
        Ecs::Disabled => " disabled",
        Ecs::V1 => " v1",
        Ecs::V8 => "",
    };
    let escapes = if wishes.settings.escapes { " escapes" } else { "" };
    Ok(format!("logstash{ecs}{escapes}"))
}

/// Enters the lines of a file.
pub(crate) fn source(session: &mut Session, file: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| told(file, &error))?;
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(":source")) {
        match (line.strip_prefix(CONTINUES), entries.last_mut()) {
            (Some(more), Some(entry)) => entry.push_str(&format!("\n{more}")),
            _ => entries.push(line.to_string()),
        }
    }
    let mut shown = String::new();
    for entry in entries {
        let reply = session.enter(&entry);
        if reply.failed {
            return Err(format!("{shown}{}", reply.text));
        }
        shown.push_str(&reply.text);
    }
    Ok(shown)
}
