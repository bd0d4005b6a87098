//! Compares every backend with the net in float32.

use tch::{Kind, Tensor};

use super::*;
use crate::game::Shape;
use crate::net::fixtures::{positions, resnet, skipped, trained, with_evaluations};
use crate::net::{Inputs, Net, Pass, Tower, TowerOptions};
use crate::predict::Predictions;

/// The largest allowed differences between a backend and the net in float32.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Root mean square of the differences of logits, divided by the logits' standard deviation.
    policy: f64,
    /// Largest difference of the value, and of the score divided by the number of squares.
    value: f64,
}

const EXACT: Tolerance = Tolerance { policy: 1e-4, value: 1e-4 };
/// On boards of ten rows Winograd's polynomials are long and round more.
const NEAR: Tolerance = Tolerance { policy: 1e-3, value: 1e-3 };
/// A GPU may round float32 weights to the 10 bits of TF32.
const TF32: Tolerance = Tolerance { policy: 5e-3, value: 5e-3 };
const BF16: Tolerance = Tolerance { policy: 0.03, value: 0.04 };

fn specs() -> Vec<NetSpec> {
    let mut specs = Vec::new();
    for shape in Shape::ALL {
        specs.push(resnet(shape, 4, 32));
        let mut discs = resnet(shape, 2, 64);
        discs.options.inputs = Inputs::Discs;
        specs.push(discs);
        let options = TowerOptions { tower: Tower::Paper, channels: 16, ..Default::default() };
        specs.push(NetSpec { shape, options, evaluator: None });
        specs.push(with_evaluations(resnet(shape, 1, 32)));
    }
    let mut bare = resnet(Shape::Square8, 3, 96);
    bare.options.global_pooling = false;
    bare.options.score_head = false;
    bare.options.inputs = Inputs::Discs;
    specs.push(bare);
    specs
}

fn check(spec: &NetSpec, options: &Options, tolerance: Tolerance, count: usize) {
    check_on("cpu", spec, options, tolerance, count);
}

fn check_on(device: &str, spec: &NetSpec, options: &Options, tolerance: Tolerance, count: usize) {
    let backend = open(spec, &weights(spec), options, device).expect("a backend");
    agrees(backend, spec, tolerance, count);
}

fn weights(spec: &NetSpec) -> Weights {
    trained(spec, 11)
}

/// Compares a backend that has the weights of [`weights`].
fn agrees(mut backend: Box<dyn Backend>, spec: &NetSpec, tolerance: Tolerance, count: usize) {
    let weights = weights(spec);
    let net = Net::with_weights(spec, &weights, tch::Device::Cpu).expect("weights that fit");
    let inputs = positions(spec.shape, count, 8);
    let heads = tch::no_grad(|| net.forward(&net.planes(&inputs, Kind::Float), Pass::INFERENCE));
    let mut outputs = Predictions::default();
    backend.predict(&inputs, &mut outputs).expect("an evaluation");
    let name = format!("{} {:?} {count}", backend.describe(), spec);
    let policy = Tensor::from_slice(&outputs.policy).view_as(&heads.policy);
    let error = (policy - &heads.policy).square().mean(Kind::Float).sqrt() / heads.policy.std(true);
    assert!(error.double_value(&[]) < tolerance.policy, "policy {error:?}: {name}");
    let largest = |found: &[f32], wanted: &Tensor| {
        (Tensor::from_slice(found) - wanted).abs().max().double_value(&[])
    };
    let error = largest(&outputs.value, &heads.value);
    assert!(error < tolerance.value, "value {error}: {name}");
    let squares = spec.shape.layout().squares as f64;
    match heads.score {
        Some(score) => {
            let error = largest(&outputs.score, &(score * squares)) / squares;
            assert!(error < tolerance.value, "score {error}: {name}");
        }
        None => assert!(outputs.score.iter().all(|&score| score == 0.0)),
    }
}

#[test]
fn folded_copies_agree_with_the_net() {
    for spec in specs() {
        let mut options = Options { backend: BackendKind::Eager, precision: Precision::F32 };
        check(&spec, &options, EXACT, 9);
        options.precision = Precision::Bf16;
        for count in [64, 9] {
            check(&spec, &options, BF16, count);
            // The tensors for a GPU, computed on the CPU.
            let half = eager::Eager::new(&spec, &weights(&spec), Kind::Half, tch::Device::Cpu);
            agrees(Box::new(half.expect("weights that fit")), &spec, BF16, count);
        }
    }
}

#[test]
fn half_floats_are_for_a_gpu() {
    let spec = resnet(Shape::Square8, 1, 32);
    for backend in [BackendKind::Auto, BackendKind::Eager] {
        let options = Options { backend, precision: Precision::F16 };
        let Err(error) = open(&spec, &weights(&spec), &options, "cpu") else { panic!("{backend}") };
        assert!(error.to_string().ends_with("it computes in f16 on a GPU only"), "{error}");
    }
}

/// Whether a backend runs on this machine. If not, prints that its test is skipped.
fn is_supported(kind: BackendKind, options: &Options) -> bool {
    let spec = resnet(Shape::Square8, 1, 32);
    match open(&spec, &trained(&spec, 1), options, "cpu") {
        Ok(_) => true,
        Err(error) => {
            skipped(&format!("backend {kind}: {error}"));
            false
        }
    }
}

#[test]
fn a_gpu_agrees_with_the_net() {
    if !tch::Cuda::is_available() {
        return skipped("backend eager on a GPU: there is no GPU, or libtorch has no CUDA");
    }
    for spec in specs() {
        for (precision, tolerance) in
            [(Precision::F32, TF32), (Precision::F16, BF16), (Precision::Bf16, BF16)]
        {
            let options = Options { backend: BackendKind::Eager, precision };
            check_on("cuda:0", &spec, &options, tolerance, 64);
        }
    }
}

#[test]
fn the_tile_kernel_agrees_with_the_net() {
    let options = Options { backend: BackendKind::Amx, precision: Precision::Auto };
    if is_supported(options.backend, &options) {
        for spec in specs().iter().filter(|spec| spec.options.tower == Tower::Resnet) {
            for count in [64, 7, 16, 17] {
                check(spec, &options, BF16, count);
            }
        }
    }
}

/// The same with emulated tiles: only the tile instructions differ.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_tile_kernel_agrees_with_the_net_on_emulated_tiles() {
    crate::net::tile::emulated::with(|| {
        let options = Options { backend: BackendKind::Amx, precision: Precision::Auto };
        if is_supported(options.backend, &options) {
            for spec in specs().iter().filter(|spec| spec.options.tower == Tower::Resnet) {
                check(spec, &options, BF16, 17);
            }
        }
    });
}

#[test]
fn the_winograd_kernel_agrees_with_the_net() {
    let mut specs = specs();
    // Numbers of channels that fill no whole vector.
    specs.extend([resnet(Shape::Square7, 2, 24), resnet(Shape::Square6, 2, 1)]);
    for spec in specs.iter().filter(|spec| spec.options.tower == Tower::Resnet) {
        // By default the kernel stores the filters of small boards in f16 where the processor can.
        for (precision, tolerance) in [(Precision::F32, NEAR), (Precision::Auto, BF16)] {
            let options = Options { backend: BackendKind::Winograd, precision };
            for count in [33, 5, 1] {
                check(spec, &options, tolerance, count);
            }
        }
    }
}

#[test]
fn the_winograd_kernel_refuses_what_it_cannot_compute() {
    let precision = Precision::Auto;
    let options = Options { backend: BackendKind::Winograd, precision };
    let paper = &specs()[2];
    let result = open(paper, &trained(paper, 1), &options, "cpu");
    assert!(matches!(result, Err(InferenceError::Unsupported { .. })));
    let options = Options { precision: Precision::Bf16, ..options };
    let spec = resnet(Shape::Square8, 1, 32);
    assert!(matches!(
        open(&spec, &trained(&spec, 1), &options, "cpu"),
        Err(InferenceError::Unsupported { .. })
    ));
}

#[test]
fn the_tile_kernel_refuses_what_it_cannot_compute() {
    let options = Options { backend: BackendKind::Amx, precision: Precision::Auto };
    let refuses = |spec: &NetSpec, options: &Options| {
        let result = open(spec, &trained(spec, 1), options, "cpu");
        assert!(matches!(result, Err(InferenceError::Unsupported { .. })));
    };
    refuses(&resnet(Shape::Square8, 1, 48), &options);
    refuses(
        &resnet(Shape::Square8, 1, 32),
        &Options { precision: Precision::F32, ..options.clone() },
    );
    refuses(&specs()[2], &options);
}

#[test]
fn newer_weights_are_loaded_and_those_of_another_net_refused() {
    let spec = resnet(Shape::Square6, 1, 32);
    let inputs = positions(Shape::Square6, 5, 1);
    let (first, second) = (trained(&spec, 1), trained(&spec, 2));
    let mut backend = open(&spec, &first, &Options::default(), "cpu").unwrap();
    let ask = |backend: &mut Box<dyn Backend>| {
        let mut outputs = Predictions::default();
        backend.predict(&inputs, &mut outputs).unwrap();
        outputs
    };
    let before = ask(&mut backend);
    backend.load(&second).unwrap();
    let after = ask(&mut backend);
    assert_ne!(before, after);
    assert_eq!(after, ask(&mut open(&spec, &second, &Options::default(), "cpu").unwrap()));
    let foreign = trained(&resnet(Shape::Square6, 2, 32), 1);
    assert!(matches!(backend.load(&foreign), Err(PredictError::Weights(_))));
    assert_eq!(after, ask(&mut backend));
    backend.predict(&[], &mut Predictions::default()).unwrap();
}

#[test]
fn device_names_are_read() {
    assert_eq!(device("cpu").unwrap(), Device::Cpu);
    assert!(matches!(device("gpu"), Err(InferenceError::UnknownDevice { .. })));
    assert!(matches!(device("cuda:x"), Err(InferenceError::UnknownDevice { .. })));
    assert!(matches!(device("cuda:99"), Err(InferenceError::NoDevice { .. })));
}
