//! `outflank bench patterns`: how well a set of patterns fits the labels of a run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use super::Figure;
use crate::config::{Config, Method};
use crate::model::Description;
use crate::store::model_file::ModelFile;
use crate::train::learners::endgame::EndgameLearner;
use crate::train::stagewise::{StagewiseLearner as _, UnitContext};

/// Fits patterns to the labels of a run of method "endgame", and shows their errors on lines that
/// were held out.
///
/// The labels are those of the run's two newest rounds. No game is played, so two configurations
/// differ only in patterns, stages and fit. The errors are mean absolute ones, at the number of empty
/// squares and two more on both sides.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The configuration, with method "endgame".
    config: PathBuf,
    /// Change a key of the configuration, such as `endgame.gap=6`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The run directory whose labels are fitted.
    #[arg(long, value_name = "RUN_DIR")]
    labels: PathBuf,
    /// Write the model to this file, for `alphabeta:eval=FILE`; by default it is not kept. It has no
    /// parameters for Multi-ProbCut.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration is bad, the labels cannot be read or are too few, or the model cannot be
/// written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(&args.config, &args.overrides)?;
    let method = config.method;
    ensure!(
        method == Method::Endgame,
        "{}: the method is \"{method}\"; allowed: \"endgame\"",
        args.config.display()
    );
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(Path::new("unused"), &stop, &silent);
    let start = Instant::now();
    let (description, weights, fitted) = dispatch!(config.board, G => {
        let mut learner = EndgameLearner::<G>::new(&config.endgame, config.goal, config.seed)?;
        let fitted = learner.fit_labels_of(&args.labels, &context)?;
        (learner.description(), learner.model(), fitted)
    });
    let fitted = fitted.context("the fit was stopped")?;
    Figure::new("patterns labels", fitted.labels as f64, "boards").print(args.json)?;
    for (what, error) in fitted.errors {
        Figure::new(format!("patterns error, {what}"), error, "discs").print(args.json)?;
    }
    Figure::new("patterns fit", start.elapsed().as_secs_f64(), "s").print(args.json)?;
    if let Some(path) = &args.write {
        let description = Description { positions: fitted.labels, ..description };
        let bytes = weights.to_bytes(&Default::default());
        ModelFile::seal(&serde_json::to_value(description)?, &bytes)?.write(path)?;
    }
    Ok(ExitCode::SUCCESS)
}
