//! The options for Logstash configurations, and how they are loaded. A configuration with plugins that
//! cannot be run is refused unless the user wants to do without them.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use temblor_logstash::complain;
use temblor_logstash::configuration::{self, Configuration, Wishes};
use temblor_logstash::load;
use temblor_logstash::settings::{Ecs, Settings};
use temblor_pipeline::load::Loaded;

/// Which configuration, and how it is read.
#[derive(Clone, Debug, Args)]
pub(super) struct ConfigurationArgs {
    /// Logstash configuration: a file, or a folder of files
    #[arg(long, value_name = "PATH")]
    pub logstash: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Take what Logstash does as it is, without explaining what nobody would expect
    #[arg(long, requires = "logstash")]
    strict_logstash: bool,
}

/// How configurations are read.
#[derive(Clone, Debug, Args)]
pub(super) struct ReadingArgs {
    /// Field names of Logstash plugins after the Elastic Common Schema [default: v8]
    #[arg(long, value_enum)]
    ecs: Option<EcsArg>,
    /// Read backslash escapes in the texts of a Logstash configuration
    #[arg(long)]
    support_escapes: bool,
    /// Folder with the logstash.yml of a Logstash configuration, or that file: `queue.type`, `dead_letter_queue.enable` …
    #[arg(long, value_name = "PATH")]
    path_settings: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct LogstashArgs {
    #[command(flatten)]
    configuration: ConfigurationArgs,
    /// Standard input stands for the inputs of a Logstash configuration
    #[arg(long, requires = "logstash")]
    stdin: bool,
    /// Standard output stands for the outputs of a Logstash configuration
    #[arg(long, requires = "logstash")]
    stdout: bool,
    /// Run a Logstash configuration without the plugins that are missing here
    #[arg(long, requires = "logstash")]
    skip_missing: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum EcsArg {
    /// The old names
    Disabled,
    /// Names of the schema, version 1
    V1,
    /// Names of the schema, version 8
    #[default]
    V8,
}

impl From<EcsArg> for Ecs {
    fn from(ecs: EcsArg) -> Self {
        match ecs {
            EcsArg::Disabled => Ecs::Disabled,
            EcsArg::V1 => Ecs::V1,
            EcsArg::V8 => Ecs::V8,
        }
    }
}

impl ConfigurationArgs {
    /// How configurations are read.
    pub(super) fn settings(&self) -> Result<Settings, String> {
        Ok(Settings { explains: !self.strict_logstash, ..self.reading.settings()? })
    }
}

impl ReadingArgs {
    fn settings(&self) -> Result<Settings, String> {
        let connectors = Some(temblor_catalog::registry());
        let mut settings = Settings { connectors, ..Settings::of_environment() };
        if let Some(path) = &self.path_settings {
            load::adjust_by(&mut settings, path)?;
        }
        settings.ecs = self.ecs.map_or(settings.ecs, Ecs::from);
        settings.escapes |= self.support_escapes;
        Ok(settings)
    }

    /// The program of the configuration at a path.
    pub(super) fn at(&self, path: &Path) -> Result<Loaded, String> {
        let wishes = Wishes { settings: self.settings()?, ..Wishes::default() };
        Ok(configuration::load(path, &wishes)?.loaded)
    }
}

impl LogstashArgs {
    /// The same without a configuration.
    pub(crate) fn none(&self) -> Self {
        let mut none = self.clone();
        none.configuration.logstash = None;
        none
    }

    /// Reads the configuration, if there is one.
    pub(super) fn read(&self) -> Option<Result<Configuration, String>> {
        let path = self.configuration.logstash.as_ref()?;
        let (stdin, stdout) = (self.stdin, self.stdout);
        let settings = self.configuration.settings();
        Some(
            settings.and_then(|settings| {
                configuration::load(path, &Wishes { settings, stdin, stdout })
            }),
        )
    }

    /// The program of the configuration, if there is one, for running it.
    pub(super) fn load(&self) -> Option<Result<Loaded, String>> {
        Some(self.read()?.and_then(|configuration| self.accept(configuration)))
    }

    fn accept(&self, configuration: Configuration) -> Result<Loaded, String> {
        let Configuration { loaded, missing } = configuration;
        let lacks_files = loaded.diagnostics.iter().any(|one| one.code == complain::MISSING_FILE);
        if (missing > 0 || lacks_files) && !loaded.has_errors() {
            eprint!("{}", loaded.report(true));
            if missing > 0 && !self.skip_missing {
                return Err(format!(
                    "{missing} plugins of this configuration cannot be run; --stdin and --stdout \
                     replace inputs and outputs, --skip-missing leaves out the rest"
                ));
            }
        }
        Ok(loaded)
    }
}
