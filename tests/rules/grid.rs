//! A simple implementation of the rules: an array of cells, and steps in eight directions.
//!
//! It shares no code and no table with the program, not even the list of holes.

use outflank::game::{Colour, Geometry, Position, Shape, Square, SquareSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    Hole,
    Empty,
    Disc(Colour),
}

/// A board and the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    rows: Vec<Vec<Cell>>,
    side: Colour,
}

/// The large boards: `#` is a square, `.` a hole.
const OCTAGON: [&str; 10] = [
    "..######..",
    ".########.",
    "##########",
    "##########",
    "##########",
    "##########",
    "##########",
    "##########",
    ".########.",
    "..######..",
];
const CROSS: [&str; 10] = [
    "####..####",
    "##########",
    "##########",
    "##########",
    ".########.",
    ".########.",
    "##########",
    "##########",
    "##########",
    "####..####",
];

impl Grid {
    /// The start position.
    pub fn start(shape: Shape) -> Grid {
        // `middle` is the first row and column of the four discs.
        let (picture, middle) = match shape {
            Shape::Square8 => (vec!["########"; 8], 3),
            Shape::Square6 => (vec!["######"; 6], 2),
            Shape::Square7 => (vec!["#######"; 7], 3),
            Shape::Octagon88 => (OCTAGON.to_vec(), 4),
            Shape::Cross92 => (CROSS.to_vec(), 4),
        };
        let cell = |mark| if mark == '#' { Cell::Empty } else { Cell::Hole };
        let mut rows: Vec<Vec<Cell>> =
            picture.into_iter().map(|row| row.chars().map(cell).collect()).collect();
        rows[middle][middle] = Cell::Disc(Colour::White);
        rows[middle + 1][middle + 1] = Cell::Disc(Colour::White);
        rows[middle][middle + 1] = Cell::Disc(Colour::Black);
        rows[middle + 1][middle] = Cell::Disc(Colour::Black);
        Grid { rows, side: Colour::Black }
    }

    /// The grid of a position.
    pub fn of<G: Geometry>(position: Position<G>) -> Grid {
        let mut grid = Grid::start(G::SHAPE);
        let black = position.black_view();
        for (index, (row, column)) in grid.squares().into_iter().enumerate() {
            let square = Square(index as u8);
            grid.rows[row][column] = if SquareSet::<G>(black.mine).contains(square) {
                Cell::Disc(Colour::Black)
            } else if SquareSet::<G>(black.theirs).contains(square) {
                Cell::Disc(Colour::White)
            } else {
                Cell::Empty
            };
        }
        grid.side = position.side;
        grid
    }

    /// Row and column of each square in reading order.
    fn squares(&self) -> Vec<(usize, usize)> {
        let width = self.rows.len();
        let cells = (0..width * width).map(|cell| (cell / width, cell % width));
        cells.filter(|&(row, column)| self.rows[row][column] != Cell::Hole).collect()
    }

    fn cell(&self, row: isize, column: isize) -> Cell {
        let inside = |at| usize::try_from(at).ok().filter(|&at| at < self.rows.len());
        match (inside(row), inside(column)) {
            (Some(row), Some(column)) => self.rows[row][column],
            _ => Cell::Hole,
        }
    }

    fn turned(&self, row: usize, column: usize) -> Vec<(usize, usize)> {
        let mut turned = Vec::new();
        if self.rows[row][column] != Cell::Empty {
            return turned;
        }
        for (down, right) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
        {
            let at = |step: isize| (row as isize + step * down, column as isize + step * right);
            let theirs =
                |&step: &isize| self.cell(at(step).0, at(step).1) == Cell::Disc(!self.side);
            let run: Vec<_> = (1..).take_while(theirs).collect();
            let end = at(run.len() as isize + 1);
            if self.cell(end.0, end.1) == Cell::Disc(self.side) {
                turned.extend(run.iter().map(|&step| (at(step).0 as usize, at(step).1 as usize)));
            }
        }
        turned
    }

    /// The numbers of the squares whose discs turn when the side to move plays at a square; none if
    /// the move is not legal.
    pub fn flips(&self, square: usize) -> Vec<usize> {
        let squares = self.squares();
        let (row, column) = squares[square];
        let turned = self.turned(row, column);
        let number = |at: &(usize, usize)| squares.iter().position(|square| square == at);
        let mut numbers: Vec<_> = turned.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The numbers of the squares that are legal moves.
    pub fn legal(&self) -> Vec<usize> {
        let squares = self.squares().into_iter().enumerate();
        squares.filter(|&(_, at)| !self.turned(at.0, at.1).is_empty()).map(|(n, _)| n).collect()
    }

    fn passed(&self) -> Grid {
        Grid { rows: self.rows.clone(), side: !self.side }
    }

    /// Whether neither side has a legal move.
    pub fn is_over(&self) -> bool {
        self.legal().is_empty() && self.passed().legal().is_empty()
    }

    /// The positions after one move, or after a pass if there is no legal move.
    pub fn successors(&self) -> Vec<Grid> {
        if self.is_over() {
            return Vec::new();
        }
        let squares = self.squares();
        let moves: Vec<_> = self.legal().into_iter().map(|square| squares[square]).collect();
        if moves.is_empty() {
            return vec![self.passed()];
        }
        let played = |(row, column): (usize, usize)| {
            let mut next = self.passed();
            for (row, column) in self.turned(row, column).into_iter().chain([(row, column)]) {
                next.rows[row][column] = Cell::Disc(self.side);
            }
            next
        };
        moves.into_iter().map(played).collect()
    }

    /// The disc difference for the side to move.
    pub fn difference(&self) -> i32 {
        let value = |cell: &Cell| match cell {
            Cell::Disc(colour) if *colour == self.side => 1,
            Cell::Disc(_) => -1,
            _ => 0,
        };
        self.rows.iter().flatten().map(value).sum()
    }

    /// The number of lines of play of `depth` plies: a pass is a ply, a finished game one leaf.
    pub fn perft(&self, depth: u32) -> u64 {
        let successors = self.successors();
        if depth == 0 || successors.is_empty() {
            return 1;
        }
        successors.iter().map(|next| next.perft(depth - 1)).sum()
    }
}
