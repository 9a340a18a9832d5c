//! Every test that needs the whole of Temblor, in one program that links it once.

mod recorded;
mod agree;
mod cli;
mod conversions;
mod editors;
mod format;
mod hostile;
mod load;
mod logstash_cases;
mod logstash_conversions;
mod logstash_edges;
mod logstash_options;
mod lsp;
mod manual;
mod operators;
mod pages;
mod runtime;
mod spec;
mod terminal;
mod tidy;
mod tools;
mod tour;
mod workers;
