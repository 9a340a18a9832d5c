//! Arguments about worker threads and what they are handed, the same for every command that runs events.

use clap::{Args, ValueEnum};
use temblor_lang::units::parse_size;
use temblor_runtime::limits::{BLOCK_BYTES, BLOCK_BYTES_MAX, BLOCK_BYTES_MIN};
use temblor_runtime::outbox::Order;

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ThreadArgs {
    /// Worker threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Order of the output with several workers
    #[arg(long, value_enum, default_value_t)]
    order: OrderArg,
    /// What a source hands to a worker at a time, such as 64KiB, when the source has that much
    #[arg(long, value_name = "SIZE", default_value = "256KiB", value_parser = parse_batch)]
    batch: usize,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum OrderArg {
    /// The order of the input
    #[default]
    Source,
    /// Whatever is ready first (also: none)
    #[value(alias = "none")]
    Any,
}

impl ThreadArgs {
    /// How many workers there are to be.
    pub(crate) fn workers(self) -> usize {
        self.workers.unwrap_or_else(temblor_generate::inject::machine::cores)
    }

    /// The order of the output.
    pub(crate) fn order(self) -> Order {
        match self.order {
            OrderArg::Source => Order::Source,
            OrderArg::Any => Order::Any,
        }
    }

    /// Bytes of a batch.
    pub(crate) fn batch_bytes(self) -> usize {
        self.batch
    }
}

fn parse_batch(text: &str) -> Result<usize, String> {
    let bytes = parse_size(text).and_then(|bytes| usize::try_from(bytes).ok());
    let fitting = bytes.filter(|bytes| (BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(bytes));
    fitting.ok_or_else(|| {
        let (min, max, usual) = (BLOCK_BYTES_MIN >> 10, BLOCK_BYTES_MAX >> 20, BLOCK_BYTES >> 10);
        format!("`{text}` is no size between {min}KiB and {max}MiB: write it like {usual}KiB")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_a_sensible_size() {
        assert_eq!(parse_batch("256KiB"), Ok(BLOCK_BYTES));
        assert_eq!(parse_batch("4096"), Ok(4096));
        for text in ["1KiB", "1GiB", "much", ""] {
            assert!(parse_batch(text).unwrap_err().contains("between 4KiB and 64MiB"), "{text}");
        }
    }
}
