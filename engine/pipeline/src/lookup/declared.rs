//! `table hosts from file "hosts.csv" with key = "ip" end`, `table names from record with rows = {…} end`:
//! tables that a program declares. They are read while it is compiled, so that `check` finds a file that is
//! missing or no table.

use super::{Lookup, Matching, NamedTables, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use temblor_lang::builtin::Tables;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Binding, EndpointDef, EndpointRole, StringLit};
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Kind, Value, to_json};

const SETTINGS: [&str; 4] = ["every", "key", "mode", "until"];
/// The kind of tables whose rows stand in the program.
const RECORD: &str = "record";
const SETTINGS_OF_RECORDS: [&str; 2] = ["mode", "rows"];
/// How the keys of a table are compared, by name.
pub const MODES: [(&str, Matching); 4] = [
    ("exact", Matching::Exact),
    ("cidr", Matching::Network),
    ("regex", Matching::Pattern),
    ("range", Matching::Range),
];
/// The nearest that two looks at a file may follow each other.
const EVERY_MIN: Duration = Duration::from_millis(1);

impl NamedTables {
    /// Reads the tables among the declarations; what is wrong is reported to the compiler. `given` are
    /// the tables of the command line, if it is known which there are; they take the place of declared ones.
    pub fn lower(
        definitions: &[EndpointDef],
        given: Option<&NamedTables>,
        compiler: &mut Compiler<'_>,
    ) -> Self {
        let (mut tables, mut names) = (Self::default(), BTreeSet::new());
        for def in definitions.iter().filter(|def| def.role == EndpointRole::Table) {
            let name = &def.name;
            if let Some(lookup) = table(def, compiler) {
                tables.insert(&name.text, lookup);
            }
            // A table that cannot be read is known all the same: its uses are not wrong.
            if !names.insert(name.text.clone()) {
                let message = format!("there is a table `{}` already", name.text);
                compiler.diagnostics.push(Diagnostic::error("E0502", name.span, message));
            }
        }
        let are_known = given.is_some() || !names.is_empty();
        if let Some(given) = given {
            names.extend(given.names().into_iter().map(str::to_string));
            tables.extend(given.clone());
        }
        compiler.tables = are_known.then_some(names);
        tables
    }
}

fn table(def: &EndpointDef, compiler: &mut Compiler<'_>) -> Option<Arc<Lookup>> {
    let mut settings = Settings { compiler, with: &def.with };
    if def.kind.text == RECORD {
        settings.known(&SETTINGS_OF_RECORDS);
        return settings.record(def);
    }
    settings.known(&SETTINGS);
    let path = settings.path(def)?;
    let matching = settings.mode()?;
    let (key, until) = (settings.text("key")?, settings.text("until")?);
    let every = settings.every()?;
    match (matching == Matching::Range, until.is_some()) {
        (true, false) => {
            let help = "add `until = \"to\"`";
            return settings.wrong("mode", "mode `range` needs the column of the ends", help);
        }
        (false, true) => {
            let help = "leave it out, or add `mode = \"range\"`";
            return settings.wrong("until", "`until` belongs to mode `range`", help);
        }
        _ => {}
    }
    match Lookup::open(Plan { path, matching, key, until }, every) {
        Ok(lookup) => Some(lookup),
        Err(reason) => {
            let span = def.argument.as_ref().map_or(def.span, |argument| argument.span);
            let message = format!("cannot use the table `{}`: {reason}", def.name.text);
            compiler.diagnostics.push(Diagnostic::error("E0526", span, message));
            None
        }
    }
}

struct Settings<'s, 'r> {
    compiler: &'s mut Compiler<'r>,
    with: &'s [Binding],
}

impl Settings<'_, '_> {
    fn known(&mut self, known: &[&'static str]) {
        for name in self.with.iter().map(|binding| &binding.name) {
            if !known.contains(&name.text.as_str()) {
                let message = format!("unknown setting `{}`", name.text);
                let complaint = Diagnostic::error("E0506", name.span, message);
                self.compiler
                    .diagnostics
                    .push(complaint.with_nearest(&name.text, known.iter().copied()));
            }
        }
    }

    /// The file, from the working directory or beside the program.
    fn path(&mut self, def: &EndpointDef) -> Option<PathBuf> {
        if def.kind.text != "file" {
            let message = format!("unknown kind of table `{}`", def.kind.text);
            let complaint = Diagnostic::error("E0519", def.kind.span, message);
            let help = "a table is read from a `file`, or stands in the program as a `record`";
            self.compiler.diagnostics.push(complaint.with_help(help));
            return None;
        }
        let path = def.argument.as_ref().and_then(StringLit::constant);
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            let message = "`table` needs the path of a file";
            let complaint = Diagnostic::error("E0520", def.kind.span, message)
                .with_help("such as: table hosts from file \"hosts.csv\"");
            self.compiler.diagnostics.push(complaint);
            return None;
        };
        Some(self.beside(Path::new(path), def.span))
    }

    /// The table of `rows = {"key": value, …}`.
    fn record(&mut self, def: &EndpointDef) -> Option<Arc<Lookup>> {
        let matching = self.mode()?;
        let rows = self.setting("rows", "a record of rows by key", |value| {
            matches!(value.kind(), Kind::Record).then(|| to_json(value))
        })?;
        let Some(rows) = rows else {
            let message = "a table from a `record` needs `rows`";
            let complaint = Diagnostic::error("E0520", def.kind.span, message)
                .with_help("such as: table names from record with rows = {\"1\": \"one\"} end");
            self.compiler.diagnostics.push(complaint);
            return None;
        };
        match Lookup::of_record(&rows, matching) {
            Ok(lookup) => Some(lookup),
            Err(reason) => self.wrong("rows", &reason, "see the modes of `table`"),
        }
    }

    fn beside(&self, path: &Path, span: Span) -> PathBuf {
        let program = self.compiler.sources.get(span.source).map(|source| Path::new(&source.name));
        let directory = program.and_then(Path::parent);
        let beside = directory.map(|directory| directory.join(path)).filter(|path| path.exists());
        if path.exists() { path.to_path_buf() } else { beside.unwrap_or(path.to_path_buf()) }
    }

    fn binding(&self, name: &str) -> Option<&Binding> {
        self.with.iter().find(|binding| binding.name.text == name)
    }

    fn wrong<T>(&mut self, name: &str, message: &str, help: &str) -> Option<T> {
        let span = self.binding(name).map_or(Span::default(), |binding| binding.value.span);
        let complaint = Diagnostic::error("E0510", span, message).with_help(help);
        self.compiler.diagnostics.push(complaint);
        None
    }

    /// What `read` makes of a setting; nothing when it is not written, `None` when it is wrong.
    fn setting<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(Value<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        let Some(binding) = self.binding(name) else { return Some(None) };
        let (tree, span) = (binding.value.clone(), binding.value.span);
        let value = self.compiler.constant(
            &tree,
            &Scope::with_prelude(),
            self.compiler.program_args.clone(),
        )?;
        let read = read(value.get());
        if read.is_none() {
            let got = to_json(value.get());
            let message = format!("`{name}` must be {expected}, got {got}");
            self.compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
        }
        read.map(Some)
    }

    fn text(&mut self, name: &str) -> Option<Option<String>> {
        self.setting(name, "the name of a column", |value| value.as_str().map(str::to_string))
    }

    fn mode(&mut self) -> Option<Matching> {
        let names: Vec<_> = MODES.iter().map(|(name, _)| *name).collect();
        let expected = format!("one of {}", names.join(", "));
        let found = self.setting("mode", &expected, |value| {
            let word = value.as_str()?;
            MODES.iter().find(|(name, _)| *name == word).map(|(_, matching)| *matching)
        });
        found.map(|found| found.unwrap_or(Matching::Exact))
    }

    fn every(&mut self) -> Option<Option<Duration>> {
        self.setting("every", "a duration such as 10s", |value| {
            let nanos = value.as_u64().or_else(|| parse_duration(value.as_str()?));
            nanos.map(|nanos| Duration::from_nanos(nanos).max(EVERY_MIN))
        })
    }
}
