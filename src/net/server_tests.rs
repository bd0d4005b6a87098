//! A server gives the same predictions as its backend, and no client waits forever after it ended.

use super::*;
use crate::game::Shape;
use crate::net::fixtures::{positions, resnet, trained};
use crate::net::inference::{Options, Precision, open};

fn setup() -> (Vec<Input>, [Arc<Weights>; 2], impl Fn() -> Box<dyn Backend>) {
    let spec = resnet(Shape::Square6, 1, 16);
    let weights = [1, 2].map(|seed| Arc::new(trained(&spec, seed)));
    let options = Options { precision: Precision::F32, ..Options::default() };
    let first = weights[0].clone();
    let make = move || open(&spec, &first, &options, "cpu").unwrap();
    (positions(Shape::Square6, 60, 3), weights, make)
}

fn close(left: &Outputs, right: &Outputs) -> bool {
    [(&left.policy, &right.policy), (&left.value, &right.value), (&left.score, &right.score)]
        .into_iter()
        .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3))
}

fn submit(predictor: &mut dyn Predictor, slot: usize, inputs: &[Input]) {
    let query = Query { inputs: inputs.to_vec(), outputs: Outputs::default() };
    predictor.submit(slot, query).unwrap();
}

#[test]
fn clients_get_the_predictions_of_their_own_queries() {
    let (inputs, _, make) = setup();
    let server = Server::start(vec![make(), make()], 32).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (mut client, mut local) = (server.client(), LocalPredictor::new(make()));
            let inputs = &inputs[number * 15..][..15];
            scope.spawn(move || {
                for round in 0..20 {
                    let parts = inputs.split_at(1 + round % 14);
                    submit(&mut client, 0, parts.0);
                    submit(&mut client, 1, parts.1);
                    for (slot, part) in [(1, parts.1), (0, parts.0)] {
                        let found = client.collect(slot).unwrap();
                        submit(&mut local, slot, part);
                        let wanted = local.collect(slot).unwrap();
                        assert_eq!(found.inputs, part);
                        assert!(close(&found.outputs, &wanted.outputs));
                    }
                }
            });
        }
    });
    server.join();
}

#[test]
fn newer_weights_are_loaded_and_older_ones_ignored() {
    let (inputs, [old, new], make) = setup();
    let server = Server::start(vec![make()], 64).unwrap();
    let (mut client, mut local) = (server.client(), LocalPredictor::new(make()));
    for predictor in [&mut client as &mut dyn Predictor, &mut local] {
        submit(predictor, 0, &inputs);
        let before = predictor.collect(0).unwrap().outputs;
        predictor.load(&new, 2).unwrap();
        predictor.load(&old, 1).unwrap();
        submit(predictor, 0, &inputs);
        let after = predictor.collect(0).unwrap().outputs;
        assert!(!close(&before, &after));
    }
    drop(client);
    server.join();
}

#[test]
fn queries_to_an_ended_server_fail() {
    let (inputs, _, make) = setup();
    let server = Server::start(vec![make(), make()], 64).unwrap();
    let mut client = server.client();
    assert!(matches!(client.collect(0), Err(InferenceError::EmptySlot { slot: 0 })));
    client.load(&Arc::new(Weights::default()), 1).unwrap();
    for _ in 0..2 {
        submit(&mut client, 0, &inputs);
        assert!(matches!(client.collect(0), Err(InferenceError::Weights(_))));
    }
    server.join();
    let query = Query { inputs, outputs: Outputs::default() };
    assert!(matches!(client.submit(0, query), Err(InferenceError::ServerEnded)));
}

/// A backend that fails after it has received a message.
struct Failing(Receiver<()>);

impl Backend for Failing {
    fn evaluate(&mut self, _: &[Input], _: &mut Outputs) -> Result<(), InferenceError> {
        self.0.recv().expect("a message");
        Err(InferenceError::EmptySlot { slot: 99 })
    }

    fn load(&mut self, _: &Weights) -> Result<(), InferenceError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "failing".into()
    }
}

#[test]
fn queries_that_no_worker_took_fail() {
    let (inputs, ..) = setup();
    let (fail, receiver) = bounded(1);
    let server = Server::start(vec![Box::new(Failing(receiver))], 1).unwrap();
    let mut client = server.client();
    for slot in 0..3 {
        submit(&mut client, slot, &inputs[..1]);
    }
    fail.send(()).unwrap();
    assert!(matches!(client.collect(0), Err(InferenceError::EmptySlot { slot: 99 })));
    for slot in 1..3 {
        assert!(matches!(client.collect(slot), Err(InferenceError::ServerEnded)));
    }
    server.join();
}
