//! Speed of nets on one core: `cargo bench --bench net -- [infer|learn] [BLOCKSxCHANNELS]...
//! [batch=N]...`
//!
//! Backends are timed one directly after another, so compare the ratios. Absolute figures depend on
//! the other load of the machine.

use std::time::Duration;

use outflank::game::Shape;
use outflank::net::inference::{self, BackendKind, Options, Precision};
use outflank::net::{Net, NetSpec, TowerOptions, bench};
use tch::{Device, Kind};

fn main() {
    let mut sizes = Vec::new();
    let mut batches = Vec::new();
    let mut modes = Vec::new();
    for word in std::env::args().skip(1) {
        if let Some((blocks, channels)) = word.split_once('x') {
            let number = |text: &str| text.parse().expect("BLOCKSxCHANNELS");
            sizes.push((number(blocks), number(channels)));
        } else if let Some(batch) = word.strip_prefix("batch=") {
            batches.push(batch.parse().expect("batch=N"));
        } else if !word.starts_with("--") {
            modes.push(word);
        }
    }
    if sizes.is_empty() {
        sizes = vec![(4, 32), (6, 64), (8, 96)];
    }
    tch::set_num_threads(1);
    if let Some(peak) = inference::tile_peak() {
        println!("peak of one core's matrix tiles: {:.2} TFLOP/s", peak / 1e12);
    }
    for (blocks, channels) in sizes {
        let options = TowerOptions { blocks, channels, ..TowerOptions::default() };
        let spec = NetSpec { shape: Shape::Square8, options, evaluator: None };
        let net = Net::new(&spec, 1, Device::Cpu);
        if modes.is_empty() || modes.iter().any(|mode| mode == "infer") {
            let batches = if batches.is_empty() { &[64, 256][..] } else { &batches };
            batches.iter().for_each(|&batch| infer(&spec, &net, batch));
        }
        if modes.is_empty() || modes.iter().any(|mode| mode == "learn") {
            let batches = if batches.is_empty() { &[1024][..] } else { &batches };
            batches.iter().for_each(|&batch| learn(&net, batch));
        }
    }
}

fn infer(spec: &NetSpec, net: &Net, batch: usize) {
    let weights = net.weights();
    let mut base = 0.0;
    for (backend, precision) in [
        (BackendKind::Eager, Precision::F32),
        (BackendKind::Eager, Precision::Bf16),
        (BackendKind::Winograd, Precision::Auto),
        (BackendKind::Amx, Precision::Auto),
    ] {
        let options = Options { backend, precision };
        let mut copy = match inference::open(spec, &weights, &options, "cpu") {
            Ok(copy) => copy,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let time = Duration::from_secs(1);
        let rate = bench::predictions_per_second(&mut *copy, spec.shape, batch, time)
            .expect("predictions");
        if precision == Precision::Bf16 {
            base = rate;
        }
        println!(
            "infer {}x{} batch {batch}: {rate:9.0} positions/s, {:4.2} TFLOP/s, {:4.2} of eager bf16  {}",
            spec.options.blocks,
            spec.options.channels,
            rate * spec.flops() / 1e12,
            rate / base,
            copy.describe(),
        );
    }
}

fn learn(net: &Net, batch: usize) {
    for kind in [Kind::Float, Kind::BFloat16] {
        let rate = bench::training_positions_per_second(net, batch, kind, Duration::from_secs(3));
        let options = &net.spec().options;
        println!(
            "learn {}x{} batch {batch}: {rate:9.0} positions/s, {kind:?}",
            options.blocks, options.channels
        );
    }
}
