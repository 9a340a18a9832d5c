//! Lookup tables as `--table` declares them: `hosts=hosts.csv`, and behind it
//! `,mode=cidr`, `,key=COLUMN`, `,until=COLUMN`, `,reload=30s`. All are read before the first event.

use clap::Args;
use std::time::Duration;
use temblor_lang::units::parse_duration;
use temblor_pipeline::lookup::{Lookup, MODES, Matching, NamedTables, Plan};

/// The lookup tables of a command.
#[derive(Clone, Debug, Args)]
pub(crate) struct TableArgs {
    /// Lookup table for std::lookup and enrich: NAME=FILE[,mode=exact|cidr|regex|range][,key=COLUMN]
    /// [,until=COLUMN][,reload=30s]; may be repeated
    #[arg(long, value_name = "NAME=FILE")]
    table: Vec<String>,
}

impl TableArgs {
    /// Reads the tables.
    ///
    /// # Errors
    /// A sentence about the first declaration that is wrong or whose file is no table.
    pub(crate) fn open(&self) -> Result<NamedTables, String> {
        open(&self.table)
    }

    /// As [`TableArgs::open`], for commands that may leave tables to a later one: `None` when no
    /// table is declared.
    pub(crate) fn open_if_any(&self) -> Result<Option<NamedTables>, String> {
        if self.table.is_empty() { Ok(None) } else { self.open().map(Some) }
    }
}

fn open(declarations: &[String]) -> Result<NamedTables, String> {
    let mut tables = NamedTables::default();
    for declaration in declarations {
        let (name, plan, every) = parse(declaration)?;
        let lookup = Lookup::open(plan, every).map_err(|why| format!("table {name}: {why}"))?;
        if tables.insert(&name, lookup).is_some() {
            return Err(format!("table {name}: declared twice"));
        }
    }
    Ok(tables)
}

/// Name, plan and time between two looks at the file.
type Declared = (String, Plan, Option<Duration>);

fn parse(declaration: &str) -> Result<Declared, String> {
    let wanted = || format!("table {declaration}: expected NAME=FILE such as hosts=hosts.csv");
    let (name, rest) = declaration.split_once('=').ok_or_else(wanted)?;
    let mut parts = rest.split(',');
    let path = parts.next().filter(|path| !path.is_empty() && !name.is_empty());
    let path = path.ok_or_else(wanted)?.into();
    let mut plan = Plan { path, matching: Matching::Exact, key: None, until: None };
    let mut every = None;
    for part in parts {
        let (option, value) = part.split_once('=').unwrap_or((part, ""));
        match option {
            "mode" => plan.matching = mode(value).map_err(|why| format!("table {name}: {why}"))?,
            "key" => plan.key = Some(value.to_string()),
            "until" => plan.until = Some(value.to_string()),
            "reload" => {
                let nanos = parse_duration(value).filter(|nanos| *nanos > 0);
                let wanted = || format!("table {name}: reload: expected a duration such as 30s");
                every = Some(Duration::from_nanos(nanos.ok_or_else(wanted)?));
            }
            _ => {
                return Err(format!(
                    "table {name}: unknown option `{option}`; there are mode, key, until, reload"
                ));
            }
        }
    }
    let is_range = plan.matching == Matching::Range;
    match (is_range, plan.until.is_some()) {
        (true, false) => Err(format!("table {name}: mode=range needs until=COLUMN")),
        (false, true) => Err(format!("table {name}: until=COLUMN is for mode=range only")),
        _ => Ok((name.to_string(), plan, every)),
    }
}

fn mode(word: &str) -> Result<Matching, String> {
    let found = MODES.iter().find(|(name, _)| *name == word);
    found
        .map(|(_, matching)| *matching)
        .ok_or_else(|| format!("unknown mode `{word}`; there are exact, cidr, regex, range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_or_refused() {
        let (name, plan, every) =
            parse("nets=a b.csv,mode=range,key=from,until=to,reload=1.5s").expect("good");
        assert_eq!((name.as_str(), plan.matching), ("nets", Matching::Range));
        assert_eq!(plan.path.to_str(), Some("a b.csv"));
        assert_eq!((plan.key.as_deref(), plan.until.as_deref()), (Some("from"), Some("to")));
        assert_eq!(every, Some(Duration::from_millis(1500)));
        for (declaration, reason) in [
            ("hosts", "expected NAME=FILE"),
            ("=a.csv", "expected NAME=FILE"),
            ("a=", "expected NAME=FILE"),
            ("a=b.csv,mode=best", "unknown mode `best`"),
            ("a=b.csv,mod=cidr", "unknown option `mod`"),
            ("a=b.csv,reload=0s", "expected a duration"),
            ("a=b.csv,mode=range", "needs until"),
            ("a=b.csv,until=x", "mode=range only"),
        ] {
            let error = parse(declaration).expect_err(declaration);
            assert!(error.contains(reason), "{declaration}: {error}");
        }
        let missing = open(&["a=/no/such/file.csv".to_string()]);
        assert!(missing.expect_err("no file").starts_with("table a: /no/such/file.csv"));
        assert!(open(&[]).expect("nothing is wrong").shared().is_none());
    }
}
