//! Counts in Redis for the programs that share them: one atomic script for each batch.
//!
//! Invariant: all that is known of a key is in one hash, which expires as a whole. A stream is ahead when it
//! has brought more than was let through, so that as much goes through as the stream with most of it brought.

use std::sync::Arc;

use ::redis::{RedisError, Script};
use temblor_runtime::shared::{Arrived, SharedCounts, StoreAt};

use super::asking::Asking;
use super::server::Link;

/// Arrivals that one call of the script counts: it holds up the server for some milliseconds.
const CALL_ARRIVALS_MAX: usize = 1_000;

/// Counts the arrivals on KEYS, whose streams and deliveries are in ARGV behind the time in milliseconds, and
/// answers with a text of `1` (new) and `0` (copy). Fields of a key: `t` when its young generation began, `e`
/// how many were let through since, `c…` how many a stream brought since, `O` how many were let through in the
/// old generation, `o…` how many copies a stream still owes of those, `d…` the answer to a delivery.
const COUNT: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local within = tonumber(ARGV[1])
local answers = {}
for i, key in ipairs(KEYS) do
  local stream, delivery = ARGV[2 * i], ARGV[2 * i + 1]
  local c, o, d = 'c' .. stream, 'o' .. stream, 'd' .. delivery
  local got = redis.call('HMGET', key, 't', 'e', 'O', c, o, d)
  local began = tonumber(got[1])
  if began and now - began >= within then
    local all = redis.call('HGETALL', key)
    redis.call('DEL', key)
    if now - began < 2 * within then
      began = began + within
      local let_through = tonumber(got[2] or 0)
      local kept = { 't', began, 'O', let_through }
      for j = 1, #all, 2 do
        local kind, rest, value = all[j]:sub(1, 1), all[j]:sub(2), all[j + 1]
        if kind == 'c' then
          kept[#kept + 1] = 'o' .. rest
          kept[#kept + 1] = let_through - tonumber(value)
        elseif kind == 'd' and #value == 1 then
          kept[#kept + 1] = all[j]
          kept[#kept + 1] = value .. 'o'
        end
      end
      for j = 1, #kept, 1000 do
        redis.call('HSET', key, unpack(kept, j, math.min(j + 999, #kept)))
      end
      redis.call('PEXPIRE', key, 2 * within)
    else
      began = nil
    end
    got = redis.call('HMGET', key, 't', 'e', 'O', c, o, d)
  end
  local answer
  if delivery ~= '' and got[6] then
    answer = got[6]:sub(1, 1)
  else
    local owed = tonumber(got[5] or got[3] or 0)
    local fields = {}
    if owed > 0 then
      answer = '0'
      fields = { o, owed - 1 }
    else
      local let_through, count = tonumber(got[2] or 0), tonumber(got[4] or 0) + 1
      fields = { c, count }
      if count > let_through then
        answer = '1'
        fields[3], fields[4] = 'e', count
      else
        answer = '0'
      end
    end
    if delivery ~= '' then
      fields[#fields + 1] = d
      fields[#fields + 1] = answer
    end
    if not began then
      fields[#fields + 1] = 't'
      fields[#fields + 1] = now
    end
    redis.call('HSET', key, unpack(fields))
    if not began then
      redis.call('PEXPIRE', key, 2 * within)
    end
  end
  answers[i] = answer
end
return table.concat(answers)";

/// Opens a store.
///
/// # Errors
/// The address is none.
pub fn open(at: StoreAt<'_>) -> Result<Arc<dyn SharedCounts>, String> {
    let asking = Asking::open(at.address)?;
    let within_ms = at.within_ns / 1_000_000;
    let (prefix, script) = (at.prefix.as_bytes().to_vec(), Script::new(COUNT));
    Ok(Arc::new(Counts { asking, prefix, within_ms, script }))
}

#[derive(Debug)]
struct Counts {
    asking: Asking,
    prefix: Vec<u8>,
    within_ms: u64,
    script: Script,
}

impl Counts {
    async fn ask(&self, link: &mut Link, arrivals: &[Arrived]) -> Result<Vec<bool>, RedisError> {
        let mut answers = Vec::with_capacity(arrivals.len());
        for some in arrivals.chunks(CALL_ARRIVALS_MAX) {
            let mut call = self.script.prepare_invoke();
            call.arg(self.within_ms);
            for one in some {
                let mut key = self.prefix.clone();
                key.extend_from_slice(&one.key.to_be_bytes());
                call.key(key).arg(&one.stream.to_be_bytes()[..]);
                match one.delivery {
                    Some(delivery) => call.arg(&delivery.to_be_bytes()[..]),
                    None => call.arg(""),
                };
            }
            let text: Vec<u8> = call.invoke_async(&mut link.connection).await?;
            answers.extend(text.iter().map(|answer| *answer == b'1'));
        }
        Ok(answers)
    }
}

impl SharedCounts for Counts {
    fn count(&self, arrivals: &[Arrived]) -> Result<Vec<bool>, String> {
        if arrivals.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self.asking.ask(async |link| self.ask(link, arrivals).await)?;
        if answers.len() != arrivals.len() {
            return Err(format!("{} gave no answer to some events", self.asking.name()));
        }
        Ok(answers)
    }
}
