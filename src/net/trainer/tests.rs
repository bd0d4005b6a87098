//! Compares gradients with those of libtorch in float32.

use tch::{Device, Kind, Tensor};

use super::Trainer;
use crate::game::Shape;
use crate::net::fixtures::{positions, resnet, trained, with_evaluations};
use crate::net::{Heads, Inputs, Net, NetSpec, Pass};

/// A loss in which every output of every head has a different weight.
fn loss(heads: &Heads) -> Tensor {
    let waves = |tensor: &Tensor, step: f64| {
        let count = tensor.numel() as i64;
        let wave = (Tensor::arange(count, (Kind::Float, Device::Cpu)) * step).sin();
        (tensor * wave.view_as(tensor)).sum(Kind::Float)
    };
    let mut sum = waves(&heads.policy, 0.7) + waves(&heads.value.square(), 0.3);
    if let Some(score) = &heads.score {
        sum += waves(&(score - 0.2).square(), 1.1);
    }
    if let Some(owner) = &heads.owner {
        sum += waves(&(owner - 0.1).square(), 0.9);
    }
    Tensor::stack(&[&sum, &(&sum * 2.0)], 0)
}

fn agrees(spec: &NetSpec, count: usize, kind: Kind) {
    let weights = trained(spec, 5);
    let net = || Net::with_weights(spec, &weights, Device::Cpu).expect("weights that fit");
    // Leaves out the first moves of a game. On symmetric boards several cells hold a maximum, and
    // implementations differ in which of them gets the gradient.
    let inputs = &positions(spec.shape, count + 6, 3)[6..];
    let by_torch = |kind: Kind| {
        let torch = net();
        let heads = torch.forward(&torch.planes(inputs, kind), Pass::train(kind));
        let loss = loss(&heads);
        let gradients = torch.gradients(&loss.get(0));
        let statistics = torch.variables().vectors()[3].copy();
        let all = [loss.detach()].into_iter().chain(gradients).chain([statistics]);
        all.collect::<Vec<Tensor>>()
    };
    let wanted = by_torch(Kind::Float);
    let mut ours = net();
    let mut trainer = Trainer::new(spec, Device::Cpu, Some(kind)).expect("a trainer");
    // A larger batch before: its numbers must not influence the next batch.
    let more = positions(spec.shape, count + 40, 4);
    let _first = trainer.gradients(&mut ours, &more, loss);
    let mut ours = net();
    let (loss, gradients) = trainer.gradients(&mut ours, inputs, loss);
    let statistics = ours.variables().vectors()[3].copy();
    let found: Vec<Tensor> = [loss].into_iter().chain(gradients).chain([statistics]).collect();
    let error = |found: &Tensor, wanted: &Tensor| {
        let size = wanted.square().sum(Kind::Float).sqrt().double_value(&[]).max(1e-6);
        (found - wanted).square().sum(Kind::Float).sqrt().double_value(&[]) / size
    };
    // Where rounding moves a sum across 0, a ReLU passes another gradient. The longer polynomials
    // of boards of ten rows round more. In bf16 errors are about as large as those of libtorch.
    let tolerances: Vec<f64> = match kind {
        Kind::BFloat16 => {
            let rounded = by_torch(kind);
            rounded.iter().zip(&wanted).map(|(a, b)| 2.0 * error(a, b).max(0.01)).collect()
        }
        _ if spec.shape.layout().width == 10 => vec![0.03; wanted.len()],
        _ => vec![0.005; wanted.len()],
    };
    let names = ["loss", "factors", "output factors", "offsets", "statistics"];
    for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let (error, tolerance) = (error(found, wanted), tolerances[index]);
        assert!(error < tolerance, "{}: {error}, not {tolerance}, {spec:?}", names[index]);
    }
}

#[test]
fn gradients_agree_with_libtorch() {
    for shape in Shape::ALL {
        agrees(&resnet(shape, 2, 32), 21, Kind::Float);
    }
    agrees(&resnet(Shape::Square6, 3, 24), 40, Kind::Float);
    agrees(&with_evaluations(resnet(Shape::Square8, 1, 16)), 16, Kind::Float);
    let mut bare = resnet(Shape::Square8, 1, 16);
    bare.options.global_pooling = false;
    bare.options.score_head = false;
    bare.options.owner_head = false;
    bare.options.inputs = Inputs::Discs;
    agrees(&bare, 16, Kind::Float);
}

#[cfg(target_arch = "x86_64")]
fn agree_on_tiles() {
    if !crate::net::tile::available() {
        crate::net::fixtures::skipped(
            "training on tiles: this processor has no AMX for bf16, or no AVX-512 for it",
        );
        return;
    }
    for shape in Shape::ALL {
        agrees(&resnet(shape, 2, 32), 21, Kind::BFloat16);
    }
    // More positions than a group has, and more channels than a row of a tile.
    agrees(&resnet(Shape::Square8, 2, 64), 45, Kind::BFloat16);
    let mut discs = resnet(Shape::Square6, 1, 32);
    discs.options.inputs = Inputs::Discs;
    agrees(&discs, 16, Kind::BFloat16);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn gradients_on_tiles_agree_with_libtorch() {
    agree_on_tiles();
}

/// The same with emulated tiles: only the tile instructions differ.
#[test]
#[cfg(target_arch = "x86_64")]
fn gradients_on_emulated_tiles_agree_with_libtorch() {
    crate::net::tile::emulated::with(agree_on_tiles);
}

#[test]
fn code_is_chosen_by_precision_and_channels() {
    let by = |channels: u32, kind: Option<Kind>| {
        let trainer = Trainer::new(&resnet(Shape::Square6, 1, channels), Device::Cpu, kind);
        trainer.map(|trainer| trainer.describe())
    };
    let choose = |tiles: bool| {
        let winograd =
            |described: Option<String>| described.is_some_and(|d| d.contains("Winograd"));
        assert!(winograd(by(24, None)) && winograd(by(32, Some(Kind::Float))));
        assert_eq!(by(24, Some(Kind::BFloat16)), None);
        assert_eq!(by(32, Some(Kind::Half)), None);
        assert_eq!(by(32, Some(Kind::BFloat16)).is_some(), tiles);
        assert_eq!(winograd(by(32, None)), !tiles);
    };
    #[cfg(target_arch = "x86_64")]
    {
        choose(crate::net::tile::available());
        crate::net::tile::emulated::with(|| choose(crate::net::tile::available()));
    }
    #[cfg(not(target_arch = "x86_64"))]
    choose(false);
}

#[test]
fn gradients_are_reproducible() {
    reproducible(16);
    reproducible(32);
    #[cfg(target_arch = "x86_64")]
    crate::net::tile::emulated::with(|| reproducible(32));
}

fn reproducible(channels: u32) {
    let spec = resnet(Shape::Square6, 2, channels);
    let inputs = positions(spec.shape, 20, 1);
    let once = || {
        let mut net = Net::new(&spec, 1, Device::Cpu);
        let mut trainer = Trainer::new(&spec, Device::Cpu, None).expect("a trainer");
        trainer.gradients(&mut net, &inputs, loss).1
    };
    for (first, second) in once().iter().zip(&once()) {
        assert!(first.equal(second));
    }
}
