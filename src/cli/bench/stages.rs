//! `outflank bench stages`: what a stage loses because a model and not exact play scores its boards.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, ensure};

use super::Figure;
use crate::config::{Config, Method};
use crate::train::learners::stages::{Fitted, StagesLearner};
use crate::train::stagewise::UnitContext;

/// Compares two models of the stage before the last: one is trained on minimax with the model of the
/// last stage at the leaves, the other on exact scores of the same boards. Prints the error of both
/// against the exact scores (Table III of Engel's paper).
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The configuration, with method "stages".
    config: PathBuf,
    /// Change a key of the configuration, such as `stages.gap=5`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(&args.config, &args.overrides)?;
    let method = config.method;
    ensure!(
        method == Method::Stages,
        "{}: the method is \"{method}\"; allowed: \"stages\"",
        args.config.display()
    );
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(Path::new("unused"), &stop, &silent);
    let found = dispatch!(config.board, G => {
        let learner = StagesLearner::<G>::new(&config.stages, config.goal, config.seed)?;
        learner.score_propagation(&context)?
    });
    let [trained, ideal] = found.context("there is only one stage; lower stages.gap")?;
    for (name, Fitted { sigma, right, .. }) in [("model-trained", trained), ("ideal", ideal)] {
        Figure::new(format!("{name} sigma"), sigma, "discs").print(args.json)?;
        Figure::new(format!("{name} signs right"), 100.0 * right, "%").print(args.json)?;
    }
    Ok(ExitCode::SUCCESS)
}
