//! Whether a peer made of the input what Temblor made of it.

use super::Job;
use super::peer::Peer;
use crate::equality::same_json;
use std::collections::BTreeMap;
use std::path::Path;

/// How outputs are held against each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparison {
    /// Standard outputs, line by line, as JSON.
    Json,
    /// Files of the same names, byte by byte. Temblor's stand below `target/SCENARIO`.
    Files,
}

impl Comparison {
    /// An error names the first difference.
    pub(crate) fn check(self, job: &Job, peer: &Peer) -> Result<(), String> {
        let name = peer.command;
        match self {
            Comparison::Json => {
                let own = read(&job.directory.file("temblor.out"))?;
                let other = read(&job.directory.file(&peer.output()))?;
                same_lines(&own, &other).map_err(|reason| format!("{name}: {reason}"))
            }
            Comparison::Files => {
                let scenario = job.folder.file_name().unwrap_or_default();
                let own = files(&job.directory.file("target").join(scenario))?;
                let other = files(&job.directory.file(name))?;
                same_files(&own, &other).map_err(|reason| format!("{name}: {reason}"))
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn same_lines(own: &[u8], other: &[u8]) -> Result<(), String> {
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    if lines(own) != lines(other) {
        return Err(format!("{} lines, {} expected", lines(other), lines(own)));
    }
    let pairs = own.split(|byte| *byte == b'\n').zip(other.split(|byte| *byte == b'\n'));
    for (at, (own, other)) in pairs.enumerate() {
        if own != other && !same_json(own, other) {
            let (own, other) = (String::from_utf8_lossy(own), String::from_utf8_lossy(other));
            return Err(format!("line {} is\n  {other}\nand should be\n  {own}", at + 1));
        }
    }
    Ok(())
}

/// Name and content of the files in a folder that are not empty.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let content = read(&path)?;
        if !content.is_empty() {
            let name = path.file_name().unwrap_or_default();
            found.insert(name.to_string_lossy().into_owned(), content);
        }
    }
    Ok(found)
}

fn same_files(
    own: &BTreeMap<String, Vec<u8>>,
    other: &BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    if !own.keys().eq(other.keys()) {
        let names = |files: &BTreeMap<String, Vec<u8>>| {
            files.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        return Err(format!("it wrote {}; {} were expected", names(other), names(own)));
    }
    match own.iter().find(|(name, content)| other.get(*name) != Some(content)) {
        Some((name, _)) => Err(format!("`{name}` has other lines, or another order")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_line_and_another_value_are_found() {
        assert!(same_lines(b"{\"a\":1}\n[2]\n", b"{ \"a\": 1.0 }\n[2]\n").is_ok());
        assert!(same_lines(b"[1]\n[2]\n", b"[1]\n").unwrap_err().contains("1 lines"));
        assert!(same_lines(b"[1]\n[2]\n", b"[1]\n[3]\n").unwrap_err().contains("line 2"));
    }

    #[test]
    fn files_differ_by_name_and_by_content() {
        let files =
            |name: &str, text: &str| BTreeMap::from([(name.to_string(), text.as_bytes().to_vec())]);
        assert!(same_files(&files("a", "1"), &files("a", "1")).is_ok());
        assert!(same_files(&files("a", "1"), &files("b", "1")).is_err());
        assert!(same_files(&files("a", "1"), &files("a", "2")).is_err());
    }
}
