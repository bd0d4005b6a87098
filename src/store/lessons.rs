//! What a person learns from: mistakes of their games and puzzles, with the answers so far, in a JSON
//! file of their own.
//!
//! A lesson is asked until it was answered rightly twice: again after some minutes if the answer was
//! wrong, and on another day if it was right once. A wrong answer takes the right one back.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{self, Action, FileError};
use super::json_file::{self, JsonFileError};
use super::limits;
use crate::choices::choices;

/// The name of the file in the folder of a library.
pub const LESSONS: &str = "lessons.json";
/// The most lessons of a file.
pub const MOST: usize = 1_000;
/// A lesson with so many right answers is learnt.
pub const LEARNT: u32 = 2;

const VERSION: u32 = 1;
/// After a wrong answer a lesson is asked again after this time, in seconds.
const SOON: u64 = 10 * 60;
/// After a right one after this time: on another day.
const LATER: u64 = 20 * 60 * 60;

/// Why lessons cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum LessonsError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is damaged, or of another version.
    #[error(transparent)]
    Json(#[from] JsonFileError),
    /// Another program changes the file.
    #[error("another program is changing {}; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There are too many lessons.
    #[error("there are {MOST} lessons, the most that are kept; remove some")]
    TooMany,
    /// There is no such lesson.
    #[error("there is no lesson {id}; another page may have removed it")]
    Missing {
        /// The number of the lesson.
        id: u64,
    },
}

choices! {
    /// What a lesson is.
    pub enum Kind {
        /// A mistake that somebody made in a game.
        #[default]
        Mistake = "mistake",
        /// An ending with one winning move.
        Puzzle = "puzzle",
    }
}

/// What a move is worth.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveValue {
    /// The move.
    #[serde(rename = "move")]
    pub name: String,
    /// The expected final disc difference for the side to move.
    pub score: f32,
    /// Whether that is proven.
    pub exact: bool,
}

/// A position with a best move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// Its number, unique in the file. A new lesson gets one.
    #[serde(default)]
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// The board's name.
    pub board: String,
    /// The goal's name.
    pub goal: String,
    /// The first position of the game as an OBF line, if it is not the board's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The moves to the position.
    pub moves: String,
    /// What the legal moves are worth, as far as it is known; the best one first.
    pub values: Vec<MoveValue>,
    /// The move that was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
    /// The game, in words.
    pub source: String,
    /// Of how many levels of the program, and how many of them found the best move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<(u32, u32)>,
    /// Right answers since the last wrong one.
    #[serde(default)]
    pub right: u32,
    /// All wrong answers.
    #[serde(default)]
    pub wrong: u32,
    /// When it was asked last, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
}

impl Lesson {
    /// Whether it was answered rightly often enough.
    pub fn is_learnt(&self) -> bool {
        self.right >= LEARNT
    }

    /// Whether it should be asked now.
    pub fn is_due(&self, now: u64) -> bool {
        let pause = if self.right > 0 { LATER } else { SOON };
        !self.is_learnt() && self.asked.is_none_or(|asked| now >= asked.saturating_add(pause))
    }

    fn is_same_position(&self, other: &Lesson) -> bool {
        let position = |lesson: &Lesson| {
            (lesson.board.clone(), lesson.goal.clone(), lesson.start.clone(), lesson.moves.clone())
        };
        position(self) == position(other)
    }
}

/// The content of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lessons {
    version: u32,
    /// The number of the next lesson.
    next: u64,
    /// The lessons, the oldest first.
    pub items: Vec<Lesson>,
}

impl Default for Lessons {
    fn default() -> Lessons {
        Lessons { version: VERSION, next: 1, items: Vec::new() }
    }
}

impl Lessons {
    /// Reads a file; a missing one has no lessons.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    ///
    /// ```
    /// use outflank::store::lessons::Lessons;
    ///
    /// let none = Lessons::read("nowhere/lessons.json".as_ref())?;
    /// assert!(none.items.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: &Path) -> Result<Lessons, LessonsError> {
        match json_file::read_up_to(path, VERSION, limits::LESSONS) {
            Err(JsonFileError::File(error)) if error.is_missing() => Ok(Lessons::default()),
            read => Ok(read?),
        }
    }

    /// Adds lessons. One of a position that is known is left out. Returns how many are new.
    ///
    /// # Errors
    ///
    /// There would be too many; then none is added.
    pub fn add(&mut self, lessons: Vec<Lesson>) -> Result<usize, LessonsError> {
        let mut all = self.clone();
        for lesson in lessons {
            if all.items.iter().any(|known| known.is_same_position(&lesson)) {
                continue;
            }
            all.items.push(Lesson { id: all.next, right: 0, wrong: 0, asked: None, ..lesson });
            all.next += 1;
        }
        if all.items.len() > MOST {
            return Err(LessonsError::TooMany);
        }
        let added = all.items.len() - self.items.len();
        *self = all;
        Ok(added)
    }

    /// Notes an answer.
    ///
    /// # Errors
    ///
    /// There is no such lesson.
    pub fn answer(&mut self, id: u64, is_right: bool, now: u64) -> Result<&Lesson, LessonsError> {
        let lesson = self.items.iter_mut().find(|lesson| lesson.id == id);
        let lesson = lesson.ok_or(LessonsError::Missing { id })?;
        lesson.asked = Some(now);
        if is_right {
            lesson.right += 1;
        } else {
            lesson.right = 0;
            lesson.wrong += 1;
        }
        Ok(lesson)
    }

    /// Removes a lesson.
    ///
    /// # Errors
    ///
    /// There is no such lesson.
    pub fn remove(&mut self, id: u64) -> Result<(), LessonsError> {
        let place = self.items.iter().position(|lesson| lesson.id == id);
        self.items.remove(place.ok_or(LessonsError::Missing { id })?);
        Ok(())
    }
}

/// Changes a file under a lock, so that two programs lose nothing. After an error it is as before.
///
/// # Errors
///
/// Those of `change`; or the file cannot be read or written, or another program holds the lock.
pub fn change<T>(
    path: &Path,
    change: impl FnOnce(&mut Lessons) -> Result<T, LessonsError>,
) -> Result<T, LessonsError> {
    files::create_dir(files::parent_of(path))?;
    let lock_path = path.with_extension("lock");
    let at = FileError::at(Action::Lock, &lock_path);
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
    let lock = lock.map_err(at)?;
    if !files::lock(&lock, &lock_path)? {
        return Err(LessonsError::Busy { path: path.to_path_buf() });
    }
    let mut lessons = Lessons::read(path)?;
    let answer = change(&mut lessons)?;
    let bytes = json_file::to_bytes(&lessons)
        .map_err(|source| JsonFileError::Content { path: path.to_path_buf(), source })?;
    files::write_atomically(path, &bytes)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lesson(moves: &str) -> Lesson {
        Lesson {
            id: 0,
            kind: Kind::Mistake,
            board: "8x8".into(),
            goal: "most".into(),
            start: None,
            moves: moves.into(),
            values: vec![MoveValue { name: "f6".into(), score: 1.5, exact: false }],
            played: Some("d6".into()),
            source: "Ann – Ben".into(),
            found: None,
            right: 7,
            wrong: 0,
            asked: None,
        }
    }

    #[test]
    fn a_lesson_is_asked_until_it_is_right_twice() {
        let mut lessons = Lessons::default();
        assert_eq!(lessons.add(vec![lesson("f5"), lesson("f5")]).expect("room"), 1);
        let id = lessons.items[0].id;
        let mut now = 1_000_000;
        assert!(lessons.items[0].is_due(now), "a new lesson has no answers");
        // Wrong, right, wrong, right, right: the last two count.
        for (is_right, pause, is_learnt) in
            [(false, SOON, false), (true, LATER, false), (false, SOON, false), (true, LATER, false)]
        {
            let lesson = lessons.answer(id, is_right, now).expect("a lesson");
            assert_eq!((lesson.is_due(now + pause - 1), lesson.is_due(now + pause)), (false, true));
            assert_eq!(lesson.is_learnt(), is_learnt);
            now += pause;
        }
        let lesson = lessons.answer(id, true, now).expect("a lesson");
        assert!(lesson.is_learnt() && !lesson.is_due(u64::MAX) && lesson.wrong == 2);
        assert!(matches!(lessons.answer(9, true, 0), Err(LessonsError::Missing { id: 9 })));
        lessons.remove(id).expect("a lesson");
        assert!(lessons.items.is_empty());
    }

    #[test]
    fn a_full_file_stays_as_it_is() {
        let mut lessons = Lessons::default();
        let all = (0..MOST).map(|number| lesson(&number.to_string())).collect();
        assert_eq!(lessons.add(all).expect("room"), MOST);
        assert!(matches!(lessons.add(vec![lesson("f5")]), Err(LessonsError::TooMany)));
        assert_eq!(lessons.items.len(), MOST);
    }

    #[test]
    fn changes_of_two_programs_are_all_kept_and_damage_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mine/lessons.json");
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..10 {
                        let new = lesson(&format!("{thread}-{number}"));
                        change(path, |lessons| lessons.add(vec![new])).expect("added");
                    }
                });
            }
        });
        let lessons = Lessons::read(&path).expect("lessons");
        assert_eq!(lessons.items.len(), 20);
        let text = fs::read_to_string(&path).expect("read");
        for damaged in [&text[..text.len() / 2], &text.replace("0-3", "0-4"), "", "[]"] {
            fs::write(&path, damaged).expect("written");
            let error = change(&path, |lessons| lessons.add(vec![lesson("f5")])).expect_err("bad");
            assert!(error.to_string().contains("lessons.json"), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("read"), damaged);
        }
    }
}
