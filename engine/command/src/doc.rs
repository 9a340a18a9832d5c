//! `temblor doc`: pages from the doc comments of modules, as Markdown or HTML, and whether the examples
//! in them are true.

mod example;
mod html;
mod page;

use super::check::FAULTY;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use temblor_casebook::walk::files_with;
use temblor_lang::diagnostic::render_all;
use temblor_lang::span::Sources;
use temblor_pipeline::load::{Language, Text, colour, read_program};

/// What the list of the modules is called: the first that no module is called.
const LISTS: [&str; 2] = ["index", "all-modules"];

/// What can be typed behind `temblor doc`.
#[derive(Debug, Args)]
pub(crate) struct DocArgs {
    /// Directory with modules (.tremor)
    directory: PathBuf,
    /// Directory for the pages [default: all pages to standard output]
    out: Option<PathBuf>,
    /// How the pages are written
    #[arg(long, value_enum, default_value_t)]
    format: DocFormat,
    /// Write no pages: run the examples (``` blocks in doc comments); each must give true
    #[arg(long)]
    check: bool,
}

/// The forms of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocFormat {
    /// Markdown
    #[default]
    Markdown,
    /// HTML, one page for each module and one that lists them
    Html,
}

impl DocFormat {
    fn ending(self) -> &'static str {
        match self {
            DocFormat::Markdown => "md",
            DocFormat::Html => "html",
        }
    }
}

/// A module that was read.
struct Module {
    /// Its file, seen from the directory, without its ending.
    relative: PathBuf,
    text: String,
}

/// Writes the pages; gives the exit code.
pub(crate) fn doc(args: &DocArgs) -> u8 {
    let done = modules(&args.directory).and_then(|modules| match args.check {
        true => Ok(check(&args.directory, &modules)),
        false => write(args, &modules).map(|()| true),
    });
    match done {
        Ok(true) => 0,
        Ok(false) => FAULTY,
        Err(reason) => {
            eprintln!("error: {reason}");
            FAULTY
        }
    }
}

fn told(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn modules(directory: &Path) -> Result<Vec<Module>, String> {
    let mut modules = Vec::new();
    for file in files_with(directory, &["tremor"]).map_err(|error| told(directory, error))? {
        let (language, text) = read_program(&file)?;
        readable(&file, &text, language)?;
        let relative = file.strip_prefix(directory).unwrap_or(&file).with_extension("");
        modules.push(Module { relative, text });
    }
    match modules.is_empty() {
        true => Err(format!("{}: no module (.tremor) was found", directory.display())),
        false => Ok(modules),
    }
}

/// Whether a module can be read whole: a page of half of it would say that there is no more.
fn readable(file: &Path, text: &str, language: Language) -> Result<(), String> {
    let mut sources = Sources::default();
    let source = sources.add(file.display().to_string(), text);
    let read = Text::of_file(&sources, source, language);
    if !read.has_errors() {
        return Ok(());
    }
    let found = render_all(read.diagnostics(), &sources, colour());
    Err(format!("{}: a module with errors gets no page\n{}", file.display(), found.trim_end()))
}

fn write(args: &DocArgs, modules: &[Module]) -> Result<(), String> {
    let mut index = String::from("# Modules\n\n");
    for module in modules {
        let (path, ending) = (page::module_path(&module.relative), args.format.ending());
        let link = module.relative.with_extension(ending);
        index.push_str(&format!("- [`{path}`](<{}>)\n", link.display()));
        let page = page::page(&module.relative, &module.text);
        put(args, &link, &page, &path)?;
    }
    // A single page needs no list.
    match args.out.is_some() && modules.len() > 1 {
        true => {
            let is_taken =
                |name: &&&str| modules.iter().any(|one| one.relative == Path::new(**name));
            let name = LISTS.iter().find(|name| !is_taken(name)).unwrap_or(&LISTS[0]);
            put(args, &Path::new(name).with_extension(args.format.ending()), &index, "Modules")
        }
        false => Ok(()),
    }
}

/// Writes a page to its file, or to standard output when there is no directory.
fn put(args: &DocArgs, file: &Path, page: &str, title: &str) -> Result<(), String> {
    let page = match args.format {
        DocFormat::Markdown => page.to_string(),
        DocFormat::Html => html::page(title, page),
    };
    let Some(out) = &args.out else {
        println!("{page}");
        return Ok(());
    };
    let target = out.join(file);
    let folder = target.parent().unwrap_or(out);
    std::fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
    std::fs::write(&target, page).map_err(|error| told(&target, error))
}

/// Runs all examples and says which are not true; whether all are.
fn check(directory: &Path, modules: &[Module]) -> bool {
    let (mut passed, mut failed) = (0, 0);
    for module in modules {
        let path = page::module_path(&module.relative);
        for one in example::examples(&module.text) {
            match example::run(directory, &path, &one.text) {
                Ok(()) => passed += 1,
                Err(reason) => {
                    failed += 1;
                    println!("{path}: example of {}: {reason}", one.of);
                }
            }
        }
    }
    println!("{passed} examples are true, {failed} are not");
    failed == 0
}
