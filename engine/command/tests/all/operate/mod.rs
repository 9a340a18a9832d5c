//! Watching and steering a run: metrics and health, the control socket, shutdown, reload, and the fire range.

mod asking;
mod watching;
mod shutdown;
mod reload;
mod confines;
mod fire;
mod delivery;

/// The page about metrics is made from their rows: `TEMBLOR_BLESS=1` writes it.
#[test]
fn the_page_of_metrics_is_what_their_rows_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../METRICS.md");
    let page = temblor_operate::metrics::page();
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "engine/METRICS.md is stale: run with TEMBLOR_BLESS=1");
    for metric in temblor_operate::metrics::METRICS {
        assert!(metric.doc.ends_with('.'), "{} has no sentence", metric.name);
    }
}
