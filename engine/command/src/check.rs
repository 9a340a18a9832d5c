//! `temblor check`

use super::CheckArgs;
use super::expand::long_form;
use temblor_lang::lower::Risk;
use temblor_lang::span::Position;
use temblor_pipeline::load::{LoadOptions, Loaded};

/// Exit code when something is wrong with a program.
pub(crate) const FAULTY: u8 = 1;

/// Checks all files; the exit code says whether one of them has errors.
pub(crate) fn check(args: &CheckArgs) -> u8 {
    let mut faulty = false;
    let tables = match args.tables.open_if_any() {
        Ok(tables) => tables,
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    };
    let parameters = match args.parameters.read() {
        Ok(parameters) => parameters,
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    };
    let risks = args.can_fail;
    let options = LoadOptions { tables, risks, ..parameters.options().with_path(&args.path) };
    let texts = args.expression.iter().map(|text| Ok(options.text(text)));
    let files = args.files.iter().map(|file| options.check_file(file));
    let configuration = args.logstash.read().map(|read| read.map(|one| one.loaded));
    for loaded in texts.chain(files).chain(configuration) {
        match loaded {
            Ok(loaded) => {
                faulty |= report(&loaded, args.expand);
                if args.can_fail {
                    tell_risks(&loaded);
                }
            }
            Err(reason) => {
                eprintln!("error: {reason}");
                faulty = true;
            }
        }
    }
    if faulty { FAULTY } else { 0 }
}

/// Prints what can fail, and how it is mended at the least cost.
fn tell_risks(loaded: &Loaded) {
    let name = &loaded.program.name;
    for Risk { span, reason, mend } in &loaded.risks {
        let Position { line, column } = loaded.sources.position(*span);
        println!("{name}:{line}:{column}: {reason}\n    {mend}");
    }
    let count = loaded.risks.len();
    println!("{name}: {count} {} can fail", if count == 1 { "place" } else { "places" });
}

fn report(loaded: &Loaded, expand: bool) -> bool {
    eprint!("{}", loaded.report(true));
    if expand && !loaded.has_errors() {
        print!("{}", long_form(&loaded.program.name, &loaded.program.text));
    }
    loaded.has_errors()
}
