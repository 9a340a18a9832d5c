//! Two programs over the same samples: how many come out the same, and for the others what differs.

use super::pipeline::{Pipeline, SAMPLES_MAX, read};
use super::samples::Samples;
use super::view::{difference, paint};
use std::time::{Duration, Instant};
use temblor_lang::diagnostic::Colour;
use temblor_pipeline::rehearsal::Happening;

/// Samples whose differences are shown.
const SHOWN: usize = 5;

/// What came of a sample.
struct Result {
    outputs: Vec<(String, String)>,
    /// In words; the same for all that is the same.
    label: String,
    key: String,
}

fn result(pipeline: &mut Pipeline, sample: &super::samples::Sample, took: &mut Duration) -> Result {
    let started = Instant::now();
    let happenings = pipeline.send(sample);
    *took += started.elapsed();
    let outputs = happenings.iter().filter_map(|one| match one {
        Happening::Output { port, data, .. } => Some((port.clone(), data.clone())),
        _ => None,
    });
    let (class, _, label) = pipeline.outcome(&happenings);
    let failed = happenings.iter().find_map(|one| match one {
        Happening::Failed { error, .. } => Some(error.code()),
        _ => None,
    });
    let key = format!("{class:?} {}", failed.unwrap_or_default());
    Result { outputs: outputs.collect(), label, key }
}

/// Sends all samples through both.
pub(crate) fn compare(
    mut old: Pipeline,
    mut new: Pipeline,
    samples: &mut Samples,
) -> std::result::Result<String, String> {
    let colour = new.setup.colour;
    let (mut same, mut differs) = (0, Vec::new());
    let (mut old_took, mut new_took) = (Duration::ZERO, Duration::ZERO);
    let mut shown = String::new();
    for index in 0..SAMPLES_MAX {
        new.setup.check()?;
        let Some(sample) = samples.read(index)? else { break };
        let before = result(&mut old, &sample, &mut old_took);
        let after = result(&mut new, &sample, &mut new_took);
        if before.outputs == after.outputs && before.key == after.key {
            same += 1;
            continue;
        }
        differs.push(index + 1);
        if differs.len() <= SHOWN {
            let head = format!("sample {}", index + 1);
            shown.push_str(&format!("{}\n", paint(colour, "1", &head)));
            shown.push_str(&describe(&before, &after, colour));
        }
    }
    let count = same + differs.len();
    if count == 0 {
        return Err("error: there are no samples to compare with".to_string());
    }
    let each = |took: Duration| took.as_nanos() / count as u128;
    let (late_old, late_new) = (flushed(&mut old), flushed(&mut new));
    let mut text = format!("{count} samples: {same} the same, {} not\n", differs.len());
    text.push_str(&shown);
    if differs.len() > SHOWN {
        let rest: Vec<_> = differs[SHOWN..].iter().take(20).map(usize::to_string).collect();
        text.push_str(&format!("also different: {}\n", rest.join(", ")));
    }
    if late_old != late_new {
        text.push_str(&format!("at the end of the input\n- {late_old}\n+ {late_new}\n"));
    }
    if let Colour::On = colour {
        let line = format!("{} ns each, now {} ns", each(old_took), each(new_took));
        text.push_str(&format!("{}\n", paint(colour, "2", &line)));
    }
    Ok(text)
}

/// What comes out at the end of the input, in one line.
fn flushed(pipeline: &mut Pipeline) -> String {
    let lines = pipeline.flush().into_iter().map(|one| match one {
        Happening::Output { port, data, .. } => format!("{port}: {data}"),
        other => pipeline.outcome(std::slice::from_ref(&other)).2,
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// One event each on the same port differ by their fields, all else by what became of it.
fn describe(before: &Result, after: &Result, colour: Colour) -> String {
    if let ([(old_port, old)], [(new_port, new)]) =
        (before.outputs.as_slice(), after.outputs.as_slice())
        && old_port == new_port
    {
        return difference(&read(old), &read(new), colour);
    }
    let side = |result: &Result, sign: char, code: &str| {
        let mut lines: Vec<String> =
            result.outputs.iter().map(|(port, data)| format!("{sign} {port}: {data}")).collect();
        if lines.is_empty() {
            lines.push(format!("{sign} {}", result.label));
        }
        lines.iter().map(|line| format!("{}\n", paint(colour, code, line))).collect::<String>()
    };
    side(before, '-', "31") + &side(after, '+', "32")
}
