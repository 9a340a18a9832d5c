//! How many requests may be under way to a peer at the same time: one more while it answers as fast as before, a tenth
//! fewer when it gets slower or says that it has too much to do.
//!
//! Invariant: the limit stays within its bounds, and changes at most once in the time that the peer takes for an
//! answer. Time is an argument.

use std::time::{Duration, Instant};

/// What is left of the limit when the peer has too much to do.
const DECREASE: f64 = 0.9;
/// The weight of a new window against all before it.
const WEIGHT: f64 = 0.4;
/// So many deviations above what is usual is slower.
const DEVIATIONS: f64 = 2.5;
/// Differences below this say nothing, in seconds.
const NOISE_S: f64 = 0.005;
/// The shortest window.
const WINDOW_MIN: Duration = Duration::from_millis(10);
/// The limit of the beginning, when the bounds allow it.
const FIRST: usize = 4;

/// The limit, and what it is found by.
#[derive(Clone, Debug)]
pub struct Pace {
    least: usize,
    most: usize,
    limit: usize,
    /// Mean time of an answer and its deviation over earlier windows, in seconds.
    usual: Option<(f64, f64)>,
    window: Window,
}

/// The answers since the limit was looked at last.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    began: Option<Instant>,
    sum_s: f64,
    answers: u32,
    /// As many requests were under way as allowed.
    was_full: bool,
    /// The peer has said that it has too much to do, or has not answered in time.
    pushed_back: bool,
}

impl Pace {
    /// A limit between two bounds.
    #[must_use]
    pub fn new(least: usize, most: usize) -> Self {
        let limit = FIRST.clamp(least, most);
        Self { least, most, limit, usual: None, window: Window::default() }
    }

    /// How many requests may be under way now.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The peer has answered a request, while so many were under way.
    pub fn answered(&mut self, took: Duration, under_way: usize, now: Instant) {
        self.window.sum_s += took.as_secs_f64();
        self.window.answers += 1;
        self.window.was_full |= under_way >= self.limit;
        self.close(now);
    }

    /// The peer has too much to do.
    pub fn pushed_back(&mut self, now: Instant) {
        self.window.pushed_back = true;
        self.close(now);
    }

    /// Looks at the window, once it is as long as an answer takes.
    fn close(&mut self, now: Instant) {
        let began = *self.window.began.get_or_insert(now);
        let usual = Duration::from_secs_f64(self.usual.map_or(0.0, |(mean, _)| mean));
        if now.duration_since(began) < usual.max(WINDOW_MIN) {
            return;
        }
        let window =
            std::mem::replace(&mut self.window, Window { began: Some(now), ..Window::default() });
        let mean = (window.answers > 0).then(|| window.sum_s / f64::from(window.answers));
        let is_slower = match (mean, self.usual) {
            (Some(mean), Some((usual, deviation))) => {
                mean > usual + (deviation * DEVIATIONS).max(NOISE_S).max(usual / 4.0)
            }
            _ => false,
        };
        if window.pushed_back || is_slower {
            #[expect(
                clippy::cast_sign_loss,
                clippy::cast_possible_truncation,
                reason = "small and positive"
            )]
            let fewer = (self.limit as f64 * DECREASE) as usize;
            self.limit = fewer.max(self.least);
        } else if window.was_full {
            self.limit = (self.limit + 1).min(self.most);
        }
        if let Some(mean) = mean {
            self.learn(mean);
        }
    }

    fn learn(&mut self, mean: f64) {
        self.usual = Some(match self.usual {
            None => (mean, 0.0),
            Some((usual, deviation)) => {
                let off = (mean - usual).abs();
                let grown = |before: f64, new: f64| before + WEIGHT * (new - before);
                (grown(usual, mean), grown(deviation, off))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(20);

    /// Answers that take so long, so many windows long, with as many under way as allowed.
    fn answers(pace: &mut Pace, now: &mut Instant, took: Duration, windows: usize) {
        for _ in 0..windows {
            *now += took.max(TICK);
            pace.answered(took, pace.limit(), *now);
        }
    }

    #[test]
    fn it_grows_by_one_to_its_bound_while_the_peer_is_as_fast_as_before() {
        let (mut pace, mut now) = (Pace::new(1, 10), Instant::now());
        assert_eq!(pace.limit(), 4);
        answers(&mut pace, &mut now, Duration::from_millis(20), 4);
        assert_eq!(pace.limit(), 7);
        answers(&mut pace, &mut now, Duration::from_millis(20), 50);
        assert_eq!(pace.limit(), 10);
    }

    #[test]
    fn it_does_not_grow_beyond_what_is_used() {
        let (mut pace, mut now) = (Pace::new(1, 100), Instant::now());
        for _ in 0..50 {
            now += TICK;
            pace.answered(TICK, 1, now);
        }
        assert_eq!(pace.limit(), 4);
    }

    #[test]
    fn it_shrinks_by_a_tenth_when_the_peer_is_slower_or_says_so_and_never_below_its_bound() {
        let (mut pace, mut now) = (Pace::new(2, 100), Instant::now());
        answers(&mut pace, &mut now, TICK, 97);
        assert_eq!(pace.limit(), 100);
        answers(&mut pace, &mut now, Duration::from_millis(200), 1);
        assert_eq!(pace.limit(), 90);
        for _ in 0..100 {
            now += Duration::from_secs(1);
            pace.pushed_back(now);
        }
        assert_eq!(pace.limit(), 2);
        answers(&mut pace, &mut now, TICK, 300);
        assert!(pace.limit() > 20, "{} is what it recovers to", pace.limit());
    }

    #[test]
    fn bursts_of_refusals_count_once_in_the_time_of_an_answer() {
        let (mut pace, mut now) = (Pace::new(1, 20), Instant::now());
        answers(&mut pace, &mut now, Duration::from_secs(1), 30);
        assert_eq!(pace.limit(), 20);
        for _ in 0..20 {
            now += Duration::from_millis(10);
            pace.pushed_back(now);
        }
        assert_eq!(pace.limit(), 20, "the window is not over");
        now += Duration::from_secs(1);
        pace.pushed_back(now);
        assert_eq!(pace.limit(), 18);
    }

    #[test]
    fn a_bound_of_one_stays_one() {
        let (mut pace, mut now) = (Pace::new(1, 1), Instant::now());
        answers(&mut pace, &mut now, TICK, 10);
        assert_eq!(pace.limit(), 1);
    }
}
