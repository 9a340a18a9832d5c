//! `temblor check`

use super::CheckArgs;
use super::expand::long_form;
use crate::load::{self, Given, Loaded};

/// Exit code when something is wrong with a program.
pub const FAULTY: u8 = 1;

/// Checks all files; the exit code says whether one of them has errors.
pub fn check(args: &CheckArgs) -> u8 {
    let mut faulty = false;
    let tables = match args.tables.open_if_any() {
        Ok(tables) => tables,
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    };
    let given = Given { tables, args: None };
    let texts = args.expression.iter().map(|text| Ok(load::load_text(text, &args.path, &given)));
    let files = args.files.iter().map(|file| load::check_file(file, &args.path, &given));
    let configuration = args.logstash.read().map(|read| read.map(|one| one.loaded));
    for loaded in texts.chain(files).chain(configuration) {
        match loaded {
            Ok(loaded) => faulty |= report(&loaded, args.expand),
            Err(reason) => {
                eprintln!("error: {reason}");
                faulty = true;
            }
        }
    }
    if faulty { FAULTY } else { 0 }
}

fn report(loaded: &Loaded, expand: bool) -> bool {
    eprint!("{}", loaded.report(true));
    if expand && !loaded.has_errors() {
        print!("{}", long_form(&loaded.program.name, &loaded.program.text));
    }
    loaded.has_errors()
}
