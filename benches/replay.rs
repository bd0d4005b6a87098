//! How far honest and forged games are from their replays, and what a replay costs.
//!
//! `cargo bench --bench replay -- MODEL [GAMES] [SIMULATIONS] [OTHER MODEL]...` plays games of
//! self-play with MODEL by several backends, and forges others. All of them are played again by the
//! fastest backend. For each kind it prints the mean, the 99th percentile (honest games) or the 1st
//! percentile (forged ones) and the extreme of each distance, and the share of the games that the
//! default thresholds let pass. Games of the same kernel must be the same; it prints how many are,
//! and what it costs to play a game again and to check its rules.

use std::time::Instant;

use outflank::config::Config;
use outflank::dispatch;
use outflank::game::Geometry;
use outflank::game::record::GameRecord;
use outflank::model::Weights;
use outflank::net::NetSpec;
use outflank::net::inference::{self, BackendKind, Options, Precision};
use outflank::pipeline::cluster::trust::replay::{
    Claim, Distance, Net, Replayer, Thresholds, Verdict, kernel_name,
};
use outflank::pipeline::cluster::trust::{Facts, check};
use outflank::pipeline::selfplay_settings;
use outflank::players::models::LoadedModel;
use outflank::predict::{Backend, LocalPredictor};
use outflank::train::game::SelfPlaySettings;
use outflank::train::selfplay::{Actor, GameNumbers, NetVersion};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

const VERSION: NetVersion = NetVersion { version: 0, positions: 0 };
/// Thresholds that let everything pass.
const NONE: Thresholds =
    Thresholds { values: f32::INFINITY, policies: f32::INFINITY, moves: f32::INFINITY };

/// The games of one kind, and whether they are honest.
struct Kind {
    name: String,
    is_honest: bool,
    games: Vec<GameRecord>,
}

fn backend(
    spec: &NetSpec,
    weights: &Weights,
    kind: BackendKind,
    precision: Precision,
) -> Box<dyn Backend> {
    let options = Options { backend: kind, precision };
    inference::open(spec, weights, &options, "cpu").expect("a backend that runs here")
}

fn play<G: Geometry>(
    settings: &SelfPlaySettings,
    backend: Box<dyn Backend>,
    count: usize,
) -> Vec<GameRecord> {
    let numbers = GameNumbers::from(0);
    let predictor = Box::new(LocalPredictor::new(backend));
    let mut actor = Actor::<G>::new(settings.clone(), predictor, 1, &numbers, VERSION);
    let mut games = Vec::new();
    while games.len() < count {
        actor.step(&numbers, &mut games).expect("predictions");
    }
    games
}

/// The net with noise in all weights, relative to their standard deviation in each array.
fn with_noise(spec: &NetSpec, weights: &Weights, share: f32) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut noisy = Weights::default();
    for array in outflank::net::array_specs(spec) {
        let mut values = weights.get(&array.name, &array.shape).expect("an array").to_vec();
        let count = values.len() as f32;
        let mean = values.iter().sum::<f32>() / count;
        let spread = (values.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / count).sqrt();
        let normal = Normal::new(0.0, share * spread).expect("a distribution");
        // A variance must stay positive.
        values.iter_mut().for_each(|x| *x += normal.sample(&mut random).max(-0.5 * x.abs()));
        noisy.insert(array.name, array.shape, values);
    }
    noisy
}

fn forged(
    games: &[GameRecord],
    mut forge: impl FnMut(&mut GameRecord, &mut Xoshiro256PlusPlus),
) -> Vec<GameRecord> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut games = games.to_vec();
    games.iter_mut().for_each(|game| forge(game, &mut random));
    games
}

fn kinds<G: Geometry>(
    settings: &SelfPlaySettings,
    (spec, weights): (&NetSpec, &Weights),
    others: &[LoadedModel],
    count: usize,
) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |name: &str, is_honest, games: Vec<GameRecord>| {
        kinds.push(Kind { name: name.to_owned(), is_honest, games });
    };
    let by = |weights: &Weights, kind, precision| {
        play::<G>(settings, backend(spec, weights, kind, precision), count)
    };
    let honest = by(weights, BackendKind::Auto, Precision::Auto);
    add("winograd f32", true, by(weights, BackendKind::Winograd, Precision::F32));
    add("winograd auto", true, by(weights, BackendKind::Winograd, Precision::Auto));
    add("eager f32", true, by(weights, BackendKind::Eager, Precision::F32));
    add("eager bf16", true, by(weights, BackendKind::Eager, Precision::Bf16));
    for share in [0.003, 0.01, 0.03, 0.1, 0.3] {
        let noisy = with_noise(spec, weights, share);
        let games = by(&noisy, BackendKind::Auto, Precision::Auto);
        add(&format!("weights with {share} noise"), false, games);
    }
    for other in others {
        let backend = other.backend(&Options::default(), "cpu").expect("a backend");
        add(&other.path.display().to_string(), false, play::<G>(settings, backend, count));
    }
    add(
        "random values",
        false,
        forged(&honest, |game, random| {
            for played in game.moves.iter_mut().filter(|played| played.exact.is_none()) {
                played.value = Some(random.random_range(-1.0..1.0));
            }
        }),
    );
    add(
        "values 0",
        false,
        forged(&honest, |game, _| {
            for played in game.moves.iter_mut().filter(|played| played.exact.is_none()) {
                played.value = Some(0.0);
            }
        }),
    );
    add(
        "shuffled policies",
        false,
        forged(&honest, |game, random| {
            for played in game.moves.iter_mut().filter(|played| played.exact.is_none()) {
                for place in 1..played.policy.len() {
                    played.policy.swap(place, random.random_range(0..=place));
                }
            }
        }),
    );
    add(
        "even policies",
        false,
        forged(&honest, |game, _| {
            for played in game.moves.iter_mut().filter(|played| played.exact.is_none()) {
                played.policy.fill(u16::MAX);
            }
        }),
    );
    kinds
}

fn report(kind: &Kind, distances: &mut [Distance]) {
    let column = |distances: &mut [Distance], of: fn(&Distance) -> f32| {
        distances.sort_by(|a, b| of(a).total_cmp(&of(b)));
        let count = distances.len();
        let place = if kind.is_honest { count * 99 / 100 } else { count / 100 };
        let extreme = if kind.is_honest { count - 1 } else { 0 };
        let mean = distances.iter().map(of).sum::<f32>() / count as f32;
        format!("{mean:.4} {:.4} {:.4}", of(&distances[place]), of(&distances[extreme]))
    };
    let passed = distances.iter().filter(|found| Thresholds::default().allow(found)).count();
    let count = distances.len();
    println!(
        "{:<7}{:<40} values {}  policies {}  moves {}  passed {passed}/{count}",
        if kind.is_honest { "honest" } else { "forged" },
        kind.name,
        column(distances, |found| found.values),
        column(distances, |found| found.policies),
        column(distances, |found| found.moves),
    );
}

/// The time of `check` for a game.
fn seconds_of_check(games: &[GameRecord], settings: &SelfPlaySettings) -> f64 {
    let facts = Facts {
        board: games[0].shape,
        settings,
        is_leased: &|_| true,
        has_net: &|version| version == VERSION.version,
    };
    let start = Instant::now();
    for game in games {
        check(game, &facts).expect("an honest game");
    }
    start.elapsed().as_secs_f64() / games.len() as f64
}

fn run<G: Geometry>(model: &LoadedModel, others: &[LoadedModel], count: usize, simulations: u32) {
    let text = format!(
        "board = \"{}\"\ngoal = \"{}\"\n[search]\nsimulations = {simulations}",
        G::SHAPE,
        model.description.goal
    );
    let config = Config::parse("bench", &text, &[]).expect("a configuration");
    let settings = selfplay_settings(&config);
    let spec = model.net().expect("a net").clone();
    let mut own = backend(&spec, model.weights(), BackendKind::Auto, Precision::Auto);
    println!("replay by {}", kernel_name(own.as_ref()));
    for kind in kinds::<G>(&settings, (&spec, model.weights()), others, count) {
        let claim = |record| Claim { record, last_net: 0, kernel: "another one" };
        let claims: Vec<_> = kind.games.iter().map(claim).collect();
        let mut replayer = Replayer::<G>::new(settings.clone(), NONE);
        let start = Instant::now();
        let net = Net { version: VERSION, backend: own.as_mut() };
        let verdicts = replayer.replay(&claims, net, None).expect("predictions");
        let seconds = start.elapsed().as_secs_f64() / claims.len() as f64;
        let distance = |verdict: &Verdict| match *verdict {
            Verdict::Close { distance } | Verdict::Different { distance, .. } => Some(distance),
            _ => None,
        };
        report(&kind, &mut verdicts.iter().filter_map(distance).collect::<Vec<_>>());
        if kind.is_honest {
            let kernel = kernel_name(own.as_ref());
            let claims: Vec<_> =
                claims.iter().map(|claim| Claim { kernel: &kernel, ..*claim }).collect();
            let net = Net { version: VERSION, backend: own.as_mut() };
            let verdicts = replayer.replay(&claims, net, None).expect("predictions");
            let same = verdicts.iter().filter(|verdict| **verdict == Verdict::Same).count();
            println!(
                "       bit by bit the same: {same}/{}; a game's replay takes {seconds:.4} s, its \
                 rules {:.1} µs",
                claims.len(),
                1e6 * seconds_of_check(&kind.games, &settings)
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [model, rest @ ..] = &arguments[..] else {
        println!(
            "usage: cargo bench --bench replay -- MODEL [GAMES] [SIMULATIONS] [OTHER MODEL]..."
        );
        return;
    };
    let read = |path: &String| LoadedModel::read(path.as_ref()).expect("a model");
    let number = |place: usize, default: u32| {
        rest.get(place).map_or(default, |text| text.parse().expect("a number"))
    };
    let (model, others) = (read(model), rest.iter().skip(2).map(read).collect::<Vec<_>>());
    let (count, simulations) = (number(0, 100) as usize, number(1, 64));
    dispatch!(model.description.shape, G => run::<G>(&model, &others, count, simulations));
}
