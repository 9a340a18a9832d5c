//! A run that is killed again and again.
//!
//! Invariant: no line is lost, none is torn, and where order is kept none is repeated.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use temblor_runtime::outbox::Order;
use temblor_runtime::run::RunPlan;

use crate::runtime::support::{Directory, copy, lines, plan};

/// Tells the test binary that it is the child, and where its files are.
const CHILD: &str = "TEMBLOR_TEST_CRASH_DIRECTORY";
/// Tells the child the order.
const ORDER: &str = "TEMBLOR_TEST_CRASH_ORDER";
const KILLS: u64 = 6;
const LINES: usize = 80_000;

/// The run that is killed; does nothing when it is not the child.
#[test]
fn child() {
    let Ok(directory) = std::env::var(CHILD) else { return };
    let directory = Path::new(&directory);
    let order = match std::env::var(ORDER).as_deref() {
        Ok("any") => Order::Any,
        _ => Order::Source,
    };
    let (input, output) = (directory.join("in.log"), directory.join("out"));
    let state = Some(directory.join("state"));
    copy(RunPlan { workers: 2, order, state, ..plan(&input, &output) });
}

fn start(directory: &Directory, order: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "runtime::crash::child"]);
    command.env(CHILD, &directory.0).env(ORDER, order);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Kills runs at different lengths of output, then lets one finish. Returns input and output.
fn kill_and_finish(order: &str) -> (Vec<u8>, Vec<u8>) {
    let directory = Directory::new(&format!("crash-{order}"));
    let content = lines(LINES);
    directory.write("in.log", &content);
    let output = directory.path("out");
    let mut seed = 0x9e37_79b9_u64;
    for kill in 1..=KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Somewhere in the share of the output that belongs to this kill.
        let share = content.len() as u64 / (KILLS + 1);
        let enough = share * (kill - 1) + (seed >> 33) % share;
        let mut child = start(&directory, order);
        while length(&output) <= enough && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(start(&directory, order).wait().unwrap().success());
    (content, std::fs::read(output).unwrap())
}

#[test]
fn a_killed_run_goes_on_without_loss_or_repeat() {
    let (input, output) = kill_and_finish("source");
    assert!(input == output, "{} bytes in, {} bytes out", input.len(), output.len());
}

#[test]
fn without_order_lines_may_be_repeated_but_none_is_lost_or_torn() {
    let (input, output) = kill_and_finish("any");
    let expected: HashSet<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let found: HashSet<&[u8]> = output.split(|byte| *byte == b'\n').collect();
    assert_eq!(expected.difference(&found).count(), 0, "lines lost");
    assert_eq!(found.difference(&expected).count(), 0, "lines torn");
}
