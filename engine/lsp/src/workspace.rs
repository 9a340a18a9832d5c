//! The texts of an editor: those that it has open, and the files around them. What is open counts
//! more than what is on disk.

use super::analysis::{Analysis, Dialect};
use super::place::{path_of, uri_of};
use super::{DOCUMENT_BYTES_MAX, WORKSPACE_ENTRIES_MAX, WORKSPACE_FILES_MAX};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Loader;
use temblor_lang::span::Sources;
use temblor_pipeline::load::{Directories, Language};

/// A text that the editor has open.
#[derive(Debug)]
pub(crate) struct Document {
    /// What it is written in.
    pub dialect: Dialect,
    /// The editor's number of this state of the text.
    pub version: i32,
    /// The text and its names.
    pub analysis: Rc<Analysis>,
    /// The last state of the text that could be read completely: while a person types, most
    /// cannot.
    pub complete: Rc<Analysis>,
    /// Whether the editor has not been told yet what is wrong with it.
    pub(crate) is_dirty: bool,
    /// What is wrong with it, when that is known: editors ask for fixes at every step of the cursor.
    pub found: RefCell<Option<Rc<Found>>>,
}

/// What is wrong with a text, and the texts that this is about.
pub(crate) type Found = (Vec<Diagnostic>, Sources);

/// When a file was written last, and its names.
type Cached = (Option<SystemTime>, Rc<Analysis>);

/// All texts.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// What is open, by URI.
    pub documents: HashMap<String, Document>,
    /// The folders that the editor shows.
    pub folders: Vec<PathBuf>,
    /// Where modules are searched besides.
    pub path: Vec<PathBuf>,
    /// Files that are not open, with the time of their last change.
    files: RefCell<HashMap<PathBuf, Cached>>,
}

impl Workspace {
    /// No text is open yet.
    #[must_use]
    pub(crate) fn new(folders: Vec<PathBuf>, path: Vec<PathBuf>) -> Self {
        Self { folders, path, ..Self::default() }
    }

    /// A text is opened.
    pub(crate) fn open(&mut self, uri: &Uri, hint: &str, version: i32, text: String) {
        let file = path_of(uri).unwrap_or_else(|| PathBuf::from(uri.as_str()));
        let dialect = Dialect::of(&file, hint);
        let analysis = Rc::new(Analysis::new(text, dialect));
        let complete = analysis.clone();
        let found = RefCell::default();
        let document = Document { dialect, version, analysis, complete, is_dirty: true, found };
        self.documents.insert(uri.as_str().to_string(), document);
        self.touch();
    }

    /// A text is changed.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) {
        let Some(document) = self.documents.get_mut(uri.as_str()) else { return };
        let mut text = document.analysis.text.clone();
        let mut lines = document.analysis.lines.clone();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let start = lines.offset(&text, range.start);
                    let end = lines.offset(&text, range.end).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
            lines = super::place::Lines::of(&text);
        }
        let analysis = Rc::new(Analysis::new(text, document.dialect));
        if !analysis.is_partial {
            document.complete = analysis.clone();
        }
        document.analysis = analysis;
        document.version = version;
        document.is_dirty = true;
        document.found.take();
        self.touch();
    }

    /// A text or a file has changed: any text that uses modules of its own may use it.
    pub(crate) fn touch(&mut self) {
        for document in self.documents.values_mut() {
            let imports = document.analysis.index.imports.iter();
            let standard = |path: &str| temblor_stdlib::registry().module_paths().contains(&path);
            if imports.into_iter().any(|import| !standard(&import.path)) {
                document.is_dirty = true;
                document.found.take();
            }
        }
    }

    /// A text is closed.
    pub(crate) fn close(&mut self, uri: &Uri) {
        self.documents.remove(uri.as_str());
        self.touch();
    }

    /// The text with this URI.
    #[must_use]
    pub(crate) fn document(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(uri.as_str())
    }

    /// The names of a file, open or not; `None` when it is none of ours.
    #[must_use]
    pub(crate) fn analysis(&self, file: &Path) -> Option<Rc<Analysis>> {
        self.analysis_if(file, |_| true)
    }

    /// As [`Workspace::analysis`], but a file that nobody has looked into yet is only read as a program
    /// when its text is worth it: of thousands of files, most do not hold a name.
    #[must_use]
    pub(crate) fn analysis_if(
        &self,
        file: &Path,
        is_worth_it: impl Fn(&str) -> bool,
    ) -> Option<Rc<Analysis>> {
        let uri = uri_of(file)?;
        if let Some(document) = self.document(&uri) {
            return Some(document.analysis.clone());
        }
        let language = Language::of(file)?;
        let data = std::fs::metadata(file).ok()?;
        let stamp = data.modified().ok();
        if let Some((known, analysis)) = self.files.borrow().get(file)
            && *known == stamp
        {
            return Some(analysis.clone());
        }
        if data.len() > DOCUMENT_BYTES_MAX as u64 {
            return None;
        }
        let text = std::fs::read_to_string(file).ok()?;
        if !is_worth_it(&text) {
            return None;
        }
        let analysis = Rc::new(Analysis::new(text, Dialect::Program(language)).names_only());
        self.files.borrow_mut().insert(file.to_path_buf(), (stamp, analysis.clone()));
        Some(analysis)
    }

    /// What finds the modules that a text uses.
    #[must_use]
    pub(crate) fn modules(&self, uri: &Uri) -> Modules<'_> {
        let file = path_of(uri);
        let directories = Directories::new(&self.path, file.as_deref());
        Modules { workspace: self, directories }
    }

    /// All program files below the folders, and those that are open.
    #[must_use]
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            self.folders.iter().flat_map(|folder| programs(folder)).collect();
        let open = self.documents.keys().filter_map(|uri| path_of(&uri.parse().ok()?));
        found.extend(open.filter(|file| Language::of(file).is_some()));
        found.sort();
        found.dedup();
        found.truncate(WORKSPACE_FILES_MAX);
        found
    }
}

/// The program files below a folder.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    let mut looked_at = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > WORKSPACE_ENTRIES_MAX || found.len() >= WORKSPACE_FILES_MAX {
                return found;
            }
            let file = entry.path();
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or(".");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !name.starts_with('.') && !["target", "node_modules"].contains(&name) {
                open.push(file);
            } else if !is_folder && Language::of(&file).is_some() {
                found.push(file);
            }
        }
    }
    found
}

/// Finds modules: what is open first.
#[derive(Debug)]
pub(crate) struct Modules<'w> {
    workspace: &'w Workspace,
    directories: Directories,
}

impl Modules<'_> {
    /// The file of a module.
    #[must_use]
    pub(crate) fn file(&self, path: &str) -> Option<PathBuf> {
        let segments: Vec<_> = path.split("::").collect();
        let is_there = |file: &Path| {
            file.is_file()
                || uri_of(file).is_some_and(|uri| self.workspace.document(&uri).is_some())
        };
        self.directories.find(&segments, is_there)
    }

    /// The directories that are searched.
    #[must_use]
    pub(crate) fn directories(&self) -> &Directories {
        &self.directories
    }
}

impl Loader for Modules<'_> {
    fn load(&self, path: &[&str]) -> Option<(String, String)> {
        let file = self.file(&path.join("::"))?;
        let name = file.display().to_string();
        let open = uri_of(&file).and_then(|uri| self.workspace.document(&uri));
        match open {
            Some(document) => Some((name, document.analysis.text.clone())),
            None => Some((name, std::fs::read_to_string(&file).ok()?)),
        }
    }
}
