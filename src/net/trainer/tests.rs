//! Gradients against libtorch's, in float32.

use tch::{Device, Kind, Tensor};

use super::Trainer;
use crate::game::Shape;
use crate::net::fixtures::{positions, resnet, trained};
use crate::net::{Heads, Inputs, Net, NetSpec, Pass};

/// A loss in which every output of every head has a weight of its own.
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

fn agrees(spec: &NetSpec, count: usize) {
    let weights = trained(spec, 5);
    let net = || Net::with_weights(spec, &weights, Device::Cpu).expect("weights that fit");
    // Without the first moves of a game: where a board is symmetric several cells hold a maximum,
    // and which of them takes the gradient is chance.
    let inputs = &positions(spec.shape, count + 6, 3)[6..];
    let torch = net();
    let heads = torch.forward(&torch.planes(inputs, Kind::Float), Pass::train(Kind::Float));
    let wanted_loss = loss(&heads);
    let wanted = torch.gradients(&wanted_loss.get(0));
    let mut ours = net();
    let mut trainer = Trainer::new(spec, Device::Cpu).expect("a trainer");
    // Twice, since nothing of a batch may be left over for the next.
    let _first = trainer.gradients(&mut ours, &inputs[..count / 2], loss);
    let mut ours = net();
    let (found_loss, found) = trainer.gradients(&mut ours, inputs, loss);
    // Where rounding moves a sum across 0, a ReLU passes another gradient; the longer polynomials of
    // boards of ten rows round more.
    let tolerance = if spec.shape.layout().width == 10 { 0.03 } else { 0.005 };
    let close = |found: &Tensor, wanted: &Tensor, what: &str| {
        let error = (found - wanted).square().sum(Kind::Float).sqrt().double_value(&[]);
        let size = wanted.square().sum(Kind::Float).sqrt().double_value(&[]).max(1e-6);
        assert!(error < tolerance * size, "{what}: {error} of {size}, {spec:?}");
    };
    close(&found_loss, &wanted_loss, "loss");
    for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        close(found, wanted, ["factors", "last factors", "offsets"][index]);
    }
    let statistics = |net: &Net| net.variables().vectors()[3].copy();
    close(&statistics(&ours), &statistics(&torch), "statistics");
}

#[test]
fn gradients_agree_with_libtorch() {
    for shape in Shape::ALL {
        agrees(&resnet(shape, 2, 32), 21);
    }
    agrees(&resnet(Shape::Square6, 3, 24), 40);
    let mut bare = resnet(Shape::Square8, 1, 16);
    bare.options.global_pooling = false;
    bare.options.score_head = false;
    bare.options.owner_head = false;
    bare.options.inputs = Inputs::Discs;
    agrees(&bare, 16);
}

#[test]
fn gradients_are_the_same_each_time() {
    let spec = resnet(Shape::Square6, 2, 16);
    let inputs = positions(spec.shape, 20, 1);
    let once = || {
        let mut net = Net::new(&spec, 1, Device::Cpu);
        let mut trainer = Trainer::new(&spec, Device::Cpu).expect("a trainer");
        trainer.gradients(&mut net, &inputs, loss).1
    };
    for (first, second) in once().iter().zip(&once()) {
        assert!(first.equal(second));
    }
}
