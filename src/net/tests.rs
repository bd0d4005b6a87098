//! Tests of the net as a whole.

use tch::{Device, Kind, Tensor};

use super::optimizer::{Optimizer, UpdateRule};
use super::{Net, NetSpec, Pass, Tower};
use crate::game::{Shape, Symmetry};
use crate::model::weights::{Metadata, Weights};
use crate::net::fixtures::{positions, resnet, trained};
use crate::net::{TowerOptions, array_specs};

fn paper(shape: Shape) -> NetSpec {
    let options =
        TowerOptions { tower: Tower::Paper, channels: 8, dropout: 0.3, ..TowerOptions::default() };
    NetSpec { shape, options, evaluator: None }
}

#[test]
fn a_seed_makes_one_net_and_weights_round_trip() {
    for spec in [resnet(Shape::Octagon88, 2, 16), paper(Shape::Square6)] {
        let net = Net::new(&spec, 5, Device::Cpu);
        assert_eq!(net.weights(), Net::new(&spec, 5, Device::Cpu).weights());
        assert_ne!(net.weights(), Net::new(&spec, 6, Device::Cpu).weights());
        let weights = trained(&spec, 9);
        let bytes = weights.to_bytes(&Metadata::new());
        let mut other = Net::new(&spec, 1, Device::Cpu);
        other.load(&Weights::from_bytes(&bytes).unwrap().0).unwrap();
        assert_eq!(other.weights(), weights);
    }
}

#[test]
fn weights_of_another_net_are_refused() {
    let mut net = Net::new(&resnet(Shape::Square8, 2, 16), 1, Device::Cpu);
    let before = net.weights();
    let refusal = |net: &mut Net, spec: &NetSpec| {
        net.load(&Net::new(spec, 1, Device::Cpu).weights()).unwrap_err().to_string()
    };
    let error = refusal(&mut net, &resnet(Shape::Square8, 2, 32));
    assert!(error.contains("has shape [32, 16, 3, 3]"), "{error}");
    let error = refusal(&mut net, &resnet(Shape::Square8, 1, 16));
    assert!(error.contains("block.1.conv1.weight") && error.contains("missing"), "{error}");
    let error = refusal(&mut net, &resnet(Shape::Square8, 3, 16));
    assert!(error.contains("this net has no array `block.2"), "{error}");
    let error = refusal(&mut net, &resnet(Shape::Square6, 2, 16));
    assert!(error.contains("policy.out.bias"), "{error}");
    assert_eq!(net.weights(), before);
}

/// The `paper` tower relies on this: it does not mask its planes after the rim is dropped.
#[test]
fn all_holes_are_on_the_rim() {
    for shape in Shape::ALL {
        let layout = shape.layout();
        let rim = |cell: usize| {
            [cell / layout.width, cell % layout.width]
                .iter()
                .any(|&at| at % (layout.width - 1) == 0)
        };
        let holes = (0..layout.cells()).filter(|&cell| !layout.cell_of.contains(&(cell as u8)));
        assert!(holes.clone().all(rim), "{shape}");
        assert_eq!(holes.count(), layout.cells() - layout.squares, "{shape}");
    }
}

#[test]
fn the_paper_tower_drops_the_rim_twice() {
    // On 8x8 the convolutions compute 8, 8, 6 and 4 rows. That leaves 4 * 4 = 16 cells.
    let spec = paper(Shape::Square8);
    assert_eq!(spec.paper_features(), 8 * 16);
    let cells = f64::from(8 * (8 * 8 + 6 * 6 + 4 * 4) + 8 * 8);
    assert_eq!(spec.flops(), 2.0 * 9.0 * 8.0 * cells);
}

#[test]
fn heads_have_their_sizes_and_can_be_switched_off() {
    for shape in Shape::ALL {
        let squares = shape.layout().squares as i64;
        for mut spec in [resnet(shape, 2, 16), paper(shape)] {
            let inputs = positions(shape, 3, 1);
            let net = Net::new(&spec, 1, Device::Cpu);
            let heads = net.forward(&net.planes(&inputs, Kind::Float), Pass::INFERENCE);
            assert_eq!(heads.policy.size(), [3, squares]);
            assert_eq!(heads.value.size(), [3]);
            assert_eq!(heads.score.map(|score| score.size()), Some(vec![3]));
            assert_eq!(heads.owner.map(|owner| owner.size()), Some(vec![3, squares]));
            (spec.options.score_head, spec.options.owner_head) = (false, false);
            let net = Net::new(&spec, 1, Device::Cpu);
            let heads = net.forward(&net.planes(&inputs, Kind::Float), Pass::INFERENCE);
            assert!(heads.score.is_none() && heads.owner.is_none());
        }
    }
}

/// With symmetric filters the policy of a turned position is the turned policy.
#[test]
fn a_symmetric_net_turns_with_the_board() {
    for shape in Shape::ALL {
        let spec = resnet(shape, 2, 16);
        let mut weights = Weights::default();
        let source = trained(&spec, 3);
        for part in array_specs(&spec) {
            let mut values = source.get(&part.name, &part.shape).unwrap().to_vec();
            if part.shape.ends_with(&[3, 3]) {
                for filter in values.chunks_exact_mut(9) {
                    let (edge, corner) = (filter[1], filter[0]);
                    [1, 3, 5, 7].into_iter().for_each(|tap| filter[tap] = edge);
                    [0, 2, 6, 8].into_iter().for_each(|tap| filter[tap] = corner);
                }
            }
            if part.name == "policy.out.bias" {
                values.fill(0.0);
            }
            weights.insert(part.name, part.shape, values);
        }
        let net = Net::with_weights(&spec, &weights, Device::Cpu).unwrap();
        let policy = |inputs: &[crate::predict::Input]| {
            net.forward(&net.planes(inputs, Kind::Float), Pass::INFERENCE).policy
        };
        let layout = shape.layout();
        let inputs = positions(shape, 5, 2);
        let plain = policy(&inputs);
        for symmetry in Symmetry::ALL {
            let map = &layout.maps[symmetry.index()];
            let turn = |set: u128| {
                let bits = layout.bit_of.iter().enumerate();
                let there = bits.filter(|&(_, &bit)| set >> bit & 1 == 1);
                there.fold(0u128, |image, (square, _)| {
                    image | 1 << layout.bit_of[map[square] as usize]
                })
            };
            let turned: Vec<_> = (inputs.iter())
                .map(|input| crate::predict::Input {
                    mine: turn(input.mine),
                    theirs: turn(input.theirs),
                    legal: turn(input.legal),
                })
                .collect();
            let index: Vec<i64> = map.iter().map(|&square| square as i64).collect();
            let back = policy(&turned).index_select(1, &Tensor::from_slice(&index));
            let difference = (back - &plain).abs().max().double_value(&[]);
            assert!(difference < 1e-4, "{shape} {symmetry:?}: {difference}");
        }
    }
}

#[test]
fn training_in_bf16_lowers_the_loss_and_changes_every_array() {
    let spec = resnet(Shape::Square6, 2, 16);
    let net = Net::new(&spec, 2, Device::Cpu);
    let start = net.weights();
    let mut optimizer = Optimizer::new(&net, UpdateRule::Sgd { momentum: 0.9 }, 0.0);
    let inputs = positions(Shape::Square6, 32, 6);
    let planes = net.planes(&inputs, Kind::BFloat16);
    let mut losses = Vec::new();
    for _ in 0..30 {
        let heads = net.forward(&planes, Pass::train(Kind::BFloat16));
        let target = Tensor::arange(32, (Kind::Int64, Device::Cpu));
        let loss = heads.policy.cross_entropy_for_logits(&target)
            + (heads.value - 0.5).square().mean(Kind::Float)
            + heads.score.map(|score| (score + 0.3).square().mean(Kind::Float)).unwrap()
            + heads.owner.map(|owner| (owner - 0.2).square().mean(Kind::Float)).unwrap();
        losses.push(loss.double_value(&[]));
        let gradients = net.gradients(&loss);
        optimizer.step(&net, &gradients, 0.05);
    }
    assert!(losses[29] < 0.5 * losses[0], "{losses:?}");
    for (name, array) in net.weights().iter() {
        assert_ne!(start.get(name, &array.shape).unwrap(), array.values, "{name}");
    }
}
