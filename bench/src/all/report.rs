//! The report of all scenarios: a Markdown page and the same figures as JSON.

use super::sweep::Sweep;
use super::{Figures, Row};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use temblor_generate::inject::Measurement;
use temblor_generate::inject::outcome::duration;

/// The page.
pub(super) fn markdown(figures: &Figures) -> String {
    let mut text = "# Results of `temblor-bench all`\n\n| | |\n|---|---|\n".to_string();
    for (name, value) in &figures.machine {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text.push_str(
        "\nThe injector and the writer run on the same cores as the workers. With a load average well above \
         the number of busy threads, wall-clock figures say less than CPU time per event. The limit is what the \
         bytes of a scenario cost at the very least, in memory: lines found with memchr, and simd-json's tape parse of each for \
         JSON, a copy for text. The figures of Temblor beside it are of all that moves events, from the source to the sink.\n\n\
         | scenario | 1 worker, events/s | MB/s | CPU, ns/event | limit, ns/event | of the limit's speed | 2 workers, events/s \
         | p50 at half load | p99 | p99.99 | max |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    figures.rows.iter().for_each(|row| scenario(&mut text, row));
    text.push_str(
        "\n## Generators\n\n| generator | events/s of a core | MB/s |\n|---|---:|---:|\n",
    );
    for one in &figures.generators {
        let (events, megabytes) = (one.events_per_second, one.bytes_per_second / 1e6);
        let _ = writeln!(text, "| {} | {events:.0} | {megabytes:.0} |", one.kind);
    }
    figures.sweeps.iter().for_each(|sweep| swept(&mut text, sweep));
    text.push_str("\n## Start\n\n| from the start of the process | ms |\n|---|---:|\n");
    for (name, milliseconds) in &figures.starts {
        let _ = writeln!(text, "| {name} | {milliseconds:.1} |");
    }
    let _ = write!(text, "\n## Beside the peers\n\n{}", figures.peers);
    let _ = write!(text, "\n## Stages\n\n{}", figures.stages);
    for subject in figures.stages.unexplained() {
        let _ = writeln!(text, "\nThe stages of `{subject}` do not add up to the whole.");
    }
    text.push_str(
        "\n![throughput](throughput.svg)\n![scaling](scaling.svg)\n![latency](latency.svg)\n",
    );
    text
}

fn scenario(text: &mut String, row: &Row) {
    let at = |percentile: f64| {
        let found = row.half.latency_ns.iter().find(|(known, _)| *known == percentile);
        found.map_or_else(String::new, |(_, ns)| duration(*ns))
    };
    let _ = writeln!(
        text,
        "| {} | {:.0} | {:.0} | {:.0} | {:.0} ({}) | {:.2} | {:.0} | {} | {} | {} | {} |",
        row.name,
        row.one.events_per_second,
        row.one.bytes_per_second / 1e6,
        row.one.cpu_ns_per_event,
        row.limit.ns_per_event,
        row.limit.name,
        row.limit.ns_per_event / row.one.cpu_ns_per_event,
        row.two.events_per_second,
        at(50.0),
        at(99.0),
        at(99.99),
        at(100.0)
    );
}

fn swept(text: &mut String, sweep: &Sweep) {
    let _ = write!(
        text,
        "\n## {}: sizes of batches and numbers of workers\n\n\
         | batch | workers | events/s | CPU, ns/event |\n|---:|---:|---:|---:|\n",
        sweep.scenario
    );
    for point in &sweep.points {
        let _ = writeln!(
            text,
            "| {} KiB | {} | {:.0} | {:.0} |",
            point.batch_bytes >> 10,
            point.workers,
            point.events_per_second,
            point.cpu_ns_per_event
        );
    }
}

/// The figures.
pub(super) fn json(figures: &Figures) -> String {
    let case = |figures: &Measurement| {
        let latency = figures.latency_ns.iter().map(|(at, ns)| (at.to_string(), json!(ns)));
        json!({
            "events_per_second": figures.events_per_second,
            "bytes_per_second": figures.bytes_per_second,
            "cpu_ns_per_event": figures.cpu_ns_per_event,
            "cores": figures.cores,
            "latency_ns": latency.collect::<Map<_, _>>(),
        })
    };
    let scenarios = figures.rows.iter().map(|row| {
        let figures = json!({
            "limit": {"name": row.limit.name, "ns_per_event": row.limit.ns_per_event},
            "closed_1": case(&row.one),
            "closed_2": case(&row.two),
            "open_half_1": case(&row.half),
        });
        (row.name.clone(), figures)
    });
    let sweeps = figures.sweeps.iter().map(|sweep| {
        let point = |point: &super::sweep::Point| {
            json!({
                "batch_bytes": point.batch_bytes,
                "workers": point.workers,
                "events_per_second": point.events_per_second,
                "cpu_ns_per_event": point.cpu_ns_per_event,
            })
        };
        (sweep.scenario.clone(), sweep.points.iter().map(point).collect::<Value>())
    });
    let generators = figures.generators.iter().map(|one| {
        let (events, bytes) = (one.events_per_second, one.bytes_per_second);
        (one.kind.to_string(), json!({"events_per_second": events, "bytes_per_second": bytes}))
    });
    let machine = figures.machine.iter().map(|(name, value)| (name.clone(), json!(value)));
    let whole = json!({
        "machine": machine.collect::<Map<_, _>>(),
        "scenarios": scenarios.collect::<Map<_, _>>(),
        "sweeps": sweeps.collect::<Map<_, _>>(),
        "generators": generators.collect::<Map<_, _>>(),
        "stages": figures.stages.json(),
        "start_ms": figures.starts.iter().copied().collect::<Value>(),
    });
    format!("{whole:#}\n")
}
