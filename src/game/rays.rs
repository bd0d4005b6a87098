//! Rays from a square to the edges, which the vector kernels look along.

/// The squares that lie in each of the eight directions from one square up to the edge: first
/// the four directions towards higher bits, then their opposites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Rays(pub [u64; 8]);

/// The rays from each bit of a 64-bit board; empty ones for bits that are no squares, and for
/// boards that need a wider word.
pub(super) const fn rays(width: usize, stride: usize) -> [Rays; 64] {
    const STEPS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, -1), (1, 1)];
    let mut table = [Rays([0; 8]); 64];
    let mut bit = 0;
    while bit < 64 && stride == 8 {
        let mut direction = 0;
        while direction < 8 && bit % stride < width && bit / stride < width {
            let (mut down, mut right) = STEPS[direction % 4];
            if direction >= 4 {
                (down, right) = (-down, -right);
            }
            let mut row = (bit / stride) as isize + down;
            let mut column = (bit % stride) as isize + right;
            let range = width as isize;
            while row >= 0 && row < range && column >= 0 && column < range {
                table[bit].0[direction] |= 1 << (row as usize * stride + column as usize);
                (row, column) = (row + down, column + right);
            }
            direction += 1;
        }
        bit += 1;
    }
    table
}
