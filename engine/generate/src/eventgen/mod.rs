//! Splunk Eventgen's configurations: stanzas become settings of generators, and those become specs.
//!
//! Invariant: what is not understood is named with its file and line, never passed over in silence; a
//! configuration is refused only where Eventgen itself would refuse it.

mod conf;
mod places;
mod splunk;
pub mod outputs;
mod options;
pub mod rotation;
mod tokens;
mod stanza;
mod timing;
pub mod explain;
pub mod convert;

use super::spec::Spec;
use conf::{Complaint, Conf, Section};
use outputs::Output;
use places::Places;
use regex::Regex;
use std::path::{Path, PathBuf};

/// A sample of a stanza as a generator, and where its events go.
#[derive(Clone, Debug)]
pub struct Stanza {
    /// The name of its sample file, or what stands between the brackets.
    pub name: String,
    /// What stands between the brackets.
    pub section: String,
    /// Where: file and line.
    pub place: String,
    /// The kind of generator.
    pub kind: &'static str,
    /// Its settings, as a program would have them.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// What they ask for.
    pub spec: Spec,
    /// Where its events go.
    pub output: Output,
    /// What has no effect, and why.
    pub notes: Vec<String>,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// In the order of the configuration.
    pub stanzas: Vec<Stanza>,
    /// Stanzas that give nothing, and why.
    pub notes: Vec<String>,
}

/// A file of this size is no configuration.
const CONF_BYTES_MAX: u64 = 16 << 20;

/// Reads configurations; what later ones say counts. A folder stands for `default` and `local` in it.
///
/// # Errors
/// All that is wrong, each with file and line.
pub fn load(paths: &[PathBuf]) -> Result<Loaded, String> {
    let files = files(paths)?;
    let mut texts = Vec::new();
    for file in &files {
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        if std::fs::metadata(file).map_err(failed)?.len() > CONF_BYTES_MAX {
            return Err(format!("{}: larger than {CONF_BYTES_MAX} bytes", file.display()));
        }
        let bytes = std::fs::read(file).map_err(failed)?;
        texts.push((file.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let directory = files.last().and_then(|file| file.parent()).unwrap_or(Path::new("."));
    read(&texts, directory)
}

/// The files that paths stand for.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let known = ["default/eventgen.conf", "local/eventgen.conf", "eventgen.conf"];
        let before = files.len();
        files.extend(known.iter().map(|name| path.join(name)).filter(|file| file.is_file()));
        if files.len() == before {
            return Err(format!("{}: there is none of {}", path.display(), known.join(", ")));
        }
    }
    Ok(files)
}

/// Reads texts of configurations that stand in a directory.
///
/// # Errors
/// All that is wrong, each with file and line.
pub fn read(texts: &[(String, String)], directory: &Path) -> Result<Loaded, String> {
    let shown = |complaints: Vec<Complaint>| {
        complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let conf = Conf::parse(texts).map_err(shown)?;
    let places = Places::of(directory);
    let mut complaints = options::check(&conf);
    let mut loaded = Loaded::default();
    let global = conf.global.entries.first().map_or(String::new(), |one| conf.place(one.line));
    let idle = options::idle_notes(conf.global.entries.iter());
    loaded.notes.extend(idle.iter().map(|note| format!("{global}: [global]: {note}")));
    let on: Vec<&Section> = conf.stanzas.iter().filter(|section| is_on(section, &conf)).collect();
    for section in conf.stanzas.iter().filter(|section| !is_on(section, &conf)) {
        loaded.notes.push(format!("{}: [{}]: is disabled", conf.place(section.line), section.name));
    }
    for section in &on {
        match of_section(section, &on, &conf, &places) {
            Ok(Found::Stanzas(stanzas)) => loaded.stanzas.extend(stanzas),
            Ok(Found::Nothing(reason)) => {
                let place = conf.place(section.line);
                loaded.notes.push(format!("{place}: [{}]: {reason}", section.name));
            }
            Err(more) => complaints.extend(more),
        }
    }
    // A setting of `[global]` that is wrong is wrong in each stanza: once is enough.
    complaints.sort_by_key(|one| one.line);
    complaints.dedup_by_key(|one| one.line);
    if complaints.is_empty() { Ok(loaded) } else { Err(shown(complaints)) }
}

enum Found {
    Stanzas(Vec<Stanza>),
    Nothing(String),
}

fn is_on(section: &Section, conf: &Conf) -> bool {
    let own = section.get("disabled").or_else(|| conf.global.get("disabled"));
    !own.is_some_and(|entry| options::is_true(&entry.value))
}

/// The stanzas of a section: one for each sample file that is no other's.
fn of_section(
    section: &Section,
    all: &[&Section],
    conf: &Conf,
    places: &Places,
) -> Result<Found, Vec<Complaint>> {
    let given = all_keys(section, all, None, conf);
    let needs_file = stanza::needs_file(&given);
    let (directories, files) = places.samples(&section.name, given.text("sampleDir"));
    if files.is_empty() && needs_file {
        let shown: Vec<_> = directories.iter().map(|one| one.display().to_string()).collect();
        return Ok(Found::Nothing(format!(
            "no sample: none of {} has a file of this name, or one that it matches",
            shown.join(", ")
        )));
    }
    let (empty, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_empty(file));
    if let (Some(file), [], true) = (empty.first(), files.as_slice(), needs_file) {
        return Ok(Found::Nothing(format!("{} has no event", file.display())));
    }
    let mut stanzas = Vec::new();
    let mut complaints = Vec::new();
    let mine = files.iter().filter(|file| owner(file_name(file), all) == Some(section.line));
    let mut add = |keys: &Section, file: Option<&Path>| {
        match stanza::make(keys, file, conf, places) {
            Ok(stanza) => stanzas.push(stanza),
            Err(complaint) => complaints.push(complaint),
        };
    };
    match needs_file || !files.is_empty() {
        true => mine.for_each(|file| {
            let keys = all_keys(section, all, Some(file_name(file)), conf);
            add(&keys, Some(file));
        }),
        false => add(&given, None),
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    if stanzas.is_empty() {
        return Ok(Found::Nothing("its samples belong to stanzas that come later".to_string()));
    }
    Ok(Found::Stanzas(stanzas))
}

/// Whether a sample holds nothing but blanks; one that cannot be read is no empty one.
fn is_empty(file: &Path) -> bool {
    crate::settings::read_file(file).is_ok_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}

fn file_name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Which section a sample belongs to: that of its name, else the last that matches it.
fn owner(file: &str, all: &[&Section]) -> Option<usize> {
    let exact = all.iter().find(|section| section.name == file);
    let last = || all.iter().rfind(|section| matches(&section.name, file));
    exact.or_else(last).map(|section| section.line)
}

/// Whether a name matches another as a whole, by its letters or as a regex.
fn matches(pattern: &str, name: &str) -> bool {
    pattern == name
        || Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(name))
}

/// What a section says, then what others say that match its name or its sample, then `[global]`. Tokens of
/// the others follow its own.
fn all_keys(section: &Section, all: &[&Section], file: Option<&str>, conf: &Conf) -> Section {
    let mut keys = section.clone();
    for other in all.iter().rev().filter(|other| other.line != section.line) {
        let fits = matches(&other.name, &section.name)
            || file.is_some_and(|file| matches(&other.name, file));
        if fits {
            keys.add_below(other);
        }
    }
    keys.add_below(&conf.global);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_no_configurations() {
        let file = std::env::temp_dir().join(format!("temblor-{}.conf", std::process::id()));
        std::fs::File::create(&file).unwrap().set_len(CONF_BYTES_MAX + 1).unwrap();
        let error = load(std::slice::from_ref(&file)).unwrap_err();
        assert!(error.contains("larger than"), "{error}");
        std::fs::remove_file(&file).unwrap();
        assert!(load(&[std::env::temp_dir().join("temblor-nowhere")]).is_err());
    }

    #[test]
    fn texts_that_nobody_meant_are_refused_or_read() {
        let mut random = crate::Random::seeded(4);
        let words = [
            "[a]",
            "\n",
            "=",
            "token.0.token",
            "(",
            "\\",
            "{",
            "\"",
            "interval",
            "-1",
            "end",
            " ",
            ":",
            "[",
            "count",
            "99999999999999999999",
            "ü",
            "\u{0}",
            "#",
            "hourOfDayRate",
            "replay",
            "mode",
            "generator",
            "windbag",
            "jinja",
            "backfill",
            "-1d@d",
            "timezone",
            "local",
            "outputMode",
            "file",
            "fileName",
            "\r",
            "perDayVolume",
            "1e308",
        ];
        for _ in 0..3_000 {
            let count = random.below(40);
            let text: String = (0..count).map(|_| words[random.index(words.len())]).collect();
            let texts = [("f".to_string(), text)];
            if let Ok(loaded) = read(&texts, Path::new("/nowhere")) {
                let _ = explain::explain(&loaded);
                let _ = convert::convert(&loaded, 0);
            }
        }
    }
}
