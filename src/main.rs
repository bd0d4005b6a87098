//! The `outflank` program: parses the command line and runs a subcommand.

fn main() {
    println!("{:?}", tch::Tensor::ones([2, 2], (tch::Kind::Float, tch::Device::Cpu)));
}
