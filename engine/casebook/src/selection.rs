//! Which tests are wanted: by words of their names, and by tags, which are the names of the folders that
//! a file is in, what `tags.yaml` says in each of them, and what a suite says of itself.

use std::fs;
use std::path::Path;
use temblor_lang::value::Arena;
use temblor_pipeline::load::LoadOptions;
use temblor_pipeline::lookup::NamedTables;
use temblor_stdlib::formats::yaml;

/// A list of tags for all that is below its folder, as tremor has it.
const TAGS_FILE: &str = "tags.yaml";
/// Larger files hold no tags.
const TAGS_BYTES_MAX: u64 = 64 << 10;

/// Which tests are wanted.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Words that the file or the name must contain; empty for all.
    pub filter: String,
    /// A test needs one of these tags, unless there are none.
    pub include: Vec<String>,
    /// A test must not have any of these tags.
    pub exclude: Vec<String>,
    /// Whether it is noted what the tests reach.
    pub counted: bool,
    /// Lookup tables that the tests may ask, besides those that their programs declare; `None` when
    /// none were given.
    pub tables: Option<NamedTables>,
}

impl Selection {
    /// What is given to the programs of cases.
    #[must_use]
    pub fn given(&self) -> LoadOptions<'static> {
        let options = LoadOptions::new(temblor_catalog::registry());
        LoadOptions { tables: self.tables.clone(), ..options }
    }

    /// Whether a test of a file is wanted; `own` are the tags that it has besides those of its folders.
    #[must_use]
    pub fn takes(&self, file: &Path, name: &str, own: &[String]) -> bool {
        let named = name.contains(&self.filter) || file.to_string_lossy().contains(&self.filter);
        if !named || (self.include.is_empty() && self.exclude.is_empty()) {
            return named;
        }
        let inherited = tags_of(file);
        let has = |tag: &String| inherited.contains(tag) || own.contains(tag);
        (self.include.is_empty() || self.include.iter().any(has)) && !self.exclude.iter().any(has)
    }
}

/// Tags of everything in a file: the names of the folders that it is in, and what is written there.
fn tags_of(file: &Path) -> Vec<String> {
    let mut tags = Vec::new();
    for folder in file.ancestors().skip(1) {
        tags.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
        tags.extend(written(&folder.join(TAGS_FILE)));
    }
    tags
}

/// The texts of a YAML list; none where there is no such file.
fn written(file: &Path) -> Vec<String> {
    let is_small = fs::metadata(file).is_ok_and(|data| data.len() <= TAGS_BYTES_MAX);
    let Some(text) = is_small.then(|| fs::read_to_string(file).ok()).flatten() else {
        return Vec::new();
    };
    let arena = Arena::new();
    let tags = yaml::parse(&text, &arena).ok().and_then(|value| value.as_array(&arena));
    let tags = tags.unwrap_or_default().iter().filter_map(|tag| tag.as_str());
    tags.map(str::to_string).collect()
}
