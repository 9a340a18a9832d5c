//! `table hosts from file "hosts.csv" with key = "ip" end`, `table names from record with rows = {…} end`:
//! tables that a program declares. They are read while it is compiled, so that `check` finds a file that is
//! missing or no table.

use super::{Lookup, Matching, NamedTables, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use temblor_declare::read::{Reader, complain};
use temblor_declare::{Setting, Settings, Takes};
use temblor_lang::builtin::Tables;
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::syntax::tree::{EndpointDef, EndpointRole, StringLit};
use temblor_lang::value::{Kind, to_json};

/// The settings of a table from a file.
pub static OF_FILES: &[Setting] = &[
    Setting::new("every", Takes::Duration, "How often to look whether the file has changed."),
    Setting::new("key", Takes::Text, "The column of the keys; the first unless set."),
    MODE,
    Setting::new("until", Takes::Text, "The column of the ends of ranges, with mode `range`."),
];
/// The settings of a table whose rows stand in the program.
pub static OF_RECORDS: &[Setting] =
    &[MODE, Setting::new("rows", Takes::Any, "The rows by their keys, a record.")];
const MODE: Setting = Setting::new(
    "mode",
    Takes::Word(&["exact", "cidr", "regex", "range"]),
    "How keys are compared.",
)
.or("exact");
/// The kind of tables whose rows stand in the program.
const RECORD: &str = "record";
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
    let is_record = def.kind.text == RECORD;
    let rows = if is_record { OF_RECORDS } else { OF_FILES };
    let (span, scope, args) =
        (def.kind.span, &Scope::with_prelude(), compiler.program_args.clone());
    let reader = Reader { rows: &[rows], span, scope, args, wants_units: true };
    let before = compiler.diagnostics.len();
    let settings = reader.bindings(&def.with, Settings::new(span), compiler);
    let is_wrong = |one: &Diagnostic| one.severity == Severity::Error && one.code != "E0506";
    if compiler.diagnostics[before..].iter().any(is_wrong) {
        return None;
    }
    let lookup = match is_record {
        true => of_record(&settings),
        false => of_file(def, &settings, compiler),
    };
    lookup.map_err(|complaint| compiler.diagnostics.push(complaint)).ok()
}

fn of_file(
    def: &EndpointDef,
    settings: &Settings,
    compiler: &Compiler<'_>,
) -> Result<Arc<Lookup>, Diagnostic> {
    let path = path(def, compiler)?;
    let matching = matching(settings);
    let text = |name| settings.optional_text(name).map(str::to_string);
    let (key, until) = (text("key"), text("until"));
    let every = settings.optional_duration("every").map(|every| every.max(EVERY_MIN));
    let wrong = |name, message: &str, help: &str| {
        Err(Diagnostic::error("E0510", settings.span_of(name), message).with_help(help))
    };
    match (matching == Matching::Range, until.is_some()) {
        (true, false) => {
            let message = "mode `range` needs the column of the ends";
            return wrong("mode", message, "add `until = \"to\"`");
        }
        (false, true) => {
            let help = "leave it out, or add `mode = \"range\"`";
            return wrong("until", "`until` belongs to mode `range`", help);
        }
        _ => {}
    }
    Lookup::open(Plan { path, matching, key, until }, every).map_err(|reason| {
        let span = def.argument.as_ref().map_or(def.span, |argument| argument.span);
        let message = format!("cannot use the table `{}`: {reason}", def.name.text);
        Diagnostic::error("E0526", span, message)
    })
}

/// The table of `rows = {"key": value, …}`.
fn of_record(settings: &Settings) -> Result<Arc<Lookup>, Diagnostic> {
    let Some(rows) = settings.value("rows") else {
        let message = "a table from a `record` needs `rows`";
        return Err(Diagnostic::error("E0520", settings.span, message)
            .with_help("such as: table names from record with rows = {\"1\": \"one\"} end"));
    };
    let span = settings.span_of("rows");
    if rows.get().kind() != Kind::Record {
        let got = to_json(rows.get());
        let reason = format!("must be a record of rows by key, got {got}");
        return Err(complain::unfit("rows", &reason, span));
    }
    Lookup::of_record(&to_json(rows.get()), matching(settings)).map_err(|reason| {
        Diagnostic::error("E0510", span, reason).with_help("see the modes of `table`")
    })
}

fn matching(settings: &Settings) -> Matching {
    let word = settings.text("mode");
    let found = MODES.iter().find(|(name, _)| *name == word).map(|(_, matching)| *matching);
    found.expect("the row has these words")
}

/// The file, from the working directory or beside the program.
fn path(def: &EndpointDef, compiler: &Compiler<'_>) -> Result<PathBuf, Diagnostic> {
    if def.kind.text != "file" {
        let message = format!("unknown kind of table `{}`", def.kind.text);
        return Err(Diagnostic::error("E0519", def.kind.span, message)
            .with_help("a table is read from a `file`, or stands in the program as a `record`"));
    }
    let path = def.argument.as_ref().and_then(StringLit::constant);
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        let message = "`table` needs the path of a file";
        return Err(Diagnostic::error("E0520", def.kind.span, message)
            .with_help("such as: table hosts from file \"hosts.csv\""));
    };
    let path = Path::new(path);
    let program = compiler.sources.get(def.span.source).map(|source| Path::new(&source.name));
    let directory = program.and_then(Path::parent);
    let beside = directory.map(|directory| directory.join(path)).filter(|path| path.exists());
    Ok(if path.exists() { path.to_path_buf() } else { beside.unwrap_or(path.to_path_buf()) })
}
