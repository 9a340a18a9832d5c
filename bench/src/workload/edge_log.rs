//! Log lines of a web edge: fifty tab-separated fields inside the `message` of a JSON event. No field is empty: `-` stands for nothing.

use super::{Random, words};

/// The fields of a line in their order.
pub const EDGE_LOG_FIELDS: [&str; 50] = [
    "time",
    "edge_host",
    "client_ip",
    "client_port",
    "method",
    "scheme",
    "host",
    "path",
    "query",
    "http_version",
    "status",
    "bytes_out",
    "bytes_in",
    "duration_us",
    "first_byte_us",
    "referrer",
    "user_agent",
    "cache_status",
    "cache_key",
    "cache_age",
    "origin_host",
    "origin_ip",
    "origin_status",
    "origin_duration_us",
    "tls_version",
    "tls_cipher",
    "tls_name",
    "country",
    "region",
    "city",
    "asn",
    "request_id",
    "session_id",
    "user_id",
    "content_type",
    "content_encoding",
    "accept_language",
    "accept_encoding",
    "byte_range",
    "etag",
    "waf_action",
    "waf_rule",
    "bot_score",
    "rate_bucket",
    "retries",
    "compression",
    "shard",
    "worker",
    "trace_id",
    "labels",
];

const SITES: [&str; 8] = ["fra", "ams", "iad", "sjc", "sin", "syd", "gru", "nrt"];

/// Generates `count` events of about 1.9 KB.
pub fn edge_log_lines(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::seeded(seed);
    (0..count).map(|index| event(&mut random, index)).collect()
}

fn event(random: &mut Random, index: usize) -> String {
    let fields = fields(random, index);
    let mut note = String::new();
    words::push_sentence(random, 560, &mut note);
    format!(
        "{{\"source\":\"edge\",\"sequence\":{index},\"collector\":\"collector-{}\",\"note\":\"{note}\",\"message\":\"{}\"}}",
        random.between(1, 5),
        fields.join("\\t"),
    )
}

fn fields(random: &mut Random, index: usize) -> Vec<String> {
    let site = random.pick(&SITES);
    let mut fields = request_fields(random, site, index);
    fields.extend(delivery_fields(random, site));
    fields.extend(client_fields(random));
    fields.extend(control_fields(random));
    debug_assert_eq!(fields.len(), EDGE_LOG_FIELDS.len());
    fields
}

/// `time` to `referrer`.
fn request_fields(random: &mut Random, site: &str, index: usize) -> Vec<String> {
    let second = index / 10;
    vec![
        format!(
            "2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            second / 86_400 % 28 + 1,
            second / 3_600 % 24,
            second / 60 % 60,
            second % 60,
            index % 10 * 100 + 7,
        ),
        format!("{site}{}-edge-{:02}", random.between(1, 4), random.between(1, 40)),
        words::address(random),
        random.between(1_024, 65_536).to_string(),
        random.skewed(&["GET", "POST", "HEAD"]).to_string(),
        random.skewed(&["https", "http"]).to_string(),
        format!("{}.example.com", random.pick(&["www", "api", "static", "img"])),
        words::path(random, 4),
        or_nothing(random, 600, |random| format!("page={}&sort=name", random.below(90))),
        random.pick(&["1.1", "2.0", "3.0"]).to_string(),
        random.skewed(&["200", "304", "404", "500"]).to_string(),
        random.between(200, 90_000).to_string(),
        random.between(100, 4_000).to_string(),
        random.between(90, 2_000_000).to_string(),
        random.between(50, 90_000).to_string(),
        or_nothing(random, 500, |random| {
            format!("https://search.example.net{}", words::path(random, 2))
        }),
    ]
}

/// `user_agent` to `tls_name`.
fn delivery_fields(random: &mut Random, site: &str) -> Vec<String> {
    vec![
        words::user_agent(random),
        random.skewed(&["hit", "miss", "stale", "bypass"]).to_string(),
        words::hex(random, 32),
        or_nothing(random, 700, |random| random.below(86_400).to_string()),
        format!("origin-{site}-{}.internal.example.com", random.between(1, 9)),
        or_nothing(random, 500, words::address),
        or_nothing(random, 500, |random| random.pick(&["200", "404", "502"]).to_string()),
        or_nothing(random, 500, |random| random.below(400_000).to_string()),
        random.pick(&["TLSv1.2", "TLSv1.3"]).to_string(),
        random.pick(&["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"]).to_string(),
        format!("{}.example.com", random.pick(&["www", "api", "static", "img"])),
    ]
}

/// `country` to `etag`.
fn client_fields(random: &mut Random) -> Vec<String> {
    vec![
        random.pick(&["DE", "NL", "US", "SG", "AU", "BR", "JP"]).to_string(),
        random.pick(&["north", "south", "east", "west"]).to_string(),
        random.pick(&["Frankfurt", "Utrecht", "Ashburn", "Osaka", "Perth"]).to_string(),
        random.between(1_000, 65_000).to_string(),
        words::uuid(random),
        or_nothing(random, 800, |random| words::hex(random, 24)),
        or_nothing(random, 300, |random| format!("u{}", random.below(1_000_000))),
        random.pick(&["text/html", "application/json", "image/webp"]).to_string(),
        random.pick(&["br", "gzip", "identity"]).to_string(),
        "en-GB,en;q=0.9".to_string(),
        "gzip, deflate, br".to_string(),
        or_nothing(random, 100, |random| format!("bytes=0-{}", random.below(10_000))),
        words::hex(random, 16),
    ]
}

/// `waf_action` to `labels`.
fn control_fields(random: &mut Random) -> Vec<String> {
    vec![
        random.skewed(&["allow", "log", "deny"]).to_string(),
        or_nothing(random, 150, |random| format!("rule-{}", random.below(400))),
        random.below(100).to_string(),
        format!("bucket-{}", random.below(64)),
        random.below(3).to_string(),
        format!("{}.{:02}", random.between(1, 6), random.below(100)),
        random.below(512).to_string(),
        random.below(64).to_string(),
        words::hex(random, 32),
        labels(random),
    ]
}

fn labels(random: &mut Random) -> String {
    let mut labels = "team=delivery,tier=front,experiments=".to_string();
    words::push_sentence(random, 500, &mut labels);
    labels
}

/// `make`'s value in `per_mille` of a thousand calls, else `-`.
fn or_nothing(
    random: &mut Random,
    per_mille: u64,
    make: impl FnOnce(&mut Random) -> String,
) -> String {
    if random.chance(per_mille) { make(random) } else { "-".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_all_fields() {
        for line in edge_log_lines(5, 300) {
            assert_eq!(line.matches("\\t").count() + 1, EDGE_LOG_FIELDS.len());
        }
    }
}
