//! Scenarios are folders: `scenario.json`, a `README.md` and the programs of the engines. A new folder is a new scenario.

use crate::engine::{Counts, Engine, Input};
use crate::tape::Bare;
use crate::temblor::Temblor;
use crate::tremor::Tremor;
use crate::vrl_engine::Vrl;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use temblor_bench::workload::Workload;

/// What `scenario.json` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    workload: String,
    seed: u64,
    events: usize,
    input: Input,
    expect: Counts,
    /// A file of real data that the scenario also runs over, when it is there.
    real: Option<String>,
}

/// One set of lines that the programs run over.
pub struct Data {
    /// `generated`, or the name of the file.
    pub name: String,
    /// The lines.
    pub lines: Vec<String>,
    /// The outcomes that every engine must have, where they are known.
    pub expect: Option<Counts>,
}

/// A scenario with its data in memory.
pub struct Scenario {
    /// The name of the folder.
    pub name: String,
    /// How lines are read.
    pub input: Input,
    /// Generated data, then real data.
    pub data: Vec<Data>,
    folder: PathBuf,
}

impl Scenario {
    /// Reads the scenario in `folder`, generates its data and reads real data from `real_data`.
    pub fn load(folder: &Path, real_data: &Path) -> Result<Self, String> {
        let file = folder.join("scenario.json");
        let text = read(&file)?;
        let described: Description =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let workload = Workload::named(&described.workload).ok_or_else(|| {
            format!("{}: there is no workload `{}`", file.display(), described.workload)
        })?;
        let mut data = vec![Data {
            name: "generated".to_string(),
            lines: workload.lines(described.seed, described.events),
            expect: Some(described.expect),
        }];
        data.extend(described.real.and_then(|name| real(real_data, &name)));
        let name =
            folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        Ok(Self { name, input: described.input, data, folder: folder.to_path_buf() })
    }

    /// Compiles the program of every engine that has one; the bare limit comes first, tremor second, and
    /// Temblor, which runs tremor's script as it is, third.
    pub fn engines(&self) -> Result<Vec<Box<dyn Engine>>, String> {
        let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Bare::new(self.input))];
        let script = read(&self.folder.join("peer.tremor"))?;
        let named = |error| format!("{}/peer.tremor:\n{error}", self.name);
        engines.push(Box::new(Tremor::prepare(&script, self.input).map_err(named)?));
        engines.push(Box::new(Temblor::prepare("peer.tremor", &script, self.input)?));
        for file in self.vrl_files()? {
            let stem =
                file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
            let name = if stem == "peer" { "vrl".to_string() } else { stem };
            let engine = Vrl::prepare(&name, &read(&file)?, self.input)
                .map_err(|error| format!("{}:\n{error}", file.display()))?;
            engines.push(Box::new(engine));
        }
        Ok(engines)
    }

    fn vrl_files(&self) -> Result<Vec<PathBuf>, String> {
        let mut files: Vec<PathBuf> = entries(&self.folder)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "vrl"))
            .collect();
        files.sort();
        Ok(files)
    }
}

/// The folders below `root` that hold a `scenario.json`, by name.
pub fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = entries(root)?;
    found.retain(|path| path.join("scenario.json").is_file());
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn real(folder: &Path, name: &str) -> Option<Data> {
    let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
        eprintln!("SKIPPED: the real data {name} is not in {}", folder.display());
        return None;
    };
    let lines = text.lines().map(str::to_string).collect();
    Some(Data { name: name.to_string(), lines, expect: None })
}
