//! Writes the access log of `examples/apache`: ordinary traffic with bad lines, copies of lines as
//! redundant collectors make them, a crawler's bursts and an attack on a login page.
//!
//! ```text
//! cargo run -p temblor-bench --example access_log > examples/apache/access.log
//! ```

use temblor_bench::workload::{Random, Workload};

const SEED: u64 = 20_260_101;
const LINES: usize = 3_000;
/// One line in so many comes twice.
const COPIED_PER_MILLE: u64 = 60;
const ATTACK_AT: usize = 1_200;
const ATTACK_LINES: usize = 400;
const BURST_EVERY: usize = 700;
const BURST_LINES: usize = 90;

fn main() {
    let mut random = Random::seeded(SEED);
    let lines = Workload::AccessLog.lines(SEED, LINES);
    for (number, line) in lines.iter().enumerate() {
        println!("{line}");
        if random.chance(COPIED_PER_MILLE) {
            println!("{line}");
        }
        if number == ATTACK_AT {
            attack(&mut random);
        }
        if number % BURST_EVERY == BURST_EVERY - 1 {
            burst(number);
        }
    }
}

/// One client tries passwords.
fn attack(random: &mut Random) {
    for attempt in 0..ATTACK_LINES {
        let second = attempt / 40;
        let bytes = random.between(1_200, 1_300);
        println!(
            "203.0.113.66 - - [01/Jan/2026:00:06:{second:02} +0000] \"POST /wp-login.php?n={attempt} \
             HTTP/1.1\" 401 {bytes} \"-\" \"python-requests/2.31\""
        );
    }
}

/// A crawler fetches one page after the other.
fn burst(number: usize) {
    let minute = number / 180;
    for page in 0..BURST_LINES {
        println!(
            "198.51.100.7 - - [01/Jan/2026:00:{minute:02}:00 +0000] \"GET /archive/{number}/{page} \
             HTTP/1.1\" 200 5120 \"-\" \"ExampleBot/1.0 (+https://bot.example/)\""
        );
    }
}
