//! What somebody in front of a terminal sees: the bytes that a program wrote, laid out as a terminal would.

/// Lines of a terminal that never scrolls anything away.
pub struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    columns: usize,
}

impl Screen {
    /// What these bytes leave on a terminal of so many columns.
    pub fn of(written: &[u8], columns: usize) -> Screen {
        let mut screen = Screen { lines: vec![Vec::new()], row: 0, column: 0, columns };
        let text = String::from_utf8_lossy(written).into_owned();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => screen.column = 0,
                '\n' => screen.down(1),
                '\x08' => screen.column = screen.column.saturating_sub(1),
                '\x07' => {}
                '\t' => (0..8 - screen.column % 8).for_each(|_| screen.put(' ')),
                '\x1b' => {
                    assert_eq!(rest.next(), Some('['), "an escape sequence that is none of CSI: {text:?}");
                    let mut parameters = String::new();
                    let last = loop {
                        match rest.next() {
                            Some(c @ ('@'..='~')) => break c,
                            Some(c) => parameters.push(c),
                            None => return screen,
                        }
                    };
                    screen.obey(last, &parameters);
                }
                c => screen.put(c),
            }
        }
        screen
    }

    /// The lines, without blanks at their ends and without empty ones below the cursor.
    pub fn lines(&self) -> Vec<String> {
        let line = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        self.lines.iter().map(line).collect()
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    fn put(&mut self, c: char) {
        if self.column == self.columns {
            self.column = 0;
            self.down(1);
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self, by: usize) {
        self.row += by;
        self.lines.resize(self.lines.len().max(self.row + 1), Vec::new());
    }

    fn obey(&mut self, last: char, parameters: &str) {
        // What is private to terminals (how input is marked, when output is drawn) shows nothing.
        if parameters.starts_with('?') {
            return;
        }
        let by = parameters.parse().unwrap_or(1);
        match last {
            'A' => self.row = self.row.saturating_sub(by),
            'B' => self.down(by),
            'C' => self.column = (self.column + by).min(self.columns - 1),
            'D' => self.column = self.column.saturating_sub(by),
            'K' => self.lines[self.row].truncate(self.column),
            'H' => (self.row, self.column) = (0, 0),
            'J' if parameters == "2" => self.lines = vec![Vec::new(); self.row + 1],
            'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            'm' => {}
            other => panic!("an escape sequence that is not known here: {parameters}{other}"),
        }
    }
}
