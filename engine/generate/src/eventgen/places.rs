//! Where a configuration's samples, token files and templates are.
//!
//! Invariant: a path is tried as it stands, then seen from the configuration, its app, and the directory of
//! the run; the first that is there counts.

use regex::Regex;
use std::path::{Path, PathBuf};

/// The directories that paths are seen from.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Of the configuration.
    conf: PathBuf,
    /// Of the app: the folder that holds `default` or `local`.
    app: PathBuf,
}

impl Places {
    /// Of a configuration in a directory.
    #[must_use]
    pub(super) fn of(directory: &Path) -> Self {
        let directory = match directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => directory,
        };
        let name = directory.file_name().unwrap_or_default();
        let is_part = name == "default" || name == "local";
        let app = match directory.parent().filter(|_| is_part) {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_path_buf(),
            None => directory.to_path_buf(),
        };
        Places { conf: directory.to_path_buf(), app }
    }

    /// The directories that may hold samples, and the samples that a name stands for in the first that has one:
    /// a file of this name, or all that it matches as a regex.
    #[must_use]
    pub(super) fn samples(&self, name: &str, own: Option<&str>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let directories = self.sample_directories(own);
        let found = directories.iter().map(|one| files(name, one)).find(|files| !files.is_empty());
        (directories, found.unwrap_or_default())
    }

    fn sample_directories(&self, own: Option<&str>) -> Vec<PathBuf> {
        let mut directories = match own {
            Some(own) => self.candidates(own),
            None => vec![
                self.app.join("samples"),
                self.conf.join("samples"),
                self.conf.join("../samples"),
                self.conf.clone(),
                PathBuf::from("samples"),
            ],
        };
        let mut seen = Vec::new();
        directories.retain(|one| {
            let real = std::fs::canonicalize(one).unwrap_or_else(|_| one.clone());
            let is_new = !seen.contains(&real);
            seen.push(real);
            is_new
        });
        directories
    }

    /// A file that a setting names.
    #[must_use]
    pub(super) fn file(&self, text: &str) -> Option<PathBuf> {
        self.candidates(text).into_iter().find(|path| path.is_file())
    }

    /// A directory that a setting names.
    #[must_use]
    pub(super) fn directory(&self, text: &str) -> Option<PathBuf> {
        self.candidates(text).into_iter().find(|path| path.is_dir())
    }

    /// Where a path may lead.
    fn candidates(&self, text: &str) -> Vec<PathBuf> {
        let expanded = expand(text, &|name| std::env::var(name).ok());
        let mut candidates = vec![];
        let mut add = |text: &str| {
            let path = Path::new(text);
            if path.is_absolute() {
                candidates.push(path.to_path_buf());
                return;
            }
            let app = &self.app;
            for base in [
                &self.conf,
                app,
                &app.join("samples"),
                &self.conf.join("samples"),
                &app.join("bin"),
            ] {
                candidates.push(base.join(path));
            }
            candidates.push(path.to_path_buf());
        };
        add(&expanded);
        let forward = expanded.replace("\\\\", "/").replace('\\', "/");
        add(&forward);
        // A path into a Splunk that is not installed here: what stands behind the app is of this app.
        let behind_app = Regex::new(r"(?:^|/)etc/(?:apps|deployment-apps|slave-apps)/[^/]+/(.+)$")
            .ok()
            .and_then(|regex| {
                regex.captures(&forward)?.get(1).map(|rest| rest.as_str().to_string())
            });
        if let Some(rest) = behind_app {
            add(&rest);
        }
        if let Some(name) = Path::new(&forward).file_name().and_then(|name| name.to_str()) {
            add(name);
        }
        candidates
    }
}

/// `$NAME`, `${NAME}` and `%NAME%` replaced by what the environment says; what it does not know stays.
#[must_use]
pub(super) fn expand(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> String {
    let Ok(names) = Regex::new(r"\$(\w+)|\$\{(\w+)\}|%(\w+)%") else { return text.to_string() };
    let replaced = |found: &regex::Captures<'_>| {
        let name = found.iter().skip(1).flatten().next().map_or("", |name| name.as_str());
        environment(name).unwrap_or_else(|| found[0].to_string())
    };
    names.replace_all(text, replaced).into_owned()
}

/// The files of a directory that a name stands for.
fn files(name: &str, directory: &Path) -> Vec<PathBuf> {
    let exact = directory.join(name);
    if exact.is_file() {
        return vec![exact];
    }
    let Ok(regex) = Regex::new(&format!("^(?:{name})$")) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let matches = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && regex.is_match(&name) && !name.ends_with(".part")
    };
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(matches).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_environment_are_replaced() {
        let environment = |name: &str| (name == "HOME").then(|| "/h".to_string());
        let expand = |text: &str| expand(text, &environment);
        assert_eq!(expand("$HOME/a ${HOME}b %HOME%"), "/h/a /hb /h");
        assert_eq!(expand("$NOWHERE/a $ %d"), "$NOWHERE/a $ %d");
    }

    #[test]
    fn paths_are_seen_from_the_app_and_the_configuration() {
        let root = std::env::temp_dir().join(format!("temblor-places-{}", std::process::id()));
        for folder in ["app/default", "app/samples", "app/bin"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["app/samples/a.sample", "app/samples/b.sample", "app/default/c.csv"] {
            std::fs::write(root.join(file), "x").unwrap();
        }
        let places = Places::of(&root.join("app/default"));
        let names = |name: &str, own: Option<&str>| -> Vec<String> {
            let (_, files) = places.samples(name, own);
            let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
            files.iter().map(name).collect()
        };
        assert_eq!(names("a.sample", None), ["a.sample"]);
        assert_eq!(names(r".*\.sample", None), ["a.sample", "b.sample"]);
        assert_eq!(names("a.sample", Some("../samples")), ["a.sample"]);
        assert_eq!(names("a.samp", None), Vec::<String>::new());
        for text in [
            "a.sample",
            "samples/a.sample",
            "../samples/a.sample",
            "$NO_SUCH_HOME/etc/apps/any/samples/a.sample",
            r"$NO_SUCH_HOME\etc\apps\any\samples\a.sample",
            "/opt/elsewhere/a.sample",
            "c.csv",
        ] {
            assert!(places.file(text).is_some(), "{text}");
        }
        assert!(places.file("nowhere").is_none());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
