//! `outflank show`: prints a model as a person wants to see it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use super::contest::write_file;
use crate::arena::svg::{FeatureWeights, SquareMap, feature_weights, square_maps};
use crate::eval::linear::{self, Feature, Features};
use crate::eval::ntuple::{self, Tuples};
use crate::eval::onehot;
use crate::eval::patterns::{self, PatternSet};
use crate::game::{Geometry, Position, Square, notation};
use crate::model::Kind;
use crate::net::inference;
use crate::players::models::LoadedModel;
use crate::predict::{Input, Predictions};

/// Stages whose square maps are printed; the picture has all.
const STAGES_IN_TEXT: usize = 3;

/// Prints a model: what it is, its weights, and what it thinks of the start position.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A model file, a checkpoint or a run directory
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Also writes a picture (SVG): the weights by stage of a model without weights of squares, else
    /// the boards. By default none is written
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// There is no model, it is damaged, or the picture cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let model = LoadedModel::read(&args.model)?;
    let shape = model.description.shape;
    let shown = dispatch!(shape, G => show::<G>(&model))?;
    print!("{}", shown.head);
    let count = shown.weights.len();
    for (index, map) in shown.weights.iter().enumerate() {
        let step = count.div_ceil(STAGES_IN_TEXT).max(1);
        if index % step == step / 2 {
            print!("\n{}", map.text(shape));
        }
    }
    print!("\n{}", shown.start.text(shape));
    if let Some(path) = &args.svg {
        write_file(path, &shown.picture(&model))?;
        tell!("the picture is in {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is shown of a model.
struct Shown {
    /// What it is, in lines of text.
    head: String,
    /// The weights of the features that are not of squares.
    features: Vec<FeatureWeights>,
    /// The weights of the squares, for each stage.
    weights: Vec<SquareMap>,
    /// The policy at the start position.
    start: SquareMap,
}

impl Shown {
    fn picture(self, model: &LoadedModel) -> String {
        if self.weights.is_empty() && !self.features.is_empty() {
            return feature_weights(stages(model), &self.features);
        }
        let maps: Vec<SquareMap> = std::iter::once(self.start).chain(self.weights).collect();
        square_maps(model.description.shape, &maps)
    }
}

fn show<G: Geometry>(model: &LoadedModel) -> anyhow::Result<Shown> {
    let description = &model.description;
    let (kind, shape, goal) = (description.kind, description.shape, description.goal);
    let mut head = format!("{}\n", model.path.display());
    let mut line = |name: &str, text: String| {
        let _ = writeln!(head, "{name:<12}{text}");
    };
    line("kind", kind.to_string());
    line("board", format!("{shape}, goal {goal}"));
    let numbers: usize = model.weights().iter().map(|(_, array)| array.values.len()).sum();
    line("weights", format!("{numbers} in {} arrays", model.weights().len()));
    line("trained", format!("{} steps, {} positions", description.steps, description.positions));
    let folder = if model.path.is_file() { model.path.parent() } else { Some(&*model.path) };
    let card = folder.map_or_else(PathBuf::new, |folder| folder.join("README.md"));
    if card.is_file() {
        line("card", card.display().to_string());
    }
    let (mut features, mut weights) = (Vec::new(), Vec::new());
    match kind {
        Kind::Net => {
            if let Some(net) = model.net() {
                line("size", format!("{} blocks of {} channels", net.blocks(), net.channels()));
            }
        }
        Kind::Linear => {
            let options = linear::Options::read(&description.options)?;
            let all = Features::<G>::new(&options.features)?;
            features = weights_of_features(model, &all, &options.features);
            weights = square_weights::<G>(model, &all);
            let _ = write!(head, "\n{}", stage_table(stages(model), &features));
        }
        Kind::Patterns | Kind::PatternNet => {
            let options = patterns::Options::read(&description.options)?;
            let set = PatternSet::read::<G>(&options.patterns)?;
            pattern_lines("patterns", &options.patterns, &set, &mut line);
        }
        Kind::NTuple => {
            let options = ntuple::Options::read(&description.options)?;
            let tuples = Tuples::read::<G>(&options)?;
            pattern_lines("tuples", &options.tuples, tuples.patterns(), &mut line);
            line("counts", format!("{} (stable discs: {})", tuples.counts(), options.stable));
        }
        Kind::OneHot => {
            let options = onehot::Options::read(&description.options)?;
            let inputs = (options.marks().list().len() + 1) * G::SQUARES;
            line("size", format!("{inputs} inputs, {} hidden units", options.hidden));
            let onehot::Options { frontier, stable, .. } = options;
            line("marks", format!("frontier discs: {frontier}, stable discs: {stable}"));
        }
    }
    let start = start::<G>(model, &mut head)?;
    Ok(Shown { head, features, weights, start })
}

/// The sizes of a set of patterns: a line for all, and one for each.
fn pattern_lines(
    name: &str,
    texts: &[String],
    set: &PatternSet,
    line: &mut impl FnMut(&str, String),
) {
    let (count, images) = (set.patterns().len(), set.images().len());
    line(name, format!("{count}, {images} with their images on the board"));
    for (text, pattern) in texts.iter().zip(set.patterns()) {
        line("", format!("{text}: {} weights", pattern.weights()));
    }
}

/// The stages of a model: the numbers of discs.
fn stages(model: &LoadedModel) -> &[f32] {
    model.weights().array("discs").map_or(&[], |array| &array.values)
}

/// The weights of the features that are not of squares.
fn weights_of_features<G: Geometry>(
    model: &LoadedModel,
    features: &Features<G>,
    list: &[Feature],
) -> Vec<FeatureWeights> {
    let weights = model.weights().array("weights").map_or(&[][..], |array| &array.values);
    let plain = list.iter().filter(|feature| !feature.is_of_squares());
    let of_feature = |&feature: &Feature| {
        let place = features.first_of(|other| other == feature)?;
        let weights = weights.chunks(features.count()).map(|row| row[place]).collect();
        Some(FeatureWeights { name: feature.name().into(), weights })
    };
    plain.filter_map(of_feature).collect()
}

/// The weights by stage as a table.
fn stage_table(stages: &[f32], features: &[FeatureWeights]) -> String {
    let mut text = String::from("weights by the number of discs on the board, in discs\n discs");
    for feature in features {
        let _ = write!(text, " {:>10}", feature.name);
    }
    text.push('\n');
    for (stage, discs) in stages.iter().enumerate() {
        let _ = write!(text, "{discs:6.0}");
        for feature in features {
            let _ = write!(text, " {:10.3}", feature.weights[stage]);
        }
        text.push('\n');
    }
    text
}

/// The weights of the squares, for each stage; none if the model has none.
fn square_weights<G: Geometry>(model: &LoadedModel, features: &Features<G>) -> Vec<SquareMap> {
    let weights = model.weights().array("weights").map_or(&[][..], |array| &array.values);
    let Some(first) = features.first_of(Feature::is_of_squares) else { return Vec::new() };
    let rows = weights.chunks(features.count());
    let map = |(discs, row): (&f32, &[f32])| {
        let number = |square| Some(row[first + features.class_of(Square(square))]);
        SquareMap {
            title: format!("weights of the squares at {discs:.0} discs"),
            numbers: (0..G::SQUARES as u8).map(number).collect(),
            decimals: 2,
        }
    };
    stages(model).iter().zip(rows).map(map).collect()
}

/// What the model thinks of the start position: lines for `head`, and the policy in percent.
fn start<G: Geometry>(model: &LoadedModel, head: &mut String) -> anyhow::Result<SquareMap> {
    let board = Position::<G>::start().board;
    let legal = board.legal();
    let mut predictions = Predictions::default();
    let mut backend = model.backend(&inference::Options::default(), "cpu")?;
    backend.predict(&[Input::new(board, legal)], &mut predictions)?;
    let found = predictions.get(0, G::SQUARES);
    let chance = 50.0 * (1.0 + found.value);
    let _ = write!(head, "\nstart position: {chance:.1} % for the side to move");
    if model.has_score() {
        let _ = write!(head, ", {:+.1} discs", found.score);
    }
    head.push('\n');
    let most = legal.map(|square| found.policy[square.index()]).fold(f32::MIN, f32::max);
    let weight = |square: Square| (found.policy[square.index()] - most).exp();
    let sum: f32 = legal.map(weight).sum();
    let percent = |square| legal.contains(square).then(|| 100.0 * weight(square) / sum);
    let names: Vec<_> = legal.map(notation::square_name::<G>).collect();
    Ok(SquareMap {
        title: format!("policy at the start, % ({})", names.join(" ")),
        numbers: (0..G::SQUARES as u8).map(|square| percent(Square(square))).collect(),
        decimals: 1,
    })
}
