//! Where games are written.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anyhow::{Context as _, bail};

use super::{Args, To};
use crate::net::Inputs;
use crate::players::models::LoadedModel;
use crate::store::NewFile;
use crate::store::export::{LeftOut, NpzWriter, Planes, TextFormat, TextWriter};
use crate::store::import::Game;

/// A destination of games.
pub(super) enum Output {
    /// Games are only counted.
    Nothing,
    Text(TextWriter<Target>),
    Arrays(Box<NpzWriter>),
}

/// Standard output or a file.
pub(super) enum Target {
    Stdout(BufWriter<Stdout>),
    File(NewFile),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(output) => output.write(bytes),
            Target::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(output) => output.flush(),
            Target::File(file) => file.flush(),
        }
    }
}

impl Output {
    /// Opens what the arguments name.
    pub fn open(args: &Args) -> anyhow::Result<Output> {
        let format = match args.to {
            None => return Ok(Output::Nothing),
            Some(To::Npz) => return arrays(args),
            Some(To::Transcript) => TextFormat::Transcript,
            Some(To::Ggf) => TextFormat::Ggf,
            Some(To::Obf) => TextFormat::Obf,
            Some(To::Json) => TextFormat::Json,
            Some(To::Csv) => TextFormat::Csv,
        };
        let target = match &args.out {
            Some(path) => Target::File(NewFile::create(path)?),
            None => Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())),
        };
        Ok(Output::Text(TextWriter::new(format, target)))
    }

    /// Writes a game of a file.
    pub fn write(&mut self, file: &Path, game: &Game) -> anyhow::Result<Result<(), LeftOut>> {
        match self {
            Output::Nothing => Ok(Ok(())),
            Output::Text(writer) => Ok(writer.write(&file.to_string_lossy(), game)?),
            Output::Arrays(writer) => Ok(writer.write(game)?),
        }
    }

    /// Writes the rest.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Output::Nothing => {}
            Output::Text(writer) => match writer.finish()? {
                Target::Stdout(_) => {}
                Target::File(file) => file.finish()?,
            },
            Output::Arrays(writer) => {
                let (files, positions) = writer.finish()?;
                tell!("{positions} positions in {files} files");
            }
        }
        Ok(())
    }
}

fn arrays(args: &Args) -> anyhow::Result<Output> {
    let Some(folder) = &args.out else { bail!("--to npz needs --out FOLDER") };
    let is_free = folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_free {
        bail!("{} is not an empty folder; name a new one", folder.display());
    }
    let planes = match &args.arrays.net {
        None if args.arrays.planes == Some(Inputs::Evaluations) => {
            bail!("--planes evaluations: name the net whose evaluations they are with --net")
        }
        None => Planes::Of(args.arrays.planes.unwrap_or_default()),
        Some(path) => {
            let model = LoadedModel::read(path)?;
            let net = model.net().with_context(|| format!("{} is no net", path.display()))?;
            Planes::OfNet(net.clone())
        }
    };
    let most = args.arrays.positions as usize;
    Ok(Output::Arrays(Box::new(NpzWriter::new(folder, planes, most)?)))
}
