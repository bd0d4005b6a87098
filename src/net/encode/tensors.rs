//! Planes as tensors, computed on the processor or on the device of the net.

use rayon::prelude::*;
use tch::{Device, Kind, Tensor};

use super::Encoding;
use crate::net::options::{Inputs, Tower};
use crate::net::plan::NetSpec;
use crate::predict::Input;

impl Encoding {
    /// The planes as a tensor `[n, planes, width, width]` of `kind`, channels last in memory.
    pub fn planes(&self, inputs: &[Input], kind: Kind, device: Device) -> Tensor {
        let (width, cells) = (self.layout.width as i64, self.layout.cells());
        let mut numbers = vec![0f32; inputs.len() * cells * self.planes];
        let write = |(row, input): (&mut [f32], &Input)| self.write(input, row, self.planes);
        if device.is_cuda() {
            // One thread serves a GPU, and alone it could not compute planes as fast as the GPU nets.
            numbers.par_chunks_exact_mut(cells * self.planes).zip(inputs).for_each(write);
        } else {
            numbers.chunks_exact_mut(cells * self.planes).zip(inputs).for_each(write);
        }
        let rows = Tensor::from_slice(&numbers).to_kind(kind);
        upload(rows.view([inputs.len() as i64, width, width, self.planes as i64]), device)
            .permute([0, 3, 1, 2])
    }
}

/// An [`Encoding`] that computes planes on the device of the net.
pub struct DeviceEncoding {
    /// The same encoding computed on the CPU.
    pub cpu: Encoding,
    kind: Kind,
    /// For each cell: which of a set's two 64-bit words holds its bit, and the bit's number there.
    word: Tensor,
    shift: Tensor,
    /// 1 on squares, 0 on other cells, `[1, 1, cells]`.
    board: Tensor,
}

impl DeviceEncoding {
    /// The encoding of nets of `spec` as planes of `kind` on `device`.
    pub fn new(spec: &NetSpec, kind: Kind, device: Device) -> DeviceEncoding {
        let encoding = Encoding::new(spec);
        let layout = encoding.layout;
        let (mut word, mut shift) = (vec![0i64; layout.cells()], vec![0i64; layout.cells()]);
        let mut board = vec![0f32; layout.cells()];
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            let cell = cell as usize;
            (word[cell], shift[cell], board[cell]) = (bit as i64 / 64, bit as i64 % 64, 1.0);
        }
        let on_device = |values: &[i64]| Tensor::from_slice(values).to_device(device);
        DeviceEncoding {
            cpu: encoding,
            kind,
            word: on_device(&word),
            shift: on_device(&shift),
            board: Tensor::from_slice(&board).to_device(device).to_kind(kind).view([1, 1, -1]),
        }
    }

    /// The same tensor as [`Encoding::planes`].
    ///
    /// Where all planes are sets, the device computes them from the bits. Then only 48 bytes per
    /// position are copied to it. All others are computed on the CPU.
    pub fn planes(&self, inputs: &[Input]) -> Tensor {
        let (encoding, kind, device) = (&self.cpu, self.kind, self.board.device());
        if encoding.tower == Tower::Resnet && encoding.inputs != Inputs::Discs {
            return encoding.planes(inputs, kind, device);
        }
        let bytes: Vec<u8> = inputs
            .iter()
            .flat_map(|input| [input.mine, input.theirs, input.legal])
            .flat_map(u128::to_le_bytes)
            .collect();
        let n = inputs.len() as i64;
        let words = upload(Tensor::from_data_size(&bytes, &[n, 3, 2], Kind::Int64), device);
        let bits = words
            .index_select(2, &self.word)
            .bitwise_right_shift(&self.shift)
            .bitwise_and(1)
            .to_kind(kind);
        // Cells that are not squares have read bit 0 of the set: the product clears them.
        let bits = bits * &self.board;
        let planes = match encoding.tower {
            Tower::Resnet => Tensor::cat(&[bits, self.board.expand([n, 1, -1], false)], 1),
            Tower::Paper => bits.select(1, 0).unsqueeze(1) - bits.select(1, 1).unsqueeze(1),
        };
        let width = encoding.layout.width as i64;
        let rows = planes.transpose(1, 2).contiguous();
        rows.view([n, width, width, encoding.planes as i64]).permute([0, 3, 1, 2])
    }
}

/// Copies a tensor to a device. A GPU copies it asynchronously from pinned memory, which libtorch
/// reuses. `pin_memory` would print two warnings for each call: tch gives it the device, and libtorch
/// no longer wants one there.
pub fn upload(tensor: Tensor, device: Device) -> Tensor {
    if !device.is_cuda() {
        return tensor.to_device(device);
    }
    let kind = tensor.kind();
    tensor.internal_pin_memory(device).to_device_(device, kind, true, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Board, Geometry, Position, Shape, Symmetry};
    use crate::net::TowerOptions;
    use crate::net::encode::DISC_PLANES;
    use crate::net::lookahead::{NUMBER_PLANES, SET_PLANES, look_ahead};

    fn some_inputs<G: Geometry>() -> Vec<Input> {
        let mut position = Position::<G>::start();
        let mut inputs = Vec::new();
        for ply in 0..12 {
            let legal = position.board.legal();
            inputs.push(Input::new(position.board, legal));
            let Some(square) = legal.into_iter().nth(ply % legal.len().max(1)) else { break };
            position = position.play(square).map_or(position, Position::pass_if_forced);
        }
        inputs
    }

    fn encoding(shape: Shape, tower: Tower, inputs: Inputs) -> Encoding {
        let options = TowerOptions { tower, inputs, ..TowerOptions::default() };
        Encoding::new(&NetSpec { shape, options, evaluator: None })
    }

    const TOWERS: [(Tower, Inputs); 3] = [
        (Tower::Resnet, Inputs::Discs),
        (Tower::Resnet, Inputs::Lookahead),
        (Tower::Paper, Inputs::Discs),
    ];

    #[test]
    fn planes_hold_each_set_and_number_at_its_cell() {
        for shape in Shape::ALL {
            let layout = shape.layout();
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            let encode = |(tower, planes), kind| {
                encoding(shape, tower, planes).planes(&inputs, kind, Device::Cpu)
            };
            let tensors = TOWERS.map(|tower| encode(tower, Kind::BFloat16));
            let width = layout.width as i64;
            for (tensor, planes) in tensors.iter().zip([4, 16, 1]) {
                assert_eq!(tensor.size(), [inputs.len() as i64, planes, width, width]);
                assert!(tensor.permute([0, 2, 3, 1]).is_contiguous());
            }
            // bf16 holds all planes exactly, also the counts divided by 8.
            assert!(encode(TOWERS[1], Kind::Float).equal(&tensors[1].to_kind(Kind::Float)));
            for (n, input) in inputs.iter().enumerate() {
                let mut numbers = vec![[[0.0; NUMBER_PLANES]; 2]; layout.squares];
                let ahead = dispatch!(shape, G => {
                    look_ahead::<G>((input.mine, input.theirs), |side, square, numbers_of_move| {
                        numbers[square.index()][side] = numbers_of_move;
                    })
                });
                for cell in 0..layout.cells() {
                    let (row, column) = (cell / layout.width, cell % layout.width);
                    let mask = 1u128 << (row * layout.stride + column);
                    let at = |tower: usize, plane: usize| {
                        let place = [n as i64, plane as i64, row as i64, column as i64];
                        tensors[tower].double_value(&place)
                    };
                    let sets = [input.mine, input.theirs, input.legal, layout.playable];
                    for (plane, set) in sets.into_iter().chain(ahead).enumerate() {
                        let wanted = (set & mask != 0) as u8 as f64;
                        assert_eq!(at(1, plane), wanted, "{shape} plane {plane}");
                        assert!(plane >= DISC_PLANES || at(0, plane) == wanted);
                    }
                    assert_eq!(at(2, 0), at(0, 0) - at(0, 1));
                    let square = layout.cell_of.iter().position(|&there| there as usize == cell);
                    let wanted = square.map_or([[0.0; NUMBER_PLANES]; 2], |square| numbers[square]);
                    for (index, wanted) in wanted.into_iter().flatten().enumerate() {
                        assert_eq!(at(1, DISC_PLANES + SET_PLANES + index), wanted as f64);
                    }
                }
            }
        }
    }

    #[test]
    fn planes_computed_on_the_device_are_the_same() {
        for shape in Shape::ALL {
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            for (tower, planes) in TOWERS {
                let options = TowerOptions { tower, inputs: planes, ..TowerOptions::default() };
                let spec = NetSpec { shape, options, evaluator: None };
                let found = DeviceEncoding::new(&spec, Kind::Float, Device::Cpu).planes(&inputs);
                let wanted = Encoding::new(&spec).planes(&inputs, Kind::Float, Device::Cpu);
                assert!(found.equal(&wanted));
                assert!(found.permute([0, 2, 3, 1]).is_contiguous());
            }
        }
    }

    #[test]
    fn planes_turn_with_the_board() {
        for shape in Shape::ALL {
            let encoding = encoding(shape, Tower::Resnet, Inputs::Lookahead);
            dispatch!(shape, G => {
                let mut board = Board::<G>::start();
                for ply in 0..12 {
                    if let Some(square) = board.legal().nth(ply % 3).or(board.legal().next()) {
                        board = board.play_unchecked(square);
                    }
                }
                for symmetry in Symmetry::ALL {
                    let turned = symmetry.board(board);
                    let input = [Input::new(board, board.legal()), Input::new(turned, turned.legal())];
                    let tensor = encoding.planes(&input, Kind::Float, Device::Cpu);
                    let mut wanted = tensor.get(0);
                    let k = symmetry.index();
                    if k & 1 != 0 { wanted = wanted.flip([2]); }
                    if k & 2 != 0 { wanted = wanted.flip([1]); }
                    if k & 4 != 0 { wanted = wanted.transpose(1, 2); }
                    assert!(wanted.equal(&tensor.get(1)));
                }
            });
        }
    }
}
