//! Events over sockets: what a message costs in processor time, beside other programs that do the same, and
//! what idle connections hold.
//!
//! Invariant: a figure stands only beside counts that fit; what was lost is a figure of its own.

mod bare;
mod http;
mod idle;
mod load;
mod server;
mod syslog;

pub use bare::serve as bare;

use server::Server;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Messages of each case.
    pub messages: usize,
    /// Seconds of each rate of datagrams.
    pub seconds: u64,
    /// Connections that say nothing.
    pub idle: usize,
}

/// Measures all cases, and gives the report as Markdown.
///
/// # Errors
/// A program cannot be started, or counts do not fit.
pub fn run(options: &Options) -> Result<String, String> {
    let folder = temporary()?;
    let mut report = String::from("| case | program | figure |\n|---|---|---|\n");
    let mut row = |case: &str, program: &str, figure: String| {
        eprintln!("{case}: {program}: {figure}");
        report.push_str(&format!("| {case} | {program} | {figure} |\n"));
    };
    syslog::streams(options, &folder, &mut row)?;
    syslog::datagrams(options, &folder, &mut row)?;
    http::bodies(options, &folder, &mut row)?;
    http::single(options, &folder, &mut row)?;
    http::bulk(options, &folder, &mut row)?;
    idle::connections(options, &folder, &mut row)?;
    let removed = std::fs::remove_dir_all(&folder);
    removed.map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(report)
}

/// Adds a line to the report: the case, the program, the figure.
type Row<'r> = &'r mut dyn FnMut(&str, &str, String);

fn temporary() -> Result<std::path::PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("temblor-bench-wire-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Messages per second of processor time.
fn per_cpu_second(messages: usize, server: &Server) -> String {
    let seconds = server.cpu_seconds().max(0.01);
    format!("{:.2} M messages per CPU second ({seconds:.2} s)", messages as f64 / seconds / 1e6)
}
