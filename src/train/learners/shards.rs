//! The gradients of a batch, computed by several threads.
//!
//! Each thread has a copy of the net and takes a part of the batch, which it normalises by its own
//! statistics, as data-parallel training does elsewhere (Goyal et al. 2017, section 3). The parts'
//! gradients, losses and running statistics are averaged in the order of the parts. So the same
//! number of threads gives the same numbers.

use std::ops::Range;
use std::thread;

use tch::{Kind, Tensor};

use crate::net::trainer::Trainer;
use crate::net::{Heads, Net, NetSpec, Pass};
use crate::train::replay::Batch;

/// The losses of a part of a batch, and the gradient of each of [`Net::parameters`].
type Gradients = (Tensor, Vec<Tensor>);

/// What computes the gradients of a part.
struct Worker {
    /// A copy of the net.
    net: Net,
    /// This program's own kernels; `None` if libtorch computes the gradients.
    trainer: Option<Trainer>,
}

/// The threads of a learner besides its own.
pub(super) struct Shards {
    workers: Vec<Worker>,
    kind: Kind,
}

/// The losses and gradients of one part of a batch. `loss` gets the heads' outputs for it.
pub(super) fn gradients(
    (net, trainer): (&mut Net, Option<&mut Trainer>),
    inputs: &[crate::predict::Input],
    kind: Kind,
    loss: impl FnOnce(&Heads) -> Tensor,
) -> Gradients {
    match trainer {
        Some(trainer) => trainer.gradients(net, inputs, loss),
        None => {
            let planes = net.planes(inputs, kind);
            let losses = loss(&net.forward(&planes, Pass::train(kind)));
            let gradients = net.gradients(&losses.get(0));
            (losses.detach(), gradients)
        }
    }
}

/// The parts of `count` positions for so many threads. Their sizes differ by at most one.
fn parts(count: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let at = move |part: usize| part * count / threads;
    (0..threads).map(move |part| at(part)..at(part + 1))
}

impl Shards {
    /// Workers for `threads` threads in all. `trainer` makes the kernels of each.
    pub fn new(
        spec: &NetSpec,
        (threads, kind): (usize, Kind),
        trainer: impl Fn() -> Option<Trainer>,
    ) -> Shards {
        let device = tch::Device::Cpu;
        let worker = |_| Worker { net: Net::new(spec, 0, device), trainer: trainer() };
        Shards { workers: (1..threads).map(worker).collect(), kind }
    }

    /// The mean losses and gradients of a batch. The first part is computed on this thread, by `net`
    /// and its trainer. `loss` gets the range of a part and the heads' outputs for it.
    pub fn gradients(
        &mut self,
        (net, trainer): (&mut Net, Option<&mut Trainer>),
        batch: &Batch,
        loss: impl Fn(Range<usize>, &Heads) -> Tensor + Sync,
    ) -> Gradients {
        let (kind, loss) = (self.kind, &loss);
        let mut parts = parts(batch.len(), self.workers.len() + 1);
        let first = parts.next().unwrap_or_default();
        self.workers.iter_mut().for_each(|worker| worker.net.copy_from(net));
        let found = thread::scope(|scope| {
            let threads: Vec<_> = self
                .workers
                .iter_mut()
                .zip(parts)
                .map(|(worker, part)| {
                    let Worker { net, trainer } = worker;
                    let compute = move || {
                        let inputs = &batch.inputs[part.clone()];
                        let loss = |heads: &Heads| loss(part.clone(), heads);
                        (part.len(), gradients((net, trainer.as_mut()), inputs, kind, loss))
                    };
                    scope.spawn(compute)
                })
                .collect();
            let inputs = &batch.inputs[first.clone()];
            let of_first = |heads: &Heads| loss(first.clone(), heads);
            let mut found =
                vec![(first.len(), gradients((&mut *net, trainer), inputs, kind, of_first))];
            for thread in threads {
                // A panic of a part is one of the learner.
                found.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            found
        });
        let shares: Vec<f64> =
            found.iter().map(|(count, _)| *count as f64 / batch.len() as f64).collect();
        let copies = self.workers.iter().map(|worker| &worker.net);
        net.average_statistics(shares[0], copies.zip(shares[1..].iter().copied()));
        tch::no_grad(|| {
            let weighted =
                found.into_iter().zip(shares).map(|((_, (losses, gradients)), share)| {
                    let gradients = gradients.into_iter().map(|gradient| gradient * share);
                    (losses * share, gradients.collect::<Vec<_>>())
                });
            let sum = weighted.reduce(|(losses, sums), (more, gradients)| {
                let sums = sums.into_iter().zip(gradients).map(|(sum, gradient)| sum + gradient);
                (losses + more, sums.collect())
            });
            sum.unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::game::Shape;
    use crate::net::fixtures::{positions, resnet, trained};
    use crate::net::inference;

    /// A batch of which only the inputs and the length count.
    fn batch(count: usize) -> Batch {
        let inputs = positions(Shape::Square6, count, 3);
        Batch { inputs, value: vec![0.0; count], ..Batch::default() }
    }

    fn mean_square(heads: &Heads) -> Tensor {
        let square = |tensor: &Tensor| (tensor - 0.3).square().mean(Kind::Float);
        let more = heads.score.iter().chain(&heads.owner).map(square);
        let sum = more.fold(square(&heads.policy) + square(&heads.value), |sum, one| sum + one);
        Tensor::stack(&[&sum, &(&sum * 2.0)], 0)
    }

    fn numbers(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.flatten(0, -1)).expect("numbers")
    }

    fn is_close(found: &Tensor, wanted: &Tensor) -> bool {
        let error = (found - wanted).square().sum(Kind::Float).double_value(&[]);
        error <= 1e-8 * wanted.square().sum(Kind::Float).double_value(&[]).max(1e-9)
    }

    #[test]
    fn gradients_are_the_weighted_means_of_the_parts() {
        inference::use_one_thread();
        let spec = resnet(Shape::Square6, 1, 16);
        let (weights, batch) = (trained(&spec, 5), batch(70));
        let net = || Net::with_weights(&spec, &weights, Device::Cpu).expect("a net");
        for has_kernels in [false, true] {
            let trainer =
                || Trainer::new(&spec, Device::Cpu, Some(Kind::Float)).filter(|_| has_kernels);
            for threads in 1..=3 {
                let mut shards = Shards::new(&spec, (threads, Kind::Float), trainer);
                let compute = |shards: &mut Shards, net: &mut Net| {
                    let mut trainer = trainer();
                    shards.gradients((net, trainer.as_mut()), &batch, |_, heads| mean_square(heads))
                };
                let mut whole = net();
                let (losses, means) = compute(&mut shards, &mut whole);
                let (mut expected, mut statistics) = (Vec::new(), Vec::new());
                let mut expected_losses = Tensor::zeros([2], (Kind::Float, Device::Cpu));
                for part in parts(70, threads) {
                    let share = part.len() as f64 / 70.0;
                    let mut net = net();
                    let mut own = trainer();
                    let (losses, found) = gradients(
                        (&mut net, own.as_mut()),
                        &batch.inputs[part],
                        Kind::Float,
                        mean_square,
                    );
                    expected_losses += losses * share;
                    expected.push(found.into_iter().map(|one| one * share).collect::<Vec<_>>());
                    statistics.push((net.weights(), share));
                }
                assert!(is_close(&losses, &expected_losses));
                for (index, found) in means.iter().enumerate() {
                    let zero = found.zeros_like();
                    let sum = expected.iter().fold(zero, |sum, part| sum + &part[index]);
                    assert!(is_close(found, &sum), "{threads} threads, vector {index}");
                }
                for (name, array) in whole.weights().iter() {
                    for (place, value) in array.values.iter().enumerate() {
                        let mean = |(weights, share): &(crate::model::Weights, f64)| {
                            f64::from(weights.get(name, &array.shape).expect("an array")[place])
                                * share
                        };
                        let mean: f64 = statistics.iter().map(mean).sum();
                        assert!((mean - f64::from(*value)).abs() < 1e-4, "{name}");
                    }
                }
                // The same again: nothing is left of the batch before, and threads change nothing.
                let (_, again) = compute(&mut shards, &mut net());
                assert!(means.iter().zip(&again).all(|(a, b)| numbers(a) == numbers(b)));
            }
        }
    }

    #[test]
    fn parts_cover_a_batch() {
        for (count, threads) in [(64, 1), (70, 3), (1024, 5), (33, 33)] {
            let found: Vec<_> = parts(count, threads).collect();
            assert_eq!(found.len(), threads);
            assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((found[0].start, found[threads - 1].end), (0, count));
        }
    }
}
