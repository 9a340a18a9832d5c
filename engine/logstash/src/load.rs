//! From files to pipelines: a file, or all files of a folder in alphabetical order, read as one
//! configuration, or the pipelines that a `pipelines.yml` names. What is wrong in one file does not hide
//! what is wrong in the next.

use super::program::{Program, ProgramBuilder};
use super::settings::{Ecs, Settings};
use super::syntax::tree::{Config, Plugin, Section, SectionKind, Statement};
use super::syntax::{Parsed, parse};
use super::yaml::{self, Node};
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::span::Sources;

/// Files larger than this are refused.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A configuration that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All texts.
    pub sources: Sources,
    /// One tree for each file, in their order.
    pub files: Vec<Config>,
    /// All that is wrong, so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads one text.
    pub fn add(&mut self, name: &str, text: String) {
        let source = self.sources.add(name, text);
        let text = self.sources.get(source).map_or("", |source| source.text.as_str());
        let Parsed { config, diagnostics } = parse(text, source);
        self.files.push(config);
        self.diagnostics.extend(diagnostics);
    }

    /// Reads a file, or a folder. The error is a sentence about the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let mut loaded = Self::default();
        for file in files(path)? {
            let name = file.display().to_string();
            loaded.add(&name, read(&file)?);
        }
        Ok(loaded)
    }

    /// The sections of one kind, in the order of the text.
    pub fn sections(&self, kind: SectionKind) -> impl Iterator<Item = &Section> {
        let sections = self.files.iter().flat_map(|file| &file.sections);
        sections.filter(move |section| section.kind == kind)
    }

    /// The program of all filter sections. Adds to the diagnostics.
    pub fn program(&mut self, settings: &Settings) -> Program {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let mut builder = ProgramBuilder::new(settings, &mut diagnostics);
        self.sections(SectionKind::Filter).for_each(|section| builder.section(&section.body));
        let program = builder.finish();
        self.diagnostics = diagnostics;
        program
    }

    /// Whether it cannot be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}

/// A pipeline of a configuration.
#[derive(Debug)]
pub struct Pipeline {
    /// `pipeline.id`
    pub id: String,
    /// One tree for each file, in their order.
    pub files: Vec<Config>,
    /// What holds for it.
    pub settings: Settings,
}

impl Pipeline {
    /// The sections of one kind, in the order of the text.
    pub fn sections(&self, kind: SectionKind) -> impl Iterator<Item = &Section> {
        let sections = self.files.iter().flat_map(|file| &file.sections);
        sections.filter(move |section| section.kind == kind)
    }

    /// The plugins of a kind of section, also those in branches, in the order of the text.
    #[must_use]
    pub fn plugins(&self, kind: SectionKind) -> Vec<&Plugin> {
        let mut found = Vec::new();
        self.sections(kind)
            .for_each(|section| gather(&section.body, &mut |plugin| found.push(plugin)));
        found
    }

    /// The program of all filter sections.
    #[must_use]
    pub fn program(&self, settings: &Settings, diagnostics: &mut Vec<Diagnostic>) -> Program {
        let mut builder = ProgramBuilder::new(settings, diagnostics);
        self.sections(SectionKind::Filter).for_each(|section| builder.section(&section.body));
        builder.finish()
    }
}

/// Shows `see` all plugins of statements, also those in branches.
pub fn gather<'t>(body: &'t [Statement], see: &mut dyn FnMut(&'t Plugin)) {
    for statement in body {
        match statement {
            Statement::Plugin(plugin) => see(plugin),
            Statement::Branch(branch) => {
                branch.arms.iter().for_each(|(_, body)| gather(body, see));
                branch.otherwise.iter().for_each(|body| gather(body, see));
            }
        }
    }
}

/// Pipelines that were read.
#[derive(Debug, Default)]
pub struct Pipelines {
    /// In the order of the file.
    pub pipelines: Vec<Pipeline>,
    /// All texts.
    pub sources: Sources,
    /// All that is wrong, so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl Pipelines {
    /// Whether it cannot be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    fn add(&mut self, name: &str, text: String) -> Config {
        let source = self.sources.add(name, text);
        let text = self.sources.get(source).map_or("", |source| source.text.as_str());
        let Parsed { config, diagnostics } = parse(text, source);
        self.diagnostics.extend(diagnostics);
        config
    }
}

/// The one pipeline of a file or folder.
const MAIN: &str = "main";
/// The file that names pipelines.
const PIPELINES: &str = "pipelines.yml";

/// Reads a file, a folder, or the pipelines that a YAML file names. The error is a sentence.
pub fn pipelines(path: &Path, settings: &Settings) -> Result<Pipelines, String> {
    let inside = path.join(PIPELINES);
    let is_yaml = |path: &Path| path.extension().is_some_and(|end| end == "yml" || end == "yaml");
    if is_yaml(path) && path.is_file() {
        return named(path, settings);
    }
    if inside.is_file() {
        return named(&inside, settings);
    }
    let mut read_so_far = Pipelines::default();
    let mut trees = Vec::new();
    for file in files(path)? {
        trees.push(read_so_far.add(&file.display().to_string(), read(&file)?));
    }
    let pipeline = Pipeline { id: MAIN.to_string(), files: trees, settings: settings.clone() };
    read_so_far.pipelines.push(pipeline);
    Ok(read_so_far)
}

/// The pipeline of one text.
#[must_use]
pub fn of_text(name: &str, text: String, settings: &Settings) -> Pipelines {
    let mut all = Pipelines::default();
    let files = vec![all.add(name, text)];
    all.pipelines.push(Pipeline { id: MAIN.to_string(), files, settings: settings.clone() });
    all
}

/// The pipelines of a `pipelines.yml`; settings of a `logstash.yml` beside it hold for all of them.
fn named(path: &Path, settings: &Settings) -> Result<Pipelines, String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.display();
    let bad = |line: usize| format!("{name}:{line}: is no `key: value` or list that is understood");
    let mut settings = settings.clone();
    let beside = folder.join("logstash.yml");
    if beside.is_file()
        && let Ok(Node::Map(entries)) = yaml::read(&read(&beside)?)
    {
        entries.iter().for_each(|(key, value)| adjust(&mut settings, key, value));
    }
    let Node::List(items) = yaml::read(&read(path)?).map_err(bad)? else {
        return Err(format!("{name}: must be a list of pipelines, each with a `pipeline.id`"));
    };
    let mut all = Pipelines::default();
    for (number, item) in items.iter().enumerate() {
        let Node::Map(entries) = item else {
            return Err(format!("{name}: pipeline {} is no map of settings", number + 1));
        };
        let pipeline = one(entries, folder, &settings, &mut all, number)
            .map_err(|reason| format!("{name}: {reason}"))?;
        all.pipelines.push(pipeline);
    }
    Ok(all)
}

/// Adjusts settings by a `logstash.yml`: the file, or the folder that holds it. The error is a sentence.
pub fn adjust_by(settings: &mut Settings, path: &Path) -> Result<(), String> {
    let file = if path.is_dir() { path.join("logstash.yml") } else { path.to_path_buf() };
    let name = file.display();
    match yaml::read(&read(&file)?) {
        Ok(Node::Map(entries)) => {
            entries.iter().for_each(|(key, value)| adjust(settings, key, value));
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(line) => Err(format!("{name}:{line}: is no `key: value` that is understood")),
    }
}

fn adjust(settings: &mut Settings, key: &str, value: &Node) {
    if let Node::Map(entries) = value {
        // `queue: {type: …}` says the same as `queue.type: …`.
        for (below, value) in entries {
            adjust(settings, &format!("{key}.{below}"), value);
        }
    }
    let Node::Text(text) = value else { return };
    let text = settings.substitute(text).unwrap_or_else(|_| text.clone());
    match key {
        "pipeline.ecs_compatibility" => {
            settings.ecs = Ecs::named(&text).unwrap_or(settings.ecs);
        }
        "config.support_escapes" => settings.escapes = text == "true",
        _ => settings.keeping.adjust(key, &text),
    }
}

fn one(
    entries: &[(String, Node)],
    folder: &Path,
    settings: &Settings,
    all: &mut Pipelines,
    number: usize,
) -> Result<Pipeline, String> {
    let mut settings = settings.clone();
    entries.iter().for_each(|(key, value)| adjust(&mut settings, key, value));
    let get = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let id = match get("pipeline.id") {
        Some(Node::Text(id)) => id.clone(),
        _ => format!("pipeline {}", number + 1),
    };
    if all.pipelines.iter().any(|one| one.id == id) {
        return Err(format!("the pipeline `{id}` is there twice"));
    }
    let filled = |text: &String| {
        let unset = |name| format!("pipeline `{id}`: the variable `{name}` is not set");
        settings.substitute(text).map_err(unset)
    };
    let mut trees = Vec::new();
    match (get("config.string"), get("path.config")) {
        (Some(Node::Text(text)), _) => {
            trees.push(all.add(&format!("{id} (config.string)"), filled(text)?));
        }
        (_, Some(Node::Text(pattern))) => {
            for file in matching(&filled(pattern)?, folder)? {
                trees.push(all.add(&file.display().to_string(), read(&file)?));
            }
        }
        (_, Some(Node::List(patterns))) => {
            for pattern in patterns {
                let Node::Text(pattern) = pattern else { continue };
                for file in matching(&filled(pattern)?, folder)? {
                    trees.push(all.add(&file.display().to_string(), read(&file)?));
                }
            }
        }
        _ => return Err(format!("pipeline `{id}` has no `path.config` and no `config.string`")),
    }
    Ok(Pipeline { id, files: trees, settings })
}

/// The files of `path.config`: a file, a folder or a pattern, also as seen from the folder of the
/// `pipelines.yml`.
fn matching(pattern: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let places = [PathBuf::from(pattern), folder.join(pattern)];
    for place in &places {
        if place.exists() {
            return files(place);
        }
        let found = glob::glob(&place.to_string_lossy()).map_err(|error| error.to_string())?;
        let mut found: Vec<_> = found.flatten().filter(|path| path.is_file()).collect();
        if !found.is_empty() {
            found.sort();
            return Ok(found);
        }
    }
    Err(format!("no file is `{pattern}`"))
}

/// Endings of files that lie beside configurations and are none.
const FOREIGN: &[&str] = &[
    "md", "txt", "json", "yml", "yaml", "csv", "rb", "py", "sh", "png", "log", "gz", "zip", "html",
    "bak", "orig", "swp", "disabled", "example", "rst", "xml", "pattern", "patterns",
];

/// The files of a path, in alphabetical order.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if file.is_file() && !hidden && !file.to_string_lossy().ends_with('~') {
            files.push(file);
        }
    }
    // Where some files are named as configurations, others that are named as something else are none.
    let ending = |file: &PathBuf| file.extension().map(|end| end.to_string_lossy().to_lowercase());
    if files.iter().any(|file| ending(file).is_some_and(|end| end == "conf")) {
        files.retain(|file| !ending(file).is_some_and(|end| FOREIGN.contains(&&*end)));
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: there is no file in this folder", path.display()));
    }
    Ok(files)
}

/// The text of a file. The error is a sentence about it.
pub fn read(file: &Path) -> Result<String, String> {
    let name = file.display();
    let size = std::fs::metadata(file).map_err(|error| format!("{name}: {error}"))?.len();
    if size > FILE_BYTES_MAX {
        return Err(format!("{name}: larger than {FILE_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("{name}: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("{name}: not UTF-8: byte {} is invalid", error.utf8_error().valid_up_to())
    })
}
