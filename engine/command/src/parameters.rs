//! `--set` and `--args`: what is given to the `args` of programs and deployed flows.

use clap::Args;
use std::path::{Path, PathBuf};
use temblor_catalog::registry;
use temblor_lang::value::{Arena, Frozen};
use temblor_pipeline::load::LoadOptions;
use temblor_stdlib::formats::json;

#[derive(Clone, Debug, Args)]
pub(crate) struct ParameterArgs {
    /// An argument of the program, such as limit=10; may be repeated, and goes before --args
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// JSON file with arguments of the program, or of the deployed flows: a record
    #[arg(long, value_name = "FILE")]
    args: Option<PathBuf>,
}

/// Arguments as they were given.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    set: Vec<(String, String)>,
    args: Option<Frozen>,
}

impl ParameterArgs {
    /// Reads them; the error is a sentence.
    pub(crate) fn read(&self) -> Result<Parameters, String> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_string(), value.to_string()))
            }
            _ => Err(format!("--set {text}: expected NAME=VALUE, such as --set limit=10")),
        };
        let set: Vec<_> = self.set.iter().map(pair).collect::<Result<_, _>>()?;
        let args = self.args.as_deref().map(record).transpose()?;
        Ok(Parameters { args, set })
    }
}

impl Parameters {
    /// How a program is loaded with them.
    pub(crate) fn options(&self) -> LoadOptions<'_> {
        let options = LoadOptions::new(registry());
        LoadOptions { args: self.args.as_ref(), set: &self.set, ..options }
    }
}

/// The record in a file of `--args`.
fn record(file: &Path) -> Result<Frozen, String> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let arena = Arena::new();
    let value = json::parse(&text, &arena).map_err(|error| format!("{name}: {error}"))?;
    match value.as_record(&arena) {
        Some(_) => Ok(Frozen::new(value)),
        None => Err(format!("{name}: expected a JSON record of arguments")),
    }
}
