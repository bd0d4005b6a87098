//! What a net is shown: positions as sets of squares, and as planes of a tensor.

use tch::{Device, Kind, Tensor};

use super::lookahead::{NUMBERS, SETS, look};
use super::options::{Inputs, Tower, TowerOptions};
use super::plan::NetSpec;
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

/// How many planes a net reads. A `resnet` reads 4: mine, theirs, legal, on the board; if it is
/// shown what a move leads to, 12 more of [`super::lookahead`]: 4 of sets, and 4 of numbers at the
/// squares of each side's moves, the side to move first. A `paper` tower reads 1: 1 mine, -1 theirs,
/// 0 empty.
pub fn planes_of(options: &TowerOptions) -> usize {
    match (options.tower, options.inputs) {
        (Tower::Paper, _) => 1,
        (Tower::Resnet, Inputs::Discs) => DISCS,
        (Tower::Resnet, Inputs::Lookahead) => DISCS + SETS + 2 * NUMBERS,
    }
}

/// Planes of a `resnet` that is shown the discs only.
const DISCS: usize = 4;
/// The one among them that is 1 on the whole board.
const BOARD: usize = 3;

/// The planes of a `resnet` at a square of which no set says anything.
const fn no_discs<const P: usize>() -> [f32; P] {
    let mut planes = [0.0; P];
    planes[BOARD] = 1.0;
    planes
}

/// What one net is shown of positions on its board.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    layout: &'static Layout,
    /// The cell of each bit of a set.
    cell_of_bit: [u8; u128::BITS as usize],
    tower: Tower,
    inputs: Inputs,
    /// Planes that it writes.
    pub planes: usize,
}

impl Encoding {
    /// What a net of `spec` is shown.
    pub fn new(spec: &NetSpec) -> Encoding {
        let TowerOptions { tower, inputs, .. } = spec.options;
        let planes = planes_of(&spec.options);
        let layout = spec.shape.layout();
        let mut cell_of_bit = [0; u128::BITS as usize];
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            cell_of_bit[usize::from(bit)] = cell;
        }
        Encoding { layout, cell_of_bit, tower, inputs, planes }
    }

    /// Writes a position's planes as `row[cell * stride + plane]`. Cells that are no squares stay
    /// as they are.
    ///
    /// # Panics
    ///
    /// The row is shorter than that.
    #[inline]
    pub fn write(&self, input: &Input, row: &mut [f32], stride: usize) {
        let mut rows = Rows { row, stride, cell_of_bit: &self.cell_of_bit };
        match (self.tower, self.inputs) {
            (Tower::Paper, _) => {
                rows.fill(self.layout, [0.0]);
                rows.mark(0, 1.0, input.mine);
                rows.mark(0, -1.0, input.theirs);
            }
            (Tower::Resnet, Inputs::Discs) => {
                rows.fill(self.layout, no_discs::<DISCS>());
                rows.discs(input);
            }
            (Tower::Resnet, Inputs::Lookahead) => {
                rows.fill(self.layout, no_discs::<{ DISCS + SETS + 2 * NUMBERS }>());
                rows.discs(input);
                dispatch!(self.layout.shape, G => rows.lookahead::<G>(input));
            }
        }
    }

    /// The positions as a tensor `[n, planes, width, width]` of `kind`, channels last in memory.
    pub fn planes(&self, inputs: &[Input], kind: Kind, device: Device) -> Tensor {
        let (width, cells) = (self.layout.width as i64, self.layout.cells());
        let mut numbers = vec![0f32; inputs.len() * cells * self.planes];
        let rows = numbers.chunks_exact_mut(cells * self.planes);
        rows.zip(inputs).for_each(|(row, input)| self.write(input, row, self.planes));
        let rows = Tensor::from_slice(&numbers).to_kind(kind);
        sent(rows.view([inputs.len() as i64, width, width, self.planes as i64]), device)
            .permute([0, 3, 1, 2])
    }
}

/// An [`Encoding`] for a device that makes planes itself.
pub struct OnDevice {
    /// The same for whoever makes them here.
    pub encoding: Encoding,
    kind: Kind,
    /// The 64-bit word of a set that each cell's bit is in, and its place there.
    word: Tensor,
    shift: Tensor,
    /// The board's plane, `[1, 1, cells]`.
    board: Tensor,
}

impl OnDevice {
    /// Planes of `kind` of what a net of `spec` is shown.
    pub fn new(spec: &NetSpec, kind: Kind, device: Device) -> OnDevice {
        let encoding = Encoding::new(spec);
        let layout = encoding.layout;
        let (mut word, mut shift) = (vec![0i64; layout.cells()], vec![0i64; layout.cells()]);
        let mut board = vec![0f32; layout.cells()];
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            let cell = cell as usize;
            (word[cell], shift[cell], board[cell]) = (bit as i64 / 64, bit as i64 % 64, 1.0);
        }
        let on_device = |values: &[i64]| Tensor::from_slice(values).to_device(device);
        OnDevice {
            encoding,
            kind,
            word: on_device(&word),
            shift: on_device(&shift),
            board: Tensor::from_slice(&board).to_device(device).to_kind(kind).view([1, 1, -1]),
        }
    }

    /// What [`Encoding::planes`] gives, made on the device from bits where planes are sets: 48
    /// bytes a position travel there instead of as many numbers as planes have.
    pub fn planes(&self, inputs: &[Input]) -> Tensor {
        let (encoding, kind, device) = (&self.encoding, self.kind, self.board.device());
        if encoding.tower == Tower::Resnet && encoding.inputs == Inputs::Lookahead {
            return encoding.planes(inputs, kind, device);
        }
        let bytes: Vec<u8> = inputs
            .iter()
            .flat_map(|input| [input.mine, input.theirs, input.legal])
            .flat_map(u128::to_le_bytes)
            .collect();
        let n = inputs.len() as i64;
        let words = sent(Tensor::from_data_size(&bytes, &[n, 3, 2], Kind::Int64), device);
        let bits = words
            .index_select(2, &self.word)
            .bitwise_right_shift(&self.shift)
            .bitwise_and(1)
            .to_kind(kind);
        // Cells that are no squares read bit 0 of a set; the board's plane clears them.
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

/// A tensor on a device: a GPU copies it by itself, from pinned memory, which libtorch keeps for
/// the next one.
pub fn sent(tensor: Tensor, device: Device) -> Tensor {
    if !device.is_cuda() {
        return tensor.to_device(device);
    }
    let kind = tensor.kind();
    tensor.pin_memory(device).to_device_(device, kind, true, false)
}

/// A position's planes while they are written.
///
/// Sets have few squares: to clear all planes of a square at once and then to mark the squares of
/// each set costs far less than to ask each set about each square (docs/performance.md).
struct Rows<'a> {
    row: &'a mut [f32],
    stride: usize,
    cell_of_bit: &'a [u8; u128::BITS as usize],
}

impl Rows<'_> {
    /// Writes the same planes at all squares of the board.
    fn fill<const P: usize>(&mut self, layout: &Layout, planes: [f32; P]) {
        for &cell in &layout.cell_of {
            self.row[usize::from(cell) * self.stride..][..P].copy_from_slice(&planes);
        }
    }

    /// Writes a number at the squares of a set.
    fn mark(&mut self, plane: usize, number: f32, set: u128) {
        for (start, mut half) in [(0, set as u64), (64, (set >> 64) as u64)] {
            while half != 0 {
                let cell = self.cell_of_bit[start + half.trailing_zeros() as usize];
                self.row[usize::from(cell) * self.stride + plane] = number;
                half &= half - 1;
            }
        }
    }

    fn discs(&mut self, input: &Input) {
        for (plane, set) in [input.mine, input.theirs, input.legal].into_iter().enumerate() {
            self.mark(plane, 1.0, set);
        }
    }

    fn lookahead<G: Geometry>(&mut self, input: &Input) {
        let sets = look::<G>((input.mine, input.theirs), |side, square, of_move| {
            let cell = usize::from(self.cell_of_bit[G::bit_of(square)]);
            let plane = DISCS + SETS + side * NUMBERS;
            self.row[cell * self.stride + plane..][..NUMBERS].copy_from_slice(&of_move);
        });
        for (plane, set) in sets.into_iter().enumerate() {
            self.mark(DISCS + plane, 1.0, set);
        }
    }
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

    fn encoding(shape: Shape, tower: Tower, inputs: Inputs) -> Encoding {
        let options = TowerOptions { tower, inputs, ..TowerOptions::default() };
        Encoding::new(&NetSpec { shape, options })
    }

    const KINDS: [(Tower, Inputs); 3] = [
        (Tower::Resnet, Inputs::Discs),
        (Tower::Resnet, Inputs::Lookahead),
        (Tower::Paper, Inputs::Discs),
    ];

    #[test]
    fn planes_hold_each_set_and_number_at_its_cell() {
        for shape in Shape::ALL {
            let layout = shape.layout();
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            let make = |(tower, shown), kind| {
                encoding(shape, tower, shown).planes(&inputs, kind, Device::Cpu)
            };
            let tensors = KINDS.map(|kind| make(kind, Kind::BFloat16));
            let width = layout.width as i64;
            for (tensor, planes) in tensors.iter().zip([4, 16, 1]) {
                assert_eq!(tensor.size(), [inputs.len() as i64, planes, width, width]);
                assert!(tensor.permute([0, 2, 3, 1]).is_contiguous());
            }
            // Counts over 8 lose nothing as bf16.
            assert!(make(KINDS[1], Kind::Float).equal(&tensors[1].to_kind(Kind::Float)));
            for (n, input) in inputs.iter().enumerate() {
                let mut numbers = vec![[[0.0; NUMBERS]; 2]; layout.squares];
                let ahead = dispatch!(shape, G => {
                    look::<G>((input.mine, input.theirs), |side, square, of_move| {
                        numbers[square.index()][side] = of_move;
                    })
                });
                for cell in 0..layout.cells() {
                    let (row, column) = (cell / layout.width, cell % layout.width);
                    let mask = 1u128 << (row * layout.stride + column);
                    let at = |kind: usize, plane: usize| {
                        let place = [n as i64, plane as i64, row as i64, column as i64];
                        tensors[kind].double_value(&place)
                    };
                    let sets = [input.mine, input.theirs, input.legal, layout.playable];
                    for (plane, set) in sets.into_iter().chain(ahead).enumerate() {
                        let wanted = (set & mask != 0) as u8 as f64;
                        assert_eq!(at(1, plane), wanted, "{shape} plane {plane}");
                        assert!(plane >= DISCS || at(0, plane) == wanted);
                    }
                    assert_eq!(at(2, 0), at(0, 0) - at(0, 1));
                    let square = layout.cell_of.iter().position(|&there| there as usize == cell);
                    let wanted = square.map_or([[0.0; NUMBERS]; 2], |square| numbers[square]);
                    for (index, wanted) in wanted.into_iter().flatten().enumerate() {
                        assert_eq!(at(1, DISCS + SETS + index), wanted as f64);
                    }
                }
            }
        }
    }

    #[test]
    fn planes_made_on_the_device_are_the_same() {
        for shape in Shape::ALL {
            let inputs = dispatch!(shape, G => some_inputs::<G>());
            for (tower, shown) in KINDS {
                let options = TowerOptions { tower, inputs: shown, ..TowerOptions::default() };
                let spec = NetSpec { shape, options };
                let found = OnDevice::new(&spec, Kind::Float, Device::Cpu).planes(&inputs);
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
