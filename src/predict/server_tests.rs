//! A server gives the same predictions as its backend, and no client waits forever after it ended.

use super::*;

/// A backend whose predictions follow from the bits of a position and one weight.
struct Table(f32);

impl Table {
    fn new(weights: &Weights) -> Result<Table, PredictError> {
        Ok(Table(weights.get("factor", &[1])?[0]))
    }
}

impl Backend for Table {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        predictions.resize(inputs.len(), 3);
        for (index, input) in inputs.iter().enumerate() {
            let numbers = [input.mine, input.theirs, input.legal].map(|set| set as f32 * self.0);
            predictions.policy[3 * index..][..3].copy_from_slice(&numbers);
            predictions.value[index] = numbers[0] - numbers[1];
            predictions.score[index] = numbers[0] + numbers[2];
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        *self = Table::new(weights)?;
        Ok(())
    }

    fn describe(&self) -> String {
        "table".into()
    }
}

fn setup() -> (Vec<Input>, [Arc<Weights>; 2], impl Fn() -> Box<dyn Backend>) {
    let weights = [1.0, 2.0].map(|factor| {
        let mut weights = Weights::default();
        weights.insert("factor", vec![1], vec![factor]);
        Arc::new(weights)
    });
    let first = weights[0].clone();
    let make = move || Box::new(Table::new(&first).unwrap()) as Box<dyn Backend>;
    let input = |bits: u128| Input { mine: bits, theirs: 3 * bits, legal: 7 * bits };
    ((1..=60).map(input).collect(), weights, make)
}

fn submit(predictor: &mut dyn Predictor, slot: usize, inputs: &[Input]) {
    let query = Query { inputs: inputs.to_vec(), predictions: Predictions::default() };
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
                        assert_eq!(found.predictions, wanted.predictions);
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
        let before = predictor.collect(0).unwrap().predictions;
        predictor.load(&new, 2).unwrap();
        predictor.load(&old, 1).unwrap();
        submit(predictor, 0, &inputs);
        let after = predictor.collect(0).unwrap().predictions;
        assert_ne!(before, after);
    }
    drop(client);
    server.join();
}

#[test]
fn queries_to_an_ended_server_fail() {
    let (inputs, _, make) = setup();
    let server = Server::start(vec![make(), make()], 64).unwrap();
    let mut client = server.client();
    assert!(matches!(client.collect(0), Err(PredictError::EmptySlot { slot: 0 })));
    client.load(&Arc::new(Weights::default()), 1).unwrap();
    for _ in 0..2 {
        submit(&mut client, 0, &inputs);
        assert!(matches!(client.collect(0), Err(PredictError::Weights(_))));
    }
    server.join();
    let query = Query { inputs, predictions: Predictions::default() };
    assert!(matches!(client.submit(0, query), Err(PredictError::ServerEnded)));
}

/// A backend that fails after it has received a message.
struct Failing(Receiver<()>);

impl Backend for Failing {
    fn predict(&mut self, _: &[Input], _: &mut Predictions) -> Result<(), PredictError> {
        self.0.recv().expect("a message");
        Err(PredictError::EmptySlot { slot: 99 })
    }

    fn load(&mut self, _: &Weights) -> Result<(), PredictError> {
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
    assert!(matches!(client.collect(0), Err(PredictError::EmptySlot { slot: 99 })));
    for slot in 1..3 {
        assert!(matches!(client.collect(slot), Err(PredictError::ServerEnded)));
    }
    server.join();
}
