//! Inputs: where the frames of an input plugin come from, and what they become. An input that is not
//! here is checked as far as its options are known, and named with its place.

mod declaration;
mod intake;
mod origin;
mod files;

pub use declaration::{COMMON, INPUTS};
pub(crate) use intake::{Intake, is_of_intake};
pub(crate) use origin::Origin;

use super::catalog::Stock;
use super::codec::Decoder;
use super::complain;
use super::network;
use super::options::{Arguments, OptionSpec, Takes, option};
use super::settings::Settings;
use super::syntax::tree::Plugin;
use temblor_declare::Ends;
use temblor_lang::diagnostic::Diagnostic;

/// An input that can be run.
#[derive(Debug)]
pub struct Input {
    /// What its events are made of.
    pub intake: Intake,
    /// Where its frames come from.
    pub origin: Origin,
}

/// Reads an input plugin, whose source is called so; `None` when it cannot be run, which has been said.
pub fn compile(
    (called, plugin): (&str, &Plugin),
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Input> {
    let name = &*plugin.name.text;
    if let Some(row) = network::here(plugin, Ends::Source, settings) {
        return network::input(row, (called, plugin), settings, diagnostics);
    }
    let Some(declaration) = INPUTS.iter().find(|one| one.name == name) else {
        absent(plugin, settings, diagnostics);
        return None;
    };
    let declared = (declaration.options, COMMON);
    Arguments::build(plugin, declared, settings, diagnostics, |arguments| {
        let intake = Intake::of(declaration.kind, arguments);
        let origin = Origin::of(declaration.kind, arguments, intake.as_ref());
        Some(Input { intake: intake?, origin: origin? })
    })
}

/// What an input makes of frames that come from elsewhere: only the options that say so count.
pub(crate) fn intake_of(
    plugin: &Plugin,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Intake> {
    let name = &*plugin.name.text;
    let over_network = network::find(name, Ends::Source);
    if let Some((row, arrival)) = over_network.and_then(|row| Some((row, row.arrival?))) {
        let mut said = Vec::new();
        let declared = network::declared(row);
        let mut arguments = Arguments::new(plugin, declared, COMMON, settings, &mut said);
        let codec = row.codec.unwrap_or("plain");
        let intake = Intake::of_network(arrival, codec, &mut arguments);
        // Where frames come from is said elsewhere.
        diagnostics.extend(said.into_iter().filter(|one| one.code != complain::NEEDED));
        return intake;
    }
    let Some(declaration) = INPUTS.iter().find(|one| one.name == name) else {
        let known = INPUTS.iter().map(|one| one.name).chain(network::names(Ends::Source));
        diagnostics.push(complain::unknown_plugin("input", name, plugin.name.span, known));
        return None;
    };
    const OWN: &[OptionSpec] = &[
        option("command", Takes::Text, "The command of exec and pipe."),
        option("message", Takes::Text, "The message of heartbeat."),
        option("threads", Takes::Number, "How many events a heartbeat makes."),
        option("sequence", Takes::OneOf(&["none", "epoch", "sequence"]), "What is counted."),
    ];
    Intake::of(declaration.kind, &mut Arguments::new(plugin, OWN, COMMON, settings, diagnostics))
}

/// What is wrong with an input that is not here.
fn absent(plugin: &Plugin, settings: &Settings, diagnostics: &mut Vec<Diagnostic>) {
    let here: Vec<_> = INPUTS.iter().map(|one| one.name).collect();
    let help = "run it with --stdin, which takes events from standard input instead";
    let stock = Stock { kind: "input", here: &here, common: COMMON, help };
    stock.absent(plugin, settings, diagnostics, |arguments| {
        Decoder::of(arguments);
    });
}
