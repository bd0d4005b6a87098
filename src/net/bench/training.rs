//! The speed of training by libtorch.

use std::time::Duration;

use tch::{Kind, Tensor};

use super::{best_rate, positions};
use crate::net::optimizer::{Optimizer, UpdateRule};
use crate::net::{Net, Pass};

/// Positions per second of training in `kind`, with `batch` positions per step and all heads.
/// A step is forward pass, losses, backward pass and SGD update, without sampling the batch.
pub fn training_positions_per_second(net: &Net, batch: usize, kind: Kind, time: Duration) -> f64 {
    let planes = net.planes(&positions(net.spec().shape, batch, 1), kind);
    let mut optimizer = Optimizer::new(net, UpdateRule::Sgd { momentum: 0.9 }, 1e-4);
    let policy = planes.select(1, 2).flatten(1, -1).to_kind(Kind::Float);
    let squares: Vec<i64> =
        net.spec().shape.layout().cell_of.iter().map(|&cell| cell as i64).collect();
    let policy = policy.index_select(1, &Tensor::from_slice(&squares).to_device(net.device()));
    let policy = &policy / policy.sum_dim_intlist(1, true, Kind::Float);
    let rate = best_rate(batch, time, || {
        let heads = net.forward(&planes, Pass::train(kind));
        let mut loss = -(heads.policy.log_softmax(-1, Kind::Float) * &policy).sum(Kind::Float)
            / batch as f64
            + heads.value.square().mean(Kind::Float);
        for extra in [heads.score, heads.owner].into_iter().flatten() {
            loss += (extra - 0.1).square().mean(Kind::Float) * 0.25;
        }
        let gradients = net.gradients(&loss);
        optimizer.step(net, &gradients, 1e-4);
        Ok::<(), std::convert::Infallible>(())
    });
    match rate {
        Ok(rate) => rate,
        Err(never) => match never {},
    }
}
