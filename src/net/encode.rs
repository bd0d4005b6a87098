//! A net's input: positions as bit sets, and as planes of a tensor.

use tch::{Device, Kind, Tensor};

use super::lookahead::{NUMBER_PLANES, SET_PLANES, look_ahead};
use super::options::{Inputs, Tower, TowerOptions};
use super::plan::NetSpec;
use crate::game::{Bitboard, Board, Geometry, Layout, SquareSet};

/// A position from the view of the side to move. Bits are numbered `row * stride + column`, with
/// the stride of the board's [`Layout`].
///
/// It is small enough to be passed between threads by value. Each backend encodes it directly into
/// its own memory layout.
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

/// The number of input planes of a net.
///
/// - `resnet` with [`Inputs::Discs`]: 4 planes of 0 and 1: discs of the side to move, discs of the
///   other side, legal moves, squares of the board.
/// - `resnet` with [`Inputs::Lookahead`]: 16 planes: those 4, then 12 of [`super::lookahead`]: 4 of
///   sets, and 4 of numbers at each side's legal moves, the side to move first.
/// - `paper`: 1 plane: 1 on discs of the side to move, -1 on the other side's, 0 on empty squares.
pub fn plane_count(options: &TowerOptions) -> usize {
    match (options.tower, options.inputs) {
        (Tower::Paper, _) => 1,
        (Tower::Resnet, Inputs::Discs) => DISC_PLANES,
        (Tower::Resnet, Inputs::Lookahead) => DISC_PLANES + SET_PLANES + 2 * NUMBER_PLANES,
    }
}

/// Planes of a `resnet` with [`Inputs::Discs`].
const DISC_PLANES: usize = 4;
/// The index of the plane that is 1 on all squares of the board.
const BOARD_PLANE: usize = 3;

/// The planes of a `resnet` at a square that is in no other set.
const fn no_discs<const P: usize>() -> [f32; P] {
    let mut planes = [0.0; P];
    planes[BOARD_PLANE] = 1.0;
    planes
}

/// Encodes positions as the input planes of one net.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    layout: &'static Layout,
    /// The cell of each bit of an [`Input`].
    cell_of_bit: [u8; u128::BITS as usize],
    tower: Tower,
    inputs: Inputs,
    /// The number of planes.
    pub planes: usize,
}

impl Encoding {
    /// The encoding of nets of `spec`.
    pub fn new(spec: &NetSpec) -> Encoding {
        let TowerOptions { tower, inputs, .. } = spec.options;
        let planes = plane_count(&spec.options);
        let layout = spec.shape.layout();
        let mut cell_of_bit = [0; u128::BITS as usize];
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            cell_of_bit[usize::from(bit)] = cell;
        }
        Encoding { layout, cell_of_bit, tower, inputs, planes }
    }

    /// Writes a position's planes as `row[cell * stride + plane]`. Cells that are not squares of
    /// the board are left unchanged.
    ///
    /// # Panics
    ///
    /// The row is too short.
    #[inline]
    pub fn write(&self, input: &Input, row: &mut [f32], stride: usize) {
        let mut writer = PlaneWriter { row, stride, cell_of_bit: &self.cell_of_bit };
        match (self.tower, self.inputs) {
            (Tower::Paper, _) => {
                writer.fill(self.layout, [0.0]);
                writer.mark(0, 1.0, input.mine);
                writer.mark(0, -1.0, input.theirs);
            }
            (Tower::Resnet, Inputs::Discs) => {
                writer.fill(self.layout, no_discs::<DISC_PLANES>());
                writer.discs(input);
            }
            (Tower::Resnet, Inputs::Lookahead) => {
                const PLANES: usize = DISC_PLANES + SET_PLANES + 2 * NUMBER_PLANES;
                writer.fill(self.layout, no_discs::<PLANES>());
                writer.discs(input);
                dispatch!(self.layout.shape, G => writer.lookahead::<G>(input));
            }
        }
    }

    /// The planes as a tensor `[n, planes, width, width]` of `kind`, channels last in memory.
    pub fn planes(&self, inputs: &[Input], kind: Kind, device: Device) -> Tensor {
        let (width, cells) = (self.layout.width as i64, self.layout.cells());
        let mut numbers = vec![0f32; inputs.len() * cells * self.planes];
        let rows = numbers.chunks_exact_mut(cells * self.planes);
        rows.zip(inputs).for_each(|(row, input)| self.write(input, row, self.planes));
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
    /// position are copied to it. With [`Inputs::Lookahead`] the planes are computed on the CPU.
    pub fn planes(&self, inputs: &[Input]) -> Tensor {
        let (encoding, kind, device) = (&self.cpu, self.kind, self.board.device());
        if encoding.tower == Tower::Resnet && encoding.inputs == Inputs::Lookahead {
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
/// reuses.
pub fn upload(tensor: Tensor, device: Device) -> Tensor {
    if !device.is_cuda() {
        return tensor.to_device(device);
    }
    let kind = tensor.kind();
    tensor.pin_memory(device).to_device_(device, kind, true, false)
}

/// Writes one position's planes.
///
/// It first clears all planes of every square and then marks the squares of each set. Sets have few
/// squares, so this is much faster than testing each square in each set
/// (docs/journal/speed-selfplay.md, Tree work).
struct PlaneWriter<'a> {
    row: &'a mut [f32],
    stride: usize,
    cell_of_bit: &'a [u8; u128::BITS as usize],
}

impl PlaneWriter<'_> {
    /// Writes the same planes at all squares of the board.
    fn fill<const P: usize>(&mut self, layout: &Layout, planes: [f32; P]) {
        for &cell in &layout.cell_of {
            self.row[usize::from(cell) * self.stride..][..P].copy_from_slice(&planes);
        }
    }

    /// Writes `number` into `plane` at the squares of `set`.
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
        let sets = look_ahead::<G>((input.mine, input.theirs), |side, square, numbers_of_move| {
            let cell = usize::from(self.cell_of_bit[G::bit_of(square)]);
            let plane = DISC_PLANES + SET_PLANES + side * NUMBER_PLANES;
            self.row[cell * self.stride + plane..][..NUMBER_PLANES]
                .copy_from_slice(&numbers_of_move);
        });
        for (plane, set) in sets.into_iter().enumerate() {
            self.mark(DISC_PLANES + plane, 1.0, set);
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
            position = position.play(square).map_or(position, Position::pass_if_forced);
        }
        inputs
    }

    fn encoding(shape: Shape, tower: Tower, inputs: Inputs) -> Encoding {
        let options = TowerOptions { tower, inputs, ..TowerOptions::default() };
        Encoding::new(&NetSpec { shape, options })
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
                let spec = NetSpec { shape, options };
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
