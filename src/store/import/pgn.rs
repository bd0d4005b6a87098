//! Games in the Portable Game Notation, as play sites write them: lines of tags, then moves. A result
//! is in discs, such as `26-38`.

/// What the tags of a game say.
#[derive(Default)]
pub(super) struct Tags {
    pub black: Option<String>,
    pub white: Option<String>,
    pub date: Option<String>,
    pub event: Option<String>,
    /// Black's discs less white's.
    pub result: Option<i32>,
}

/// The games of a text, each with the text of its moves; `None` if it begins with no tag.
pub(super) fn games(text: &str) -> Option<Vec<(Tags, &str)>> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().find(|line| !line.trim().is_empty()).and_then(tag)?;
    let mut games: Vec<(Tags, &str)> = Vec::new();
    let mut in_tags = false;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        match tag(line) {
            Some((name, value)) => {
                if !in_tags {
                    games.push((Tags::default(), ""));
                }
                in_tags = true;
                if let Some((tags, _)) = games.last_mut() {
                    tags.note(name, value);
                }
                begin = start + line.len();
            }
            None => {
                in_tags = false;
                if let Some((_, moves)) = games.last_mut() {
                    *moves = &text[begin..start + line.len()];
                }
            }
        }
    }
    Some(games)
}

/// The text after the tags of its first game; the whole text if it has none.
pub(super) fn after_tags(text: &str) -> &str {
    let is_before = |line: &&str| tag(line).is_some() || line.trim().is_empty();
    let tags: usize = text.split_inclusive('\n').take_while(is_before).map(str::len).sum();
    &text[tags..]
}

/// The name and value of a line such as `[Black "kuro"]`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix('[')?.strip_suffix("\"]")?.split_once(" \"")?;
    name.chars().all(char::is_alphanumeric).then_some((name, value))
}

impl Tags {
    fn note(&mut self, name: &str, value: &str) {
        let known = Some(value.to_string()).filter(|value| !value.starts_with('?') && value != "-");
        match name {
            "Black" => self.black = known,
            "White" => self.white = known,
            "Date" => self.date = known,
            "Event" => self.event = known,
            "Result" => {
                // `1-0` and the like count wins, not discs.
                let discs: Option<(i8, i8)> = value
                    .split_once('-')
                    .and_then(|(black, white)| Some((black.parse().ok()?, white.parse().ok()?)));
                let discs = discs.filter(|&(black, white)| i8::max(black, white) > 1);
                self.result = discs.map(|(black, white)| i32::from(black) - i32::from(white));
            }
            _ => {}
        }
    }
}
