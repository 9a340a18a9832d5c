//! `temblor ctl`: what is asked of a running Temblor through its control socket.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use temblor_operate::answers::encoded;
use temblor_operate::control::{self, SOCKET_NAME};

/// Exit code when nobody listens at the socket, or the answer is a refusal.
const REFUSED: u8 = 1;

#[derive(Debug, Args)]
pub(crate) struct CtlArgs {
    #[command(flatten)]
    whom: WhomArgs,
    #[command(subcommand)]
    what: What,
}

/// Which run is asked.
#[derive(Clone, Debug, Args)]
pub(crate) struct WhomArgs {
    /// The control socket of the run
    #[arg(long, value_name = "PATH", global = true)]
    control: Option<PathBuf>,
    /// The state directory of the run, which holds its control socket
    #[arg(long, value_name = "DIR", global = true)]
    state: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    whom: WhomArgs,
    /// Another program file [default: the one that runs]
    program: Option<PathBuf>,
    /// Only say what would begin, end and be forgotten
    #[arg(long)]
    dry_run: bool,
}

/// `temblor reload`: the same as `temblor ctl reload`.
pub(crate) fn reload(args: &ReloadArgs) -> u8 {
    let ReloadArgs { whom, program, dry_run } = args;
    let what = What::Reload { program: program.clone(), dry_run: *dry_run };
    ctl(&CtlArgs { whom: whom.clone(), what })
}

#[derive(Debug, Subcommand)]
enum What {
    /// Sources, sinks, queue and errors, as JSON
    Status,
    /// Whether events are taken, and why not, as JSON; exit code 1 when they are not
    Ready,
    /// The metrics, as text
    Metrics,
    /// Read the program again and put it into the place of the one that runs
    Reload {
        /// Another program file [default: the one that runs]
        program: Option<PathBuf>,
        /// Only say what would begin, end and be forgotten
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop: take in nothing more, bring what was read to its end, save, exit
    Drain,
    /// Change how much is logged: off, error, warn, info, debug or trace
    Log {
        /// The level
        level: String,
    },
}

/// Asks, and prints the answer.
pub(crate) fn ctl(args: &CtlArgs) -> u8 {
    let below_state = args.whom.state.as_ref().map(|directory| directory.join(SOCKET_NAME));
    let Some(path) = args.whom.control.clone().or(below_state) else {
        eprintln!("error: which run? give --control PATH, or --state DIR");
        return REFUSED;
    };
    let (method, target) = match &args.what {
        What::Status => ("GET", "/status".to_string()),
        What::Ready => ("GET", "/ready".to_string()),
        What::Metrics => ("GET", "/metrics".to_string()),
        What::Reload { program, dry_run } => {
            // The run may have another working directory.
            let absolute =
                program.as_ref().map(|one| std::path::absolute(one).unwrap_or(one.clone()));
            let program =
                absolute.map(|one| format!("&program={}", encoded(&one.to_string_lossy())));
            ("POST", format!("/reload?dry_run={dry_run}{}", program.unwrap_or_default()))
        }
        What::Drain => ("POST", "/drain".to_string()),
        What::Log { level } => ("POST", format!("/log?level={}", encoded(level))),
    };
    match control::ask(&path, method, &target) {
        Ok((status, body)) => {
            print!("{body}");
            if status < 400 { 0 } else { REFUSED }
        }
        Err(error) => {
            eprintln!("error: {}: {error}", path.display());
            eprintln!("  help: is the run up, and was it started with this --control or --state?");
            REFUSED
        }
    }
}
