//! Tokens of limits in Redis, for the programs that share them: one atomic script for each request.
//!
//! Invariant: a key holds the time when its allowance will be whole again (as the generic cell rate algorithm
//! does), by the server's clock; it goes away when that time has come.

use std::sync::Arc;

use ::redis::Script;
use temblor_runtime::shared::{SharedTokens, Want};

use super::asking::Asking;

/// Wants that one call of the script answers: it holds up the server for some milliseconds.
const CALL_WANTS_MAX: usize = 1_000;
/// Nanoseconds of a microsecond, in which the script counts.
const MICROSECOND: f64 = 1_000.0;

/// For each of KEYS: how many tokens are wanted, the time for one of them, and the time for all that are saved
/// up (in microseconds); gives back how many are given out. Times are counted from 2025 on, so that they stay
/// exact to a hundredth of a microsecond.
const LEASE: &str = "
local time = redis.call('TIME')
local now = (time[1] - 1735689600) * 1000000 + time[2]
local given = {}
for i, key in ipairs(KEYS) do
  local want, each, depth = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local whole = tonumber(redis.call('GET', key) or 0)
  if whole < now then whole = now end
  local tokens = math.min(want, math.floor((now + depth - whole) / each + 0.000001))
  if tokens > 0 then
    whole = whole + tokens * each
    redis.call('SET', key, string.format('%.4f', whole), 'PX', math.ceil((whole - now) / 1000) + 1)
  else
    tokens = 0
  end
  given[i] = tokens
end
return given";

/// Opens a store.
///
/// # Errors
/// The address is none; a sentence.
pub fn open(address: &str, prefix: &str) -> Result<Arc<dyn SharedTokens>, String> {
    let (asking, prefix) = (Asking::open(address)?, prefix.as_bytes().to_vec());
    Ok(Arc::new(Tokens { asking, prefix, script: Script::new(LEASE) }))
}

#[derive(Debug)]
struct Tokens {
    asking: Asking,
    prefix: Vec<u8>,
    script: Script,
}

impl SharedTokens for Tokens {
    fn lease(&self, wants: &[Want]) -> Result<Vec<u64>, String> {
        let mut given = Vec::with_capacity(wants.len());
        for some in wants.chunks(CALL_WANTS_MAX) {
            let mut call = self.script.prepare_invoke();
            for want in some {
                let mut key = self.prefix.clone();
                key.extend_from_slice(&want.key.to_be_bytes());
                let each = microseconds(want.per_ns) / as_float(want.rate.max(1));
                call.key(key).arg(want.tokens).arg(each).arg(each * as_float(want.burst));
            }
            let answer: Vec<u64> =
                self.asking.ask(async |link| call.invoke_async(&mut link.connection).await)?;
            given.extend(answer);
        }
        if given.len() != wants.len() {
            return Err(format!("{} gave no answer to some limits", self.asking.name()));
        }
        Ok(given)
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    as_float(nanoseconds) / MICROSECOND
}

#[expect(clippy::cast_precision_loss, reason = "rates and durations of users are far below 2^53")]
fn as_float(number: u64) -> f64 {
    number as f64
}
