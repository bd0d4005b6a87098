//! What a net is shown: positions as sets of squares, and as planes of a tensor.

use half::{bf16, f16};
use tch::{Device, Kind, Tensor};

use super::options::Tower;
use crate::game::{Board, Geometry, Layout, SquareSet, Word};

/// A position as the side to move sees it, as bits numbered `row * stride + column`.
///
/// Small and plain, so that it travels between threads by value and every backend encodes it
/// straight into its own layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Input {
    /// Discs of the side to move.
    pub mine: u128,
    /// Discs of the other side.
    pub theirs: u128,
    /// Squares where the side to move may play.
    pub legal: u128,
}

impl Input {
    /// A board whose legal moves are known.
    #[inline]
    pub fn new<G: Geometry>(board: Board<G>, legal: SquareSet<G>) -> Input {
        Input { mine: board.mine.widen(), theirs: board.theirs.widen(), legal: legal.0.widen() }
    }
}

/// The numbers that a plane can hold, as the bytes of one format.
struct Numbers<const BYTES: usize> {
    one: [u8; BYTES],
    minus_one: [u8; BYTES],
}

/// How many planes a tower reads: 4 for `resnet` (mine, theirs, legal, on the board), 1 for
/// `paper` (1 mine, -1 theirs, 0 empty).
pub fn planes_of(tower: Tower) -> usize {
    match tower {
        Tower::Resnet => 4,
        Tower::Paper => 1,
    }
}

/// What [`planes`] gives, made on the device from bits: 48 bytes a position travel there instead
/// of as many numbers as planes have.
pub fn planes_from_bits(
    layout: &Layout,
    tower: Tower,
    inputs: &[Input],
    kind: Kind,
    device: Device,
) -> Tensor {
    let bytes: Vec<u8> = inputs
        .iter()
        .flat_map(|input| [input.mine, input.theirs, input.legal])
        .flat_map(u128::to_le_bytes)
        .collect();
    let n = inputs.len() as i64;
    let mut words = Tensor::from_data_size(&bytes, &[n, 3, 2], Kind::Int64);
    if device.is_cuda() {
        words = words.pin_memory(device).to_device_(device, Kind::Int64, true, false);
    }
    let (mut word, mut shift) = (vec![0i64; layout.cells()], vec![0i64; layout.cells()]);
    let mut board = vec![0f32; layout.cells()];
    for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
        let cell = cell as usize;
        (word[cell], shift[cell], board[cell]) = (bit as i64 / 64, bit as i64 % 64, 1.0);
    }
    let on_device = |values: &[i64]| Tensor::from_slice(values).to_device(device);
    let bits = words
        .index_select(2, &on_device(&word))
        .bitwise_right_shift(&on_device(&shift))
        .bitwise_and(1)
        .to_kind(kind);
    // Cells that are no squares read bit 0 of a set; the board's plane clears them.
    let board = Tensor::from_slice(&board).to_device(device).to_kind(kind).view([1, 1, -1]);
    let bits = bits * &board;
    let planes = match tower {
        Tower::Resnet => Tensor::cat(&[bits, board.expand([n, 1, -1], false)], 1),
        Tower::Paper => bits.select(1, 0).unsqueeze(1) - bits.select(1, 1).unsqueeze(1),
    };
    let width = layout.width as i64;
    let rows = planes.transpose(1, 2).contiguous();
    rows.view([n, width, width, planes_of(tower) as i64]).permute([0, 3, 1, 2])
}

/// The positions as a tensor `[n, planes, width, width]` of `kind`, channels last in memory.
///
/// `kind` is `Float`, `BFloat16` or `Half`; any other is read as `Float`.
pub fn planes(
    layout: &Layout,
    tower: Tower,
    inputs: &[Input],
    kind: Kind,
    device: Device,
) -> Tensor {
    // As bytes, since `tch` takes a slice of `half::bf16` for one of `f16`.
    let width = layout.width as i64;
    let size = [inputs.len() as i64, width, width, planes_of(tower) as i64];
    let tensor = match kind {
        Kind::BFloat16 => {
            let numbers =
                Numbers { one: bf16::ONE.to_ne_bytes(), minus_one: bf16::NEG_ONE.to_ne_bytes() };
            let bytes = fill(layout, tower, inputs, numbers);
            Tensor::from_data_size(bytes.as_flattened(), &size, Kind::BFloat16)
        }
        Kind::Half => {
            let numbers =
                Numbers { one: f16::ONE.to_ne_bytes(), minus_one: f16::NEG_ONE.to_ne_bytes() };
            let bytes = fill(layout, tower, inputs, numbers);
            Tensor::from_data_size(bytes.as_flattened(), &size, Kind::Half)
        }
        _ => {
            let numbers = Numbers { one: 1f32.to_ne_bytes(), minus_one: (-1f32).to_ne_bytes() };
            let bytes = fill(layout, tower, inputs, numbers);
            Tensor::from_data_size(bytes.as_flattened(), &size, Kind::Float)
        }
    };
    tensor.to_device(device).permute([0, 3, 1, 2])
}

fn fill<const BYTES: usize>(
    layout: &Layout,
    tower: Tower,
    inputs: &[Input],
    Numbers { one, minus_one }: Numbers<BYTES>,
) -> Vec<[u8; BYTES]> {
    let planes = planes_of(tower);
    let zero = [0; BYTES];
    let mut out = vec![zero; inputs.len() * layout.cells() * planes];
    for (input, row) in inputs.iter().zip(out.chunks_exact_mut(layout.cells() * planes)) {
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            let choose = |set: u128, number| if set >> bit & 1 == 1 { number } else { zero };
            let at = cell as usize * planes;
            match tower {
                Tower::Resnet => {
                    row[at] = choose(input.mine, one);
                    row[at + 1] = choose(input.theirs, one);
                    row[at + 2] = choose(input.legal, one);
                    row[at + 3] = one;
                }
                Tower::Paper if input.theirs >> bit & 1 == 1 => row[at] = minus_one,
                Tower::Paper => row[at] = choose(input.mine, one),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Position, Shape, Symmetry};

    fn some_inputs<G: Geometry>() -> Vec<Input> {
        let mut position = Position::<G>::start();
        let mut inputs = Vec::new();
        for ply in 0..12 {
            let legal = position.board.legal();
            inputs.push(Input::new(position.board, legal));
            let Some(square) = legal.into_iter().nth(ply % legal.len().max(1)) else { break };
            position = position.play(square).map_or(position, Position::settled);
        }
        inputs
    }

    #[test]
    fn planes_hold_each_set_at_its_cell() {
        for shape in Shape::ALL {
            let layout = shape.layout();
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            let tensor = planes(layout, Tower::Resnet, &inputs, Kind::BFloat16, Device::Cpu);
            assert_eq!(
                tensor.size(),
                [inputs.len() as i64, 4, layout.width as i64, layout.width as i64]
            );
            let paper = planes(layout, Tower::Paper, &inputs, Kind::Float, Device::Cpu);
            for (n, input) in inputs.iter().enumerate() {
                for row in 0..layout.width {
                    for column in 0..layout.width {
                        let mask = 1u128 << (row * layout.stride + column);
                        let at = |plane| {
                            tensor.double_value(&[n as i64, plane, row as i64, column as i64])
                        };
                        let sets = [input.mine, input.theirs, input.legal, layout.playable];
                        for (plane, set) in sets.into_iter().enumerate() {
                            assert_eq!(at(plane as i64) == 1.0, set & mask != 0);
                        }
                        let one = paper.double_value(&[n as i64, 0, row as i64, column as i64]);
                        assert_eq!(one, at(0) - at(1));
                    }
                }
            }
        }
    }

    #[test]
    fn planes_made_on_the_device_are_the_same() {
        for shape in Shape::ALL {
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            for &tower in Tower::ALL {
                let make = |planes: fn(&_, _, &_, _, _) -> Tensor| {
                    planes(shape.layout(), tower, &inputs[..], Kind::Float, Device::Cpu)
                };
                let (found, wanted) = (make(planes_from_bits), make(planes));
                assert!(found.equal(&wanted));
                assert!(found.permute([0, 2, 3, 1]).is_contiguous());
            }
        }
    }

    #[test]
    fn planes_turn_with_the_board() {
        for shape in Shape::ALL {
            dispatch!(shape, G => {
                let mut board = Board::<G>::start();
                if let Some(square) = board.legal().next() {
                    board = board.play_unchecked(square);
                }
                for symmetry in Symmetry::ALL {
                    let turned = symmetry.board(board);
                    let input = [Input::new(board, board.legal()), Input::new(turned, turned.legal())];
                    let tensor = planes(shape.layout(), Tower::Resnet, &input, Kind::Float, Device::Cpu);
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
