//! The options of external engines.

use std::time::Duration;

use super::{ExternalPlayer, missing_program};
use crate::choices::choices;
use crate::game::Geometry;
use crate::keys::{keys, text, whole};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::grammar::{Fields, SpecError, SpecKind};
use crate::players::kind::{Kind, Opened, PlayerOptions};

choices! {
    /// The protocol of an external engine.
    pub enum Protocol {
        /// The NBoard protocol.
        #[default]
        Nboard = "nboard",
        /// The Go Text Protocol, as Othello engines use it.
        Gtp = "gtp",
    }
}

keys! {
    /// An external engine: another program.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ExternalSpec {
        /// The protocol that the program speaks.
        key protocol: Protocol = Protocol::Nboard => required("a protocol");

        /// The program and its arguments, split as a shell splits them; no shell runs.
        key command: String = String::new(),
            text("a program and its arguments, with quotes that close", is_command)
            => required("a command");

        /// The search depth of an NBoard program.
        key depth: u32 = 8, whole(1, 60)
            => refused("with `protocol=gtp`: set it in the engine's command");

        /// The longest time for an answer; a program that takes longer forfeits the game.
        key timeout: Duration = Duration::from_secs(60);
    }
}

fn is_command(text: &str) -> bool {
    shlex::split(text).is_some_and(|words| !words.is_empty())
}

impl PlayerOptions for ExternalSpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(ExternalSpec::default())
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

impl Kind for ExternalSpec {
    const ROW: SpecKind = SpecKind {
        name: "external",
        description: "runs another program",
        subject: None,
        options: || Box::new(ExternalSpec::default()),
        shortest: "external:protocol=nboard,command=\"...\"",
        variants: &[],
        examples: &[
            ("external:protocol=gtp,command=\"engine --gtp\"", "a program behind GTP"),
            (
                "external:protocol=nboard,command=\"engine --book \\\"my book\\\"\",depth=12",
                "an NBoard program at depth 12, with a blank in an argument",
            ),
        ],
    };

    fn read(fields: &mut Fields) -> Result<ExternalSpec, SpecError> {
        let mut spec = ExternalSpec::default();
        fields.read_others(&mut spec)?;
        fields.refuse("depth", spec.protocol != Protocol::Nboard)?;
        Ok(spec)
    }

    fn open<G: Geometry>(self, _: &PlayerContext) -> Result<Opened<ExternalSpec, G>, OpenError> {
        if let Some(program) = missing_program(&self.command) {
            return Err(OpenError::NoProgram { program });
        }
        let own = self.clone();
        Ok(Opened::new(self, move |name, _| Ok(ExternalPlayer::new(name, own.clone()))))
    }
}
