//! The results of two engines, line by line. They are equal when they are the same JSON.

use crate::engine::{Counts, Engine, Outcome};
use temblor_bench::equality::same_json;

/// What one engine made of every line.
pub struct Results {
    /// The name of the engine.
    pub engine: String,
    /// One encoded result per line; `None` where there is none.
    pub lines: Vec<Option<Vec<u8>>>,
    /// How many lines had which outcome.
    pub counts: Counts,
}

/// Runs `engine` once over `lines` and keeps all it wrote.
pub fn collect(engine: &mut dyn Engine, lines: &[String]) -> Results {
    let mut counts = Counts::default();
    let results = lines
        .iter()
        .map(|line| {
            let mut out = Vec::new();
            let outcome = engine.run(line.as_bytes(), &mut out);
            counts.add(outcome);
            (outcome == Outcome::Emitted).then_some(out)
        })
        .collect();
    Results { engine: engine.name().to_string(), lines: results, counts }
}

/// The number of lines on which the two differ, and a description of the first one.
pub fn differences(left: &Results, right: &Results) -> (usize, Option<String>) {
    let mut count = 0;
    let mut first = None;
    for (index, (a, b)) in left.lines.iter().zip(&right.lines).enumerate() {
        if same_line(a.as_deref(), b.as_deref()) {
            continue;
        }
        count += 1;
        first.get_or_insert_with(|| {
            format!(
                "line {}:\n  {}: {}\n  {}: {}",
                index + 1,
                left.engine,
                shown(a.as_deref()),
                right.engine,
                shown(b.as_deref())
            )
        });
    }
    (count, first)
}

fn shown(line: Option<&[u8]>) -> String {
    line.map_or_else(|| "no result".to_string(), |line| String::from_utf8_lossy(line).into_owned())
}

fn same_line(left: Option<&[u8]>, right: Option<&[u8]>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => same_json(left, right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::same_line;

    #[test]
    fn a_result_is_never_equal_to_none() {
        assert!(same_line(None, None));
        assert!(same_line(Some(b"[1]"), Some(b"[1.0]")));
        assert!(!same_line(Some(b"1"), None));
    }
}
