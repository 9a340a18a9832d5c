//! Plots as SVG text (W3C SVG 1.1): bars, and lines over a logarithmic scale.
//!
//! Invariant: a plot depends on its figures alone, so that results of two runs can be compared line by line.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 170.0;
const ROW: f64 = 24.0;
const COLOURS: [&str; 10] = [
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5",
    "#9c6b4e", "#9498a0",
];

/// One bar a row, with its figure beside it.
pub fn bars(title: &str, rows: &[(String, f64)], unit: &str) -> String {
    let height = 40.0 + ROW * rows.len() as f64;
    let most = rows.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = head(title, height);
    for (index, (name, value)) in rows.iter().enumerate() {
        let y = 36.0 + ROW * index as f64;
        let width = (WIDTH - LEFT - 130.0) * value / most;
        let colour = COLOURS[index % COLOURS.len()];
        let _ = writeln!(svg, "{}", text(LEFT - 8.0, y + 13.0, "end", name));
        let _ = writeln!(
            svg,
            r#"<rect x="{LEFT}" y="{y:.0}" width="{width:.1}" height="17" fill="{colour}"/>"#
        );
        let figure = format!("{value:.0} {unit}");
        let _ = writeln!(svg, "{}", text(LEFT + width + 6.0, y + 13.0, "start", &figure));
    }
    svg.push_str("</svg>\n");
    svg
}

/// A name and its points: percentile and latency in nanoseconds.
pub type Line = (String, Vec<(f64, u64)>);

/// Latency by percentile: both scales logarithmic, the horizontal one by distance to 100 %.
pub fn latencies(title: &str, lines: &[Line]) -> String {
    const HEIGHT: f64 = 420.0;
    const BOTTOM: f64 = 370.0;
    let mut svg = head(title, HEIGHT);
    let right = WIDTH - 170.0;
    // 50 % is at 0.3 on this scale, 99.999 % at 5.
    let x = |percentile: f64| {
        let nines = -((100.0 - percentile).max(0.001) / 100.0).log10();
        60.0 + (right - 60.0) * ((nines - 0.3) / 4.7).clamp(0.0, 1.0)
    };
    // From a microsecond to ten seconds.
    let y = |ns: u64| {
        let decades = (ns.max(1_000) as f64 / 1e3).log10().min(7.0);
        BOTTOM - (BOTTOM - 40.0) * decades / 7.0
    };
    for (ns, name) in
        [(1_000, "1 µs"), (100_000, "100 µs"), (10_000_000, "10 ms"), (1_000_000_000, "1 s")]
    {
        let _ = writeln!(svg, "{}", text(54.0, y(ns) + 4.0, "end", name));
        let _ = writeln!(svg, r##"<path d="M60 {:.1}H{right:.0}" stroke="#ddd"/>"##, y(ns));
    }
    for percentile in [50.0, 90.0, 99.0, 99.9, 99.99, 99.999] {
        let _ = writeln!(
            svg,
            "{}",
            text(x(percentile), BOTTOM + 18.0, "middle", &percentile.to_string())
        );
    }
    for (index, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let path: Vec<String> = points
            .iter()
            .filter(|(percentile, _)| *percentile < 100.0)
            .map(|(percentile, ns)| format!("{:.1} {:.1}", x(*percentile), y(*ns)))
            .collect();
        let _ = writeln!(
            svg,
            r#"<path d="M{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
            path.join("L")
        );
        let at = 50.0 + 18.0 * index as f64;
        let _ = writeln!(
            svg,
            r#"<rect x="{:.0}" y="{:.0}" width="10" height="10" fill="{colour}"/>"#,
            right + 12.0,
            at - 9.0
        );
        let _ = writeln!(svg, "{}", text(right + 28.0, at, "start", name));
    }
    svg.push_str("</svg>\n");
    svg
}

fn head(title: &str, height: f64) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let _ = writeln!(svg, "{}", text(WIDTH / 2.0, 22.0, "middle", title));
    svg
}

fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{content}</text>"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_hold_their_figures() {
        let svg = bars("T & U", &[("a<b".to_string(), 10.0), ("c".to_string(), 5.0)], "events/s");
        assert!(svg.contains("T &amp; U") && svg.contains("a&lt;b") && svg.contains("10 events/s"));
        assert_eq!(svg.matches("<rect").count(), 3);
        let line = ("x".to_string(), vec![(50.0, 1_000), (99.0, 1_000_000), (100.0, 5)]);
        let svg = latencies("L", &[line]);
        assert!(svg.contains("L") && svg.ends_with("</svg>\n") && svg.contains("M60.1 370.0L"));
    }
}
