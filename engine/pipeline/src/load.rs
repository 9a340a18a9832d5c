//! From a program's text to what can be run: the ending of the file says what it is. Running a
//! program and every tool for programs load it here.

mod modules;
mod parameters;
mod text;
mod through;
mod partition;

pub use modules::Directories;
pub use partition::expanded as partitioned;
pub use text::Text;

use crate::endpoint::Endpoints;
use crate::flow;
use crate::graph::{Builder, Graph, Notation};
use crate::lookup::NamedTables;
use crate::operators::script::ScriptNode;
use crate::registry::Registry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::{Colour, Diagnostic, Severity, render_all};
use temblor_lang::lower::{Compiler, Loader, Risk, Rules, Scope};
use temblor_lang::span::{Source, Sources};
use temblor_lang::syntax::tree::{DefineKind, Item};
use temblor_lang::syntax::{self, Parsed};
use temblor_lang::value::Frozen;
use temblor_runtime::console::is_terminal;

/// Program texts larger than this are refused.
const PROGRAM_BYTES_MAX: u64 = 16 << 20;

/// A program that was compiled, perhaps with errors.
#[derive(Debug)]
pub struct Loaded {
    /// What it is written in.
    pub language: Language,
    /// The operators.
    pub graph: Graph,
    /// Sources and sinks that the file itself names.
    pub endpoints: Endpoints,
    /// The text of the program itself.
    pub program: Source,
    /// All texts.
    pub sources: Sources,
    /// All errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The branches of the program; empty unless [`LoadOptions::coverage`] asked for them.
    pub coverage: Coverage,
    /// What can fail for some event; empty unless [`LoadOptions::risks`] or the program asked for it.
    pub risks: Vec<Risk>,
}

impl Loaded {
    /// Whether it cannot be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// The diagnostics as text, for standard error. Warnings wait until there is no error: most
    /// would be about what the errors left out. Those about configurations stand for themselves.
    #[must_use]
    pub fn report(&self, warnings: bool) -> String {
        let has_errors = self.has_errors();
        let is_shown = |one: &&Diagnostic| match one.severity {
            Severity::Error => true,
            Severity::Warning => warnings && (!has_errors || one.code.starts_with("W07")),
        };
        let shown: Vec<_> = self.diagnostics.iter().filter(is_shown).cloned().collect();
        render_all(&shown, &self.sources, colour())
    }
}

/// How a program is loaded, and what is given to it from outside.
#[derive(Clone, Debug)]
pub struct LoadOptions<'g> {
    /// The operators and connectors that programs may name.
    pub registry: &'static Registry,
    /// Directories in which modules are searched first.
    pub path: &'g [PathBuf],
    /// A record of arguments: those of a program, or such that override the arguments of flows.
    pub args: Option<&'g Frozen>,
    /// Arguments of a program by name, as they are written on the command line; they come first.
    pub set: &'g [(String, String)],
    /// The lookup tables of the command line, besides those that the program declares. `None`: it is
    /// not known which there will be, so that a name that is not declared is no mistake.
    pub tables: Option<NamedTables>,
    /// Whether the program counts which of its branches are taken: see [`Loaded::coverage`].
    pub coverage: bool,
    /// Whether the places of the program are told that can fail: see [`Loaded::risks`].
    pub risks: bool,
    /// Whether what fails leaves by the port `err` of a Temblor file even when the file names no sink for it.
    pub errors_leave: bool,
    /// The folding of constants ends when this says so.
    pub budget: Option<Arc<Budget>>,
}

impl<'g> LoadOptions<'g> {
    /// Nothing given.
    #[must_use]
    pub fn new(registry: &'static Registry) -> Self {
        Self {
            registry,
            path: &[],
            args: None,
            set: &[],
            tables: None,
            coverage: false,
            risks: false,
            errors_leave: false,
            budget: None,
        }
    }

    /// The same, with directories in which modules are searched first.
    #[must_use]
    pub fn with_path(self, path: &'g [PathBuf]) -> Self {
        Self { path, ..self }
    }

    /// Loads the text of `-e`.
    #[must_use]
    pub fn text(&self, text: &str) -> Loaded {
        let directories = Directories::new(self.path, None);
        self.compile("<command line>", text.to_string(), Language::Temblor, &directories)
    }

    /// Loads a program file.
    ///
    /// # Errors
    /// A sentence about the file itself, when it cannot be read.
    pub fn file(&self, file: &Path) -> Result<Loaded, String> {
        let name = file.display().to_string();
        let (language, text) = read_program(file)?;
        Ok(self.compile(&name, text, language, &Directories::new(self.path, Some(file))))
    }

    /// Compiles a text; `loader` finds the modules that it uses.
    #[must_use]
    pub fn compile(
        &self,
        name: &str,
        text: String,
        language: Language,
        loader: &dyn Loader,
    ) -> Loaded {
        let mut compiler = self.compiler(loader);
        let program = Source { name: name.to_string(), text: text.clone() };
        let source = compiler.sources.add(name, text);
        let tree = Text::of_program(&compiler.sources, source, language);
        self.lower(compiler, (program, language), &tree)
    }

    /// Compiles a text only to see what is wrong with it. A script file that holds nothing but
    /// definitions, as modules do, is checked as a module: it cannot be run, but used.
    #[must_use]
    pub fn check(
        &self,
        name: &str,
        text: String,
        language: Language,
        loader: &dyn Loader,
    ) -> Loaded {
        let mut sources = Sources::default();
        let source = sources.add(name, text);
        let tree = Text::of_file(&sources, source, language);
        let text = sources.get(source).map_or_else(String::new, |source| source.text.clone());
        self.check_read(name, text, (language, &tree), loader)
    }

    /// As [`check`](Self::check), for a text that was read already, as the first of its sources.
    #[must_use]
    pub fn check_read(
        &self,
        name: &str,
        text: String,
        (language, tree): (Language, &Text),
        loader: &dyn Loader,
    ) -> Loaded {
        let mut compiler = self.compiler(loader);
        let program = Source { name: name.to_string(), text: text.clone() };
        compiler.sources.add(name, text);
        match tree {
            Text::Module(module) => check_module(compiler, program, module),
            tree => self.lower(compiler, (program, language), tree),
        }
    }

    /// As [`check`](Self::check), for a file.
    ///
    /// # Errors
    /// A sentence about the file itself, when it cannot be read.
    pub fn check_file(&self, file: &Path) -> Result<Loaded, String> {
        let (language, text) = read_program(file)?;
        let name = file.display().to_string();
        Ok(self.check(&name, text, language, &Directories::new(self.path, Some(file))))
    }

    fn compiler<'c>(&self, loader: &'c dyn Loader) -> Compiler<'c> {
        let mut compiler = Compiler::new(temblor_stdlib::registry(), loader);
        compiler.budget = self.budget.clone();
        compiler.coverage = self.coverage.then(Coverage::default);
        compiler
    }

    fn lower(
        &self,
        mut compiler: Compiler<'_>,
        (program, language): (Source, Language),
        tree: &Text,
    ) -> Loaded {
        let tables = self.tables.as_ref();
        let is_total = says_total(&program.text);
        compiler.risks = (self.risks || is_total).then(Vec::new);
        compiler.diagnostics.extend(tree.diagnostics().iter().cloned());
        // A program without declarations has the tables of the command line.
        let mut endpoints = Endpoints::lower(&[], tables, self.registry, &mut compiler);
        let graph = match tree {
            Text::Script(parsed) | Text::Module(parsed) => script(&mut compiler, &parsed.tree),
            Text::Query(parsed) => Builder::new(&mut compiler, self.registry, Notation::Long)
                .with_tables(endpoints.tables.clone())
                .query(&parsed.tree, None),
            Text::Program(parsed) => {
                compiler.environment = Some(|name| std::env::var(name).ok());
                compiler.program_args = parameters::arguments(&parsed.tree, self, &mut compiler);
                let tree = partition::expanded(&parsed.tree);
                let tree = through::expanded(&tree);
                let declared = parameters::endpoints(&tree, &mut compiler);
                endpoints = Endpoints::lower(&declared, tables, self.registry, &mut compiler);
                Builder::new(&mut compiler, self.registry, Notation::Short)
                    .with_tables(endpoints.tables.clone())
                    .program(&tree, self.errors_leave)
            }
            Text::Deploy(parsed) => {
                let tables = self.tables.clone().unwrap_or_default();
                let builder = Builder::new(&mut compiler, self.registry, Notation::Long)
                    .with_tables(tables.clone());
                let merged = (!self.set.is_empty()).then(|| parameters::of_flows(self));
                let flows = builder.deploy(&parsed.tree, merged.as_ref().or(self.args));
                let graph;
                (graph, endpoints) = flow::lower(flows, tables, self.registry, &mut compiler);
                graph
            }
        };
        let mut graph = graph;
        if endpoints.take_letters() {
            graph.tell_codes();
        }
        let Compiler { sources, mut diagnostics, coverage, risks, .. } = compiler;
        let (coverage, mut risks) = (coverage.unwrap_or_default(), risks.unwrap_or_default());
        risks.sort_by_key(|risk| (risk.span.start, risk.span.end));
        if is_total {
            diagnostics.extend(risks.iter().map(in_total));
        }
        Loaded { language, graph, endpoints, program, sources, diagnostics, coverage, risks }
    }
}

/// The line by which a program says that nothing in it may fail.
const TOTAL: &str = "#!total";

/// Whether a program says so, in front of its first statement.
fn says_total(text: &str) -> bool {
    let is_head = |line: &&str| line.is_empty() || line.starts_with('#');
    text.lines().map(str::trim).take_while(is_head).any(|line| line == TOTAL)
}

/// What can fail in a program that may not.
fn in_total(risk: &Risk) -> Diagnostic {
    let message = format!("this can fail: {}", risk.reason);
    Diagnostic::error("E0331", risk.span, message)
        .with_label("`#!total` says that nothing does")
        .with_help(risk.mend.clone())
}

/// Colour when standard error is a terminal and the user does not object (<https://no-color.org>).
#[must_use]
pub fn colour() -> Colour {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && is_terminal() { Colour::On } else { Colour::Off }
}

/// The language and the text of a program file.
///
/// # Errors
/// A sentence about the file itself, when it cannot be read.
pub fn read_program(file: &Path) -> Result<(Language, String), String> {
    let language = Language::of(file).ok_or_else(|| {
        let name = file.display();
        format!("{name}: unknown kind of file; expected .tmb, .tremor, .trickle or .troy")
    })?;
    Ok((language, read(file)?))
}

fn read(file: &Path) -> Result<String, String> {
    let name = file.display();
    let size = std::fs::metadata(file).map_err(|error| format!("{name}: {error}"))?;
    if size.is_dir() {
        return Err(format!("{name}: is a directory; expected a program file"));
    }
    if size.len() > PROGRAM_BYTES_MAX {
        return Err(format!("{name}: larger than {PROGRAM_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("{name}: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("{name}: not UTF-8: byte {} is invalid", error.utf8_error().valid_up_to())
    })
}

/// The languages of program files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.tmb`
    Temblor,
    /// `.tremor`
    Script,
    /// `.trickle`
    Query,
    /// `.troy`
    Deploy,
}

impl Language {
    /// The language that the ending of a file stands for.
    #[must_use]
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "tmb" => Some(Language::Temblor),
            "tremor" => Some(Language::Script),
            "trickle" => Some(Language::Query),
            "troy" => Some(Language::Deploy),
            _ => None,
        }
    }
}

fn check_module(
    mut compiler: Compiler<'_>,
    program: Source,
    module: &Parsed<syntax::tree::Script>,
) -> Loaded {
    compiler.diagnostics.extend(module.diagnostics.iter().cloned());
    let mut scope = Scope::default();
    for item in &module.tree.items {
        match item {
            Item::Define(define) => check_scripts(&mut compiler, &define.kind),
            item => compiler.define(item, &mut scope),
        }
    }
    let Compiler { sources, diagnostics, .. } = compiler;
    let (graph, endpoints) = (Graph::default(), Endpoints::default());
    let (language, coverage) = (Language::Script, Coverage::default());
    let risks = Vec::new();
    Loaded { language, graph, endpoints, program, sources, diagnostics, coverage, risks }
}

/// The scripts of a definition: what else is in it is checked where it is created.
fn check_scripts(compiler: &mut Compiler<'_>, kind: &DefineKind) {
    let (scripts, rules): (Vec<_>, _) = match kind {
        DefineKind::Script(def) => {
            let ports = def.ports.iter().map(|(_, script)| script);
            (ports.chain([&def.main]).collect(), Rules::SCRIPT)
        }
        DefineKind::Window(def) => (def.script.iter().collect(), Rules::WINDOW_SCRIPT),
        _ => return,
    };
    for script in scripts {
        compiler.lower_script(script, Scope::default(), rules, None);
    }
}

fn script(compiler: &mut Compiler<'_>, tree: &syntax::tree::Script) -> Graph {
    compiler.begin_state(&Frozen::default());
    let script = compiler.lower_script(tree, Scope::default(), Rules::SCRIPT, None);
    compiler.end_state();
    let node = ScriptNode::new(script, Vec::new(), Arc::default(), Arc::default());
    Graph::of_operator(Box::new(node))
}
