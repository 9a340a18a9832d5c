//! Where events come from and go to, and how, when the program itself does not say.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::sync::Arc;
use temblor_codec::interceptor::{Postprocessor, Preprocessor};
use temblor_codec::names;
use temblor_codec::{Encoding, InputCodec, OutputCodec};
use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::chained::ChainedConfig;
use temblor_connect::source::file::FileConfig;
use temblor_declare::interceptor::Interceptor;
use temblor_declare::interceptor::after::POSTPROCESSORS;
use temblor_declare::interceptor::before::PREPROCESSORS;
use temblor_pipeline::endpoint::SourceEndpoint;
use temblor_pipeline::operator::IN;
use temblor_runtime::run::NamedSink;

/// Both ends of a program that names none.
#[derive(Clone, Debug, Args)]
pub(crate) struct EndArgs {
    /// Where events come from, when the program does not say [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where events go, when the program does not say [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How the input is read
    #[arg(long, alias = "decoder", value_name = "CODEC", default_value = "json", value_parser = reading())]
    codec: InputCodec,
    /// How the output is written
    #[arg(long, alias = "encoder", value_name = "CODEC", default_value = "json", value_parser = writing())]
    out_codec: Encoding,
    /// What is done to the bytes of the input before they are decoded, in this order; may be repeated
    #[arg(long, value_name = "NAME", value_parser = preprocessors())]
    preprocessor: Vec<Preprocessor>,
    /// What is done to encoded events, in this order, instead of a newline; may be repeated
    #[arg(long, value_name = "NAME", value_parser = postprocessors())]
    postprocessor: Vec<Postprocessor>,
    /// Write each event as {"port": …, "event": …}
    #[arg(long, conflicts_with = "out_codec")]
    ports: bool,
}

/// Codecs that read, by name.
pub(crate) fn reading() -> impl TypedValueParser<Value = InputCodec> {
    PossibleValuesParser::new(names::reading()).try_map(|name| named(names::reader(&name)))
}

fn writing() -> impl TypedValueParser<Value = Encoding> {
    PossibleValuesParser::new(names::writing()).try_map(|name| named(names::writer(&name)))
}

fn preprocessors() -> impl TypedValueParser<Value = Preprocessor> {
    one_of(PREPROCESSORS)
}

fn postprocessors() -> impl TypedValueParser<Value = Postprocessor> {
    one_of(POSTPROCESSORS)
}

/// What names stand for that need no configuration.
fn one_of<T: Clone + Send + Sync + 'static>(
    rows: &'static [Interceptor<T>],
) -> impl TypedValueParser<Value = T> {
    let plain = rows.iter().filter_map(|row| Some((row.name, row.plain()?)));
    let table: Vec<_> = plain.collect();
    let names = table.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    PossibleValuesParser::new(names).map(move |name| {
        let found = table.iter().find(|(known, _)| *known == name);
        found.expect("only these names are let through").1.clone()
    })
}

fn named<T>(found: Option<T>) -> Result<T, &'static str> {
    found.ok_or("it has no meaning without a configuration")
}

impl EndArgs {
    /// The source of a program that names none.
    pub(crate) fn source(&self) -> SourceEndpoint {
        let framing = names::framing(self.codec);
        let config = match (&self.input, &self.preprocessor[..]) {
            (None, []) => SourceConfig::Stdin { framing },
            (Some(path), []) => {
                let patterns = vec![path.display().to_string()];
                SourceConfig::File(FileConfig::once(patterns, framing))
            }
            (path, chain) => {
                SourceConfig::Chained(ChainedConfig::once(path.clone(), chain.to_vec()))
            }
        };
        SourceEndpoint::new(IN, Arc::new(config), self.codec)
    }

    /// Whether every event leaves with the port that it leaves by.
    pub(crate) fn shows_ports(&self) -> bool {
        self.ports
    }

    /// Where the events of ports go that the program names no sink for, and how they are written.
    pub(crate) fn sink(&self) -> (NamedSink, Encoding) {
        let sink = match &self.output {
            None => NamedSink::new("stdout", SinkConfig::Stdout),
            Some(path) => {
                let (mode, care) = (FileMode::Truncate, Care::default());
                let config = SinkConfig::File { path: path.clone(), mode, care };
                NamedSink::new(path.display().to_string(), config)
            }
        };
        let mut encoding = self.out_codec.clone();
        if self.ports {
            encoding = Encoding { codec: OutputCodec::WithPort, post: None };
        }
        if !self.postprocessor.is_empty() {
            encoding.post = Some(self.postprocessor.clone().into_boxed_slice());
        }
        (sink, encoding)
    }
}
