//! A server answers as the net itself does, and its end is never waited for in vain.

use super::*;
use crate::game::Shape;
use crate::net::fixtures::{positions, resnet, trained};
use crate::net::inference::{Options, Precision, open};

fn setting() -> (Vec<Input>, [Arc<Weights>; 2], impl Fn() -> Box<dyn Backend>) {
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

fn ask(evaluate: &mut dyn Predictor, slot: usize, inputs: &[Input]) {
    let question = Query { inputs: inputs.to_vec(), outputs: Outputs::default() };
    evaluate.submit(slot, question).unwrap();
}

#[test]
fn many_clients_get_their_own_answers() {
    let (inputs, _, make) = setting();
    let server = Server::start(vec![make(), make()], 32).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (mut client, mut local) = (server.client(), Local::new(make()));
            let inputs = &inputs[number * 15..][..15];
            scope.spawn(move || {
                for round in 0..20 {
                    let parts = inputs.split_at(1 + round % 14);
                    ask(&mut client, 0, parts.0);
                    ask(&mut client, 1, parts.1);
                    for (slot, part) in [(1, parts.1), (0, parts.0)] {
                        let found = client.collect(slot).unwrap();
                        ask(&mut local, slot, part);
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
fn newer_weights_count_and_older_do_not() {
    let (inputs, [old, new], make) = setting();
    let server = Server::start(vec![make()], 64).unwrap();
    let (mut client, mut local) = (server.client(), Local::new(make()));
    for evaluate in [&mut client as &mut dyn Predictor, &mut local] {
        ask(evaluate, 0, &inputs);
        let before = evaluate.collect(0).unwrap().outputs;
        evaluate.load(&new, 2).unwrap();
        evaluate.load(&old, 1).unwrap();
        ask(evaluate, 0, &inputs);
        let after = evaluate.collect(0).unwrap().outputs;
        assert!(!close(&before, &after));
    }
    drop(client);
    server.join();
}

#[test]
fn an_end_is_an_error_and_not_a_wait() {
    let (inputs, _, make) = setting();
    let server = Server::start(vec![make(), make()], 64).unwrap();
    let mut client = server.client();
    assert!(matches!(client.collect(0), Err(InferenceError::NothingAsked { slot: 0 })));
    client.load(&Arc::new(Weights::default()), 1).unwrap();
    for _ in 0..2 {
        ask(&mut client, 0, &inputs);
        assert!(matches!(client.collect(0), Err(InferenceError::Weights(_))));
    }
    server.join();
    let question = Query { inputs, outputs: Outputs::default() };
    assert!(matches!(client.submit(0, question), Err(InferenceError::ServerEnded)));
}

/// A device that fails when it is told to.
struct Failing(Receiver<()>);

impl Backend for Failing {
    fn evaluate(&mut self, _: &[Input], _: &mut Outputs) -> Result<(), InferenceError> {
        self.0.recv().expect("a word");
        Err(InferenceError::NothingAsked { slot: 99 })
    }

    fn load(&mut self, _: &Weights) -> Result<(), InferenceError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "failing".into()
    }
}

#[test]
fn questions_that_nobody_took_are_not_waited_for() {
    let (inputs, ..) = setting();
    let (fail, told) = bounded(1);
    let server = Server::start(vec![Box::new(Failing(told))], 1).unwrap();
    let mut client = server.client();
    for slot in 0..3 {
        ask(&mut client, slot, &inputs[..1]);
    }
    fail.send(()).unwrap();
    assert!(matches!(client.collect(0), Err(InferenceError::NothingAsked { slot: 99 })));
    for slot in 1..3 {
        assert!(matches!(client.collect(slot), Err(InferenceError::ServerEnded)));
    }
    server.join();
}
