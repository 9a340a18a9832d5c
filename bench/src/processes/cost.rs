//! What a child process took: the system counts the processor time of children that have ended, in
//! steps of a clock tick (usually 10 ms).

pub(crate) use crate::core::measure::Cost;
use std::time::Instant;

/// The cost of `work`, which starts processes and waits for their end.
pub(crate) fn of(work: impl FnOnce() -> Result<(), String>) -> Result<Cost, String> {
    let (cpu, wall) = (children_cpu_s()?, Instant::now());
    work()?;
    let wall_s = wall.elapsed().as_secs_f64();
    Ok(Cost { cpu_s: children_cpu_s()? - cpu, wall_s })
}

/// Processor time of all children that were waited for: fields 16 and 17 of `proc(5)`'s stat.
fn children_cpu_s() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    // The name stands in parentheses and may hold blanks; what follows it begins with field 3.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    let ticks: Option<Vec<f64>> =
        fields.skip(16 - 3).take(2).map(|field| field.parse().ok()).collect();
    let ticks = ticks.filter(|ticks| ticks.len() == 2).ok_or("/proc/self/stat is unreadable")?;
    Ok((ticks[0] + ticks[1]) / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_child_that_computes_is_counted() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]);
        let cost = super::of(|| shell.status().map(drop).map_err(|error| error.to_string()));
        let cost = cost.expect("there is a shell");
        assert!(cost.cpu_s > 0.0 && cost.wall_s > 0.0, "{cost:?}");
    }
}
