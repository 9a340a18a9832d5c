//! What this build has: the one list of the operators and connectors that its crates bring.
//!
//! Knows which crates there are. Nothing below it knows the list; tools and tests take it from here.

use std::sync::LazyLock;
use temblor_pipeline::registry::Registry;

/// All that programs may name.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        temblor_connect::asking::hand_in(temblor_http::asking::open);
        Registry::built_in()
            .with_operators(temblor_logstash::steps::kinds().chain(temblor_migrate::kinds()))
            .with_connectors([&temblor_pipeline::dead_letters::DEAD_LETTERS])
            .with_connectors(temblor_connect::CONNECTORS.iter().copied())
            .with_connectors(temblor_generate::CONNECTORS.iter().copied())
            .with_connectors(temblor_wire::CONNECTORS.iter().copied())
            .with_connectors(temblor_brokers::CONNECTORS.iter().copied())
            .with_shared_counts(temblor_brokers::redis::counts::open)
            .with_shared_tokens(temblor_brokers::redis::tokens::open)
            .with_connectors(temblor_http::CONNECTORS.iter().copied())
            .with_connectors(temblor_collect::CONNECTORS.iter().copied())
            .with_connectors(temblor_store::CONNECTORS.iter().copied())
    });
    &REGISTRY
}
