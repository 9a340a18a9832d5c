//! The peers' tables as part of the report. They are a program of their own, since their hundreds of
//! crates would burden every build; where it has not been built, the report says how to.

use std::path::Path;
use std::process::{Command, Stdio};

/// What builds the program.
const BUILD: &str = "cargo build --release --manifest-path bench/peers/Cargo.toml";

/// The tables of `program` as Markdown, or how to come by them.
///
/// # Errors
/// When the program fails: an engine's output differs, or a count is wrong.
pub(super) fn tables(program: &Path) -> Result<String, String> {
    if !program.is_file() {
        return Ok(format!(
            "The peers were not measured: {} is not there. `{BUILD}` builds it.\n",
            program.display()
        ));
    }
    let failed = |reason: &dyn std::fmt::Display| format!("{}: {reason}", program.display());
    let output =
        Command::new(program).stderr(Stdio::inherit()).output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&format!("{}; what differs is printed above", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_start_matches('\n').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_to_build_what_is_not_there() {
        let text = tables(Path::new("no/such/peers")).expect("no error");
        assert!(text.contains("no/such/peers") && text.contains(BUILD), "{text}");
    }

    #[test]
    fn takes_what_the_program_prints_and_hands_its_failure_on() {
        assert_eq!(tables(Path::new("/bin/true")).as_deref(), Ok(""));
        assert!(tables(Path::new("/bin/false")).is_err());
    }
}
