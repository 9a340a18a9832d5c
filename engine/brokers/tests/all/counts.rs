//! Counts in Redis against a model: three streams with loss, repeats and deliveries that come again.

use std::collections::HashMap;
use std::time::Duration;

use temblor_brokers::redis::counts;
use temblor_runtime::shared::{Arrived, StoreAt};
use temblor_testing::{OwnPeer, peer};

const HOUR_NS: u64 = 3_600_000_000_000;

/// Numbers that look random and are the same in each run (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

fn prefix(name: &str) -> String {
    format!("temblor-test:{name}:{}:", std::process::id())
}

#[test]
fn as_many_go_through_as_the_stream_with_most_brought() {
    let Some(address) = peer("REDIS") else { return };
    let (address, prefix) = (format!("redis://{address}"), prefix("model"));
    let at = StoreAt { address: &address, prefix: &prefix, within_ns: HOUR_NS };
    // Several programs share the store.
    let stores = [counts::open(at).unwrap(), counts::open(at).unwrap()];
    let mut chance = Chance(7);
    let mut brought: HashMap<(u128, u128), u64> = HashMap::new();
    let mut through: HashMap<u128, u64> = HashMap::new();
    let mut answers: HashMap<u128, bool> = HashMap::new();
    let mut past: Vec<Arrived> = Vec::new();
    let mut delivery = 0_u128;
    for round in 0..200 {
        let mut batch = Vec::new();
        for _ in 0..chance.below(50) + 1 {
            if !past.is_empty() && chance.below(10) == 0 {
                batch.push(past[chance.below(past.len() as u64) as usize]);
                continue;
            }
            delivery += 1;
            let (key, stream) = (u128::from(chance.below(300)), u128::from(chance.below(3)));
            batch.push(Arrived { key, stream, delivery: Some(delivery) });
        }
        let answered = stores[round % 2].count(&batch).unwrap();
        for (one, new) in batch.iter().zip(answered) {
            let delivery = one.delivery.unwrap();
            if let Some(before) = answers.insert(delivery, new) {
                assert_eq!(before, new, "a delivery that comes again is judged as before");
                continue;
            }
            *brought.entry((one.key, one.stream)).or_default() += 1;
            *through.entry(one.key).or_default() += u64::from(new);
            let most = (0..3).map(|stream| brought.get(&(one.key, stream)).copied().unwrap_or(0));
            assert_eq!(Some(through[&one.key]), most.max());
        }
        past.extend(batch);
    }
}

#[test]
fn a_copy_is_recognised_within_the_time_and_forgotten_after_twice_the_time() {
    let Some(address) = peer("REDIS") else { return };
    let (address, prefix) = (format!("redis://{address}"), prefix("time"));
    let within = Duration::from_millis(1_500);
    let within_ns = u64::try_from(within.as_nanos()).unwrap();
    let store = counts::open(StoreAt { address: &address, prefix: &prefix, within_ns }).unwrap();
    let arrived = |stream, key| Arrived { key, stream, delivery: None };
    assert_eq!(store.count(&[arrived(1, 1), arrived(1, 1), arrived(1, 2)]), Ok(vec![true; 3]));
    // The server keeps the time: here waiting is what is tested.
    std::thread::sleep(within + Duration::from_millis(100));
    // Two copies are owed; a third one is new.
    assert_eq!(store.count(&[arrived(2, 1); 3]), Ok(vec![false, false, true]));
    std::thread::sleep(2 * within + Duration::from_millis(100));
    assert_eq!(store.count(&[arrived(2, 2)]), Ok(vec![true]));
}

#[test]
fn a_store_that_is_down_says_so_and_comes_back() {
    let Some(server) = OwnPeer::start("redis") else { return };
    let address = format!("redis://{}", server.address("REDIS"));
    let at = StoreAt { address: &address, prefix: "p", within_ns: HOUR_NS };
    let store = counts::open(at).unwrap();
    let one = [Arrived { key: 1, stream: 1, delivery: None }];
    assert_eq!(store.count(&one), Ok(vec![true]));
    server.kill();
    assert!(store.count(&one).unwrap_err().contains("redis://"));
    server.resume();
    assert!(store.count(&one).is_ok());
    assert!(counts::open(StoreAt { address: "host", ..at }).is_err());
}
