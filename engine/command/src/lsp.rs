//! `temblor lsp`: serves an editor over standard input and output.

use super::check::FAULTY;
use clap::Args;
use std::path::PathBuf;
use temblor_lsp::serve;

/// The stack of the thread that reads texts: deep ones must not end the conversation.
const STACK_BYTES: usize = 64 << 20;

/// What can be typed behind `temblor lsp`.
#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Directory with module files; may be repeated (also: TEMBLOR_PATH, TREMOR_PATH)
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    /// Speak over standard input and output; it is the only way, and many editors add the word
    #[arg(long)]
    stdio: bool,
}

/// Serves until the editor leaves; gives the exit code.
pub(crate) fn lsp(args: &LspArgs) -> u8 {
    let path = args.path.clone();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| serve(path));
    let result = match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err("temblor itself has a bug: the message is above".to_string()),
        Err(error) => Err(error.to_string()),
    };
    match result {
        Ok(()) => 0,
        Err(reason) => {
            eprintln!("error: {reason}");
            FAULTY
        }
    }
}
