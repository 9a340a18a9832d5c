//! Limits that several programs share in Redis: neither more nor less goes through than the limit says, but for
//! one lease of each program.

use std::time::{Duration, Instant};

use temblor_brokers::redis::tokens;
use temblor_runtime::shared::Want;
use temblor_testing::{Folder, OwnPeer, peer};

use crate::{numbered, start};

fn prefix(name: &str) -> String {
    format!("temblor-test:{name}:{}:", std::process::id())
}

#[test]
fn tokens_are_given_out_once_and_come_at_the_rate() {
    let Some(address) = peer("REDIS") else { return };
    let (address, prefix) = (format!("redis://{address}"), prefix("tokens"));
    let stores =
        [tokens::open(&address, &prefix).unwrap(), tokens::open(&address, &prefix).unwrap()];
    let (rate, burst) = (1_000, 100);
    let want = |tokens| Want { key: 7, tokens, rate, per_ns: 1_000_000_000, burst };
    let began = Instant::now();
    let mut given = stores[0].lease(&[want(60), want(60)]).unwrap();
    assert!(given[0] == 60 && (40..=41).contains(&given[1]), "{given:?}");
    while began.elapsed() < Duration::from_millis(500) {
        for store in &stores {
            given.extend(store.lease(&[want(30)]).unwrap());
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let all: u64 = given.iter().sum();
    let most = burst as f64 + rate as f64 * seconds + 1.0;
    assert!((all as f64) <= most, "{all} tokens in {seconds} s");
    assert!((all as f64) >= 0.9 * most, "{all} tokens in {seconds} s");
    assert!(tokens::open("host", "p").is_err());
}

#[test]
fn a_store_of_tokens_that_is_down_says_so_and_comes_back() {
    let Some(server) = OwnPeer::start("redis") else { return };
    let address = format!("redis://{}", server.address("REDIS"));
    let store = tokens::open(&address, "p").unwrap();
    let want = [Want { key: 1, tokens: 5, rate: 10, per_ns: 3_600_000_000_000, burst: 10 }];
    assert_eq!(store.lease(&want), Ok(vec![5]));
    server.kill();
    assert!(store.lease(&want).unwrap_err().contains("redis://"));
    server.resume();
    assert!(store.lease(&want).is_ok());
}

#[test]
fn two_programs_keep_one_limit() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, prefix) = (Folder::new(), prefix("two"));
    let (limit, lease) = (1_000, 20);
    let program = |file: &str| {
        format!(
            "sink f into file \"{file}\";
             in |> rate_limit {limit} per 1h store \"redis://{address}\"
               with lease = {lease}, store_prefix = \"{prefix}\" end |> f"
        )
    };
    let files = ["one.json", "two.json"];
    let mut processes = files.map(|file| start(&folder, &format!("{file}.tmb"), &program(file)));
    for process in &mut processes {
        process.write(numbered(3_000));
        drop(process.take_input());
    }
    for process in processes {
        process.wait().succeeded();
    }
    let counts = files.map(|file| folder.read(file).lines().count());
    let all: usize = counts.iter().sum();
    // Both leave at most a lease unused; an hour gives one more in 3.6 s.
    assert!((limit - 2 * lease..=limit + 30).contains(&all), "{counts:?}");
}
