//! Positions of games as NumPy arrays: files of the format `.npz`, each with a bounded number of
//! positions.
//!
//! The planes are those that the program gives a net, computed by the same code ([`Encoding`]).
//! Until a file is written its positions are kept as bitboards, about 150 bytes each.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use npyz::{AutoSerialize, WriterBuilder as _};
use zip::write::FileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::LeftOut;
use crate::game::{Bitboard, Colour, Geometry, Shape, SquareSet};
use crate::net::{Encoding, Inputs, NetSpec, Tower, TowerOptions};
use crate::predict::Input;
use crate::store::files::{self, Action, FileError, NewFile};
use crate::store::import::{Ending, Game};

/// Most of an array's numbers are 0, so more effort gains little.
const COMPRESSION_LEVEL: i32 = 1;

/// Why positions cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The archive cannot be written.
    #[error("cannot write {}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The library's error.
        source: zip::result::ZipError,
    },
}

/// A position in memory.
struct Row {
    input: Input,
    game: u32,
    value: f32,
    result: i8,
    score: i8,
    exact: bool,
    policy_len: u8,
}

/// Which planes are written.
#[derive(Clone, Debug)]
pub enum Planes {
    /// Those of residual nets with these inputs, but not [`Inputs::Evaluations`], for the board of the
    /// first game.
    Of(Inputs),
    /// Those of a net, for its board.
    OfNet(NetSpec),
}

impl Planes {
    /// The net whose planes are written for positions of a board.
    pub fn spec(&self, shape: Shape) -> NetSpec {
        match self {
            Planes::OfNet(spec) => spec.clone(),
            Planes::Of(inputs) => {
                let options = TowerOptions { inputs: *inputs, ..TowerOptions::default() };
                NetSpec { shape, options, evaluator: None }
            }
        }
    }
}

/// Writes the positions of games on one board.
///
/// ```
/// use std::path::Path;
///
/// use outflank::game::{Goal, Shape};
/// use outflank::net::Inputs;
/// use outflank::store::export::{NpzWriter, Planes};
/// use outflank::store::import;
///
/// let folder = tempfile::tempdir()?;
/// let mut writer = NpzWriter::new(folder.path(), Planes::Of(Inputs::Lookahead), 500)?;
/// for file in import::files(Path::new("tests/data/run-1"), None)? {
///     for found in file.games(Shape::Square6, Goal::Most)? {
///         writer.write(&found?.game?)??;
///     }
/// }
/// let (files, positions) = writer.finish()?;
/// assert_eq!((files, positions), (2, 737), "at most 500 in a file");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzWriter {
    folder: PathBuf,
    planes: Planes,
    shape: Option<Shape>,
    most: usize,
    rows: Vec<Row>,
    policies: Vec<u16>,
    games: u32,
    positions: u64,
    files: u32,
}

impl NpzWriter {
    /// Writes into `folder`, at most `most` positions a file.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn new(folder: &Path, planes: Planes, most: usize) -> Result<NpzWriter, NpzError> {
        files::create_dir(folder)?;
        let shape = match &planes {
            Planes::Of(_) => None,
            Planes::OfNet(spec) => Some(spec.shape),
        };
        Ok(NpzWriter {
            folder: folder.to_path_buf(),
            planes,
            shape,
            most: most.max(1),
            rows: Vec::new(),
            policies: Vec::new(),
            games: 0,
            positions: 0,
            files: 0,
        })
    }

    /// Adds the positions of a game, without those of its opening moves.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&mut self, game: &Game) -> Result<Result<(), LeftOut>, NpzError> {
        if game.ending == Ending::Unfinished {
            return Ok(Err(LeftOut::NoResult));
        }
        let shape = *self.shape.get_or_insert(game.record.shape);
        if game.record.shape != shape {
            return Ok(Err(LeftOut::OtherBoard));
        }
        dispatch!(shape, G => self.add::<G>(game))?;
        self.games += 1;
        Ok(Ok(()))
    }

    /// Writes the last file. Returns the number of files and of positions.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(u32, u64), NpzError> {
        if let Some(shape) = self.shape.filter(|_| !self.rows.is_empty()) {
            dispatch!(shape, G => self.write_file::<G>())?;
        }
        Ok((self.files, self.positions))
    }

    fn add<G: Geometry>(&mut self, game: &Game) -> Result<(), NpzError> {
        // A game that was read has been replayed.
        let positions = game.record.replay::<G>().unwrap_or_default();
        let skipped = usize::from(game.record.opening_moves);
        for (position, played) in positions.iter().zip(&game.record.moves).skip(skipped) {
            let outcome = match position.side {
                Colour::Black => game.record.score,
                Colour::White => -game.record.score,
            };
            self.rows.push(Row {
                input: Input::new(position.board, position.board.legal()),
                game: self.games,
                value: played.value.unwrap_or(f32::NAN),
                result: outcome.signum() as i8,
                score: played.exact.unwrap_or(outcome as i8),
                exact: played.exact.is_some(),
                policy_len: played.policy.len() as u8,
            });
            self.policies.extend_from_slice(&played.policy);
            if self.rows.len() == self.most {
                self.write_file::<G>()?;
            }
        }
        Ok(())
    }

    fn write_file<G: Geometry>(&mut self) -> Result<(), NpzError> {
        self.files += 1;
        let path = self.folder.join(format!("positions-{:06}.npz", self.files));
        let file = NewFile::create(&path)?;
        let mut arrays = Arrays { zip: ZipWriter::new(file), rows: &self.rows };
        let written = arrays
            .planes(&self.planes.spec(G::SHAPE))
            .and_then(|()| arrays.policies::<G>(&self.policies))
            .and_then(|()| arrays.column("values", |row| row.value))
            .and_then(|()| arrays.column("results", |row| row.result))
            .and_then(|()| arrays.column("scores", |row| row.score))
            .and_then(|()| arrays.column("exact", |row| row.exact))
            .and_then(|()| arrays.column("games", |row| row.game));
        written.map_err(FileError::at(Action::Write, &path))?;
        let closed = arrays.zip.finish();
        closed.map_err(|source| NpzError::Archive { path, source })?.finish()?;
        self.positions += self.rows.len() as u64;
        self.rows.clear();
        self.policies.clear();
        Ok(())
    }
}

/// The arrays of a file.
struct Arrays<'a> {
    zip: ZipWriter<NewFile>,
    rows: &'a [Row],
}

impl Arrays<'_> {
    /// Begins an array, one row for each position.
    fn begin<T: AutoSerialize>(
        &mut self,
        name: &str,
        row: &[usize],
    ) -> io::Result<npyz::NpyWriter<T, BufWriter<&mut ZipWriter<NewFile>>>> {
        let options = FileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(COMPRESSION_LEVEL))
            // The same games give the same bytes.
            .last_modified_time(zip::DateTime::default());
        self.zip.start_file(format!("{name}.npy"), options)?;
        let shape: Vec<u64> =
            std::iter::once(&self.rows.len()).chain(row).map(|&size| size as u64).collect();
        npyz::WriteOptions::new()
            .default_dtype()
            .shape(&shape)
            .writer(BufWriter::with_capacity(1 << 16, &mut self.zip))
            .begin_nd()
    }

    fn column<T: AutoSerialize>(&mut self, name: &str, of: impl Fn(&Row) -> T) -> io::Result<()> {
        let rows = self.rows;
        let mut array = self.begin::<T>(name, &[])?;
        array.extend(rows.iter().map(of))?;
        array.finish()
    }

    /// The planes of nets of `spec`: bytes if all numbers are 0 and 1, otherwise float32.
    fn planes(&mut self, spec: &NetSpec) -> io::Result<()> {
        let are_sets = (spec.options.tower, spec.options.inputs) == (Tower::Resnet, Inputs::Discs);
        match are_sets {
            true => self.planes_as(spec, |number| number as u8),
            false => self.planes_as(spec, |number| number),
        }
    }

    fn planes_as<T: AutoSerialize>(
        &mut self,
        spec: &NetSpec,
        number: impl Fn(f32) -> T,
    ) -> io::Result<()> {
        let (rows, encoding) = (self.rows, Encoding::new(spec));
        let (width, cells, planes) =
            (spec.shape.layout().width, spec.shape.layout().cells(), encoding.planes);
        let mut array = self.begin::<T>("planes", &[planes, width, width])?;
        // Cells that are no squares stay 0.
        let mut numbers = vec![0.0; cells * planes];
        for row in rows {
            encoding.write(&row.input, &mut numbers, planes);
            for plane in 0..planes {
                array.extend(numbers.iter().skip(plane).step_by(planes).map(|&it| number(it)))?;
            }
        }
        array.finish()
    }

    /// Probabilities over the squares; all 0 without a policy.
    fn policies<G: Geometry>(&mut self, weights: &[u16]) -> io::Result<()> {
        let (rows, mut rest) = (self.rows, weights);
        let mut array = self.begin::<f32>("policies", &[G::SQUARES])?;
        let mut policy = vec![0.0; G::SQUARES];
        for row in rows {
            let (own, after) = rest.split_at(usize::from(row.policy_len));
            rest = after;
            policy.fill(0.0);
            let sum: f32 = own.iter().map(|&weight| f32::from(weight)).sum();
            let legal = SquareSet::<G>(G::Bitboard::narrow(row.input.legal));
            for (square, &weight) in legal.zip(own) {
                policy[square.index()] = f32::from(weight) / sum.max(1.0);
            }
            array.extend(policy.iter().copied())?;
        }
        array.finish()
    }
}
