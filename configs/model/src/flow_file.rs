// SPDX-License-Identifier: GPL-2.0-only
//! The flow file, read from start to end without being held in memory.

use crate::error::{InputError, suggestion};
use crate::flow::Flow;
use crate::flow::MOST_BYTES;
use crate::flow::Placed;
use crate::input;
use crate::words::Token;
use crate::words::Words;
use hpcc_core::engine::FlowOptions;
use hpcc_core::units::{Bytes, Nanos, Rounding};
use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a column of a flow file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Src,
    Dst,
    Priority,
    Dport,
    /// Bytes.
    Size,
    Packets,
    Start,
    Nic,
    Rate,
    Stop,
    /// A word that makes no difference here.
    Skip,
}

/// The columns and their names.
const NAMES: [(&str, Column); 11] = [
    ("src", Column::Src),
    ("dst", Column::Dst),
    ("priority", Column::Priority),
    ("dport", Column::Dport),
    ("size", Column::Size),
    ("packets", Column::Packets),
    ("start", Column::Start),
    ("nic", Column::Nic),
    ("rate", Column::Rate),
    ("stop", Column::Stop),
    ("skip", Column::Skip),
];

/// Of the 2019 simulator.
const REFERENCE: &str = "src dst priority dport size start";
/// Of a descendant that balances loads.
const WITHOUT_PORT: &str = "src dst priority size start";
/// Of the DCQCN authors' simulator, whose last word is the end.
const OF_PACKETS: &str = "src dst priority packets start skip";
/// Of descendants whose flows have a tag.
const TAGGED: &str = "src dst priority size start skip";
/// Of Parsimon and m3: ahead of the columns, the number of the flow.
const NUMBERED: &str = "skip src dst priority dport size start";
/// No experiment has flows that start after so many seconds; few have flows of so few bytes.
const LONGEST_START: f64 = 1000.0;
/// Flows that are looked at to tell the columns.
const LOOKED_AT: usize = 1000;
/// Priority and port of flows whose file has no column for them.
const USUAL: (u8, u16) = (3, 100);

/// The columns of a flow file, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<Column>);

impl Columns {
    /// Reads their names. The error is a sentence for the user.
    pub fn parse(text: &str) -> Result<Columns, String> {
        let names = NAMES.map(|(name, _)| name);
        let column = |word: &str| {
            let found = NAMES.iter().find(|(name, _)| *name == word);
            found.map(|(_, column)| *column).ok_or_else(|| format!("unknown column {word}{}", suggestion(word, &names)))
        };
        let columns: Vec<Column> = text.split_whitespace().map(column).collect::<Result<_, _>>()?;
        let count = |wanted: &[Column]| columns.iter().filter(|column| wanted.contains(column)).count();
        for (wanted, name) in [(&[Column::Src][..], "src"), (&[Column::Dst], "dst"), (&[Column::Start], "start")] {
            if count(wanted) != 1 {
                return Err(format!("\"{text}\" has {name} {} times; expected it once", count(wanted)));
            }
        }
        match count(&[Column::Size, Column::Packets]) {
            1 => Ok(Columns(columns)),
            _ => Err(format!("\"{text}\" has no size; expected size, in bytes, or packets")),
        }
    }

    /// Guesses them from the words of lines, each a flow. Six are those of the 2019 simulator, unless what would be
    /// sizes are fractions, or ports too large while sizes are few seconds.
    fn guess(lines: &[Vec<String>]) -> &'static str {
        let number = |line: &[String], index: usize| line.get(index).and_then(|word| word.parse::<f64>().ok());
        let Some(first) = lines.first() else { return REFERENCE };
        let is_whole = |line: &Vec<String>| line.get(4).is_some_and(|size| size.parse::<u64>().is_ok());
        let is_port = |line: &Vec<String>| number(line, 3).is_none_or(|port| port <= f64::from(u16::MAX));
        let are_seconds = lines.iter().all(|line| number(line, 4).is_some_and(|start| start <= LONGEST_START));
        let of_reference = lines.iter().all(is_whole) && (lines.iter().all(is_port) || !are_seconds);
        match first.len() {
            5 => WITHOUT_PORT,
            7 if lines.iter().all(|line| number(line, 6).is_some()) => NUMBERED,
            6 if of_reference => REFERENCE,
            6 if lines.iter().all(|line| number(line, 4) < number(line, 5)) => OF_PACKETS,
            6 if lines.iter().all(|line| number(line, 4).is_some() && number(line, 5).is_some()) => TAGGED,
            _ => REFERENCE,
        }
    }
}

/// How a flow file is read.
#[derive(Clone, Debug)]
pub struct FlowForm {
    /// `None`: as its first flows tell.
    pub columns: Option<Columns>,
    /// Bytes of a packet, for columns of packets.
    pub mtu: Bytes,
    /// How times and rates become whole nanoseconds and bits per second.
    pub rounding: Rounding,
}

/// A flow file.
#[derive(Clone, Debug)]
pub struct FlowFile {
    path: PathBuf,
    form: FlowForm,
    columns: Arc<Columns>,
    /// Columns that were guessed and are not those of the 2019 simulator.
    guessed: Option<&'static str>,
    /// Whether the columns may be others.
    doubtful: bool,
    /// On the part of the file that is not read, once a walk has come to it.
    note: Arc<OnceLock<String>>,
}

impl FlowFile {
    /// The file, and how many flows its first word announces.
    pub fn new(path: &Path, form: FlowForm) -> Result<(FlowFile, u64), InputError> {
        let mut file = FlowFile {
            path: path.into(),
            columns: Arc::new(Columns(Vec::new())),
            guessed: None,
            doubtful: false,
            form,
            note: Arc::default(),
        };
        let reader = FlowReader::open(&file)?;
        let columns = match &file.form.columns {
            Some(columns) => columns.clone(),
            None => {
                let lines = first_lines(path, reader.count);
                let name = Columns::guess(&lines);
                file.guessed = (name != REFERENCE).then_some(name);
                file.doubtful = name == REFERENCE && !lines.is_empty() && lines.iter().all(|line| is_doubtful(line));
                Columns::parse(name).unwrap_or(Columns(Vec::new()))
            }
        };
        file.columns = Arc::new(columns);
        Ok((file, reader.count))
    }

    /// On the part of the file that is not read; known after a [`walk`](FlowFile::walk).
    pub fn note(&self) -> Option<String> {
        self.note.get().cloned()
    }

    /// The columns, as a file of TOML names them, unless they are those of the 2019 simulator.
    pub fn foreign_columns(&self) -> Option<String> {
        self.guessed.map(Into::into)
    }

    /// What is not certain about its columns.
    pub fn guess(&self) -> Option<String> {
        let path = self.path.display();
        if let Some(columns) = self.guessed {
            return Some(format!("{path}: its columns are taken for \"{columns}\""));
        }
        self.doubtful.then(|| {
            format!(
                "{path}: each flow has a few bytes and starts at a whole second, as if its columns were \"{OF_PACKETS}\" or \"{TAGGED}\": \
                 columns of [[traffic]] says so"
            )
        })
    }

    /// The flows in the order of the file, by ascending start. Ends with the first error.
    pub fn walk(&self) -> Box<dyn Iterator<Item = Placed>> {
        match FlowReader::open(self) {
            Ok(reader) => Box::new(reader),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

/// The words of the first lines with flows, of which there are so many.
fn first_lines(path: &Path, flows: u64) -> Vec<Vec<String>> {
    let Ok(file) = input::open(path) else { return Vec::new() };
    let words = |line: String| line.split_whitespace().map(Into::into).collect::<Vec<String>>();
    let lines = BufReader::new(file).lines().map_while(Result::ok).map(words).filter(|words| !words.is_empty());
    let mut lines = lines.skip(1).take(usize::try_from(flows).unwrap_or(LOOKED_AT).min(LOOKED_AT)).peekable();
    let columns = lines.peek().map(Vec::len);
    lines.take_while(|line| Some(line.len()) == columns).collect()
}

/// Whether a flow is so small that its size is another simulator's time.
fn is_doubtful(line: &[String]) -> bool {
    let small =
        |index: usize| line.get(index).and_then(|word| word.parse::<u64>().ok()).is_some_and(|number| number <= 10);
    line.len() == 6 && small(4) && small(5)
}

/// The flows of a file that have not been read yet.
struct FlowReader {
    words: Words,
    columns: Arc<Columns>,
    form: FlowForm,
    /// Flows that the file announces.
    count: u64,
    /// Flows that have been read, or `count + 1` once the end has been.
    read: u64,
    last_start: Nanos,
    note: Arc<OnceLock<String>>,
}

impl FlowReader {
    fn open(file: &FlowFile) -> Result<FlowReader, InputError> {
        let mut words = Words::open(&file.path)?;
        let count = words.expect("the number of flows")?.integer("the number of flows", u64::MAX - 1)?;
        let (columns, form, note) = (file.columns.clone(), file.form.clone(), file.note.clone());
        Ok(FlowReader { words, columns, form, count, read: 0, last_start: Nanos(0), note })
    }

    /// Looks at the text behind the flows.
    fn end(&mut self) -> Result<(), InputError> {
        let note = self.words.finish(format_args!("the {} flows that the first line announces", self.count))?;
        note.into_iter().for_each(|note| _ = self.note.set(note));
        Ok(())
    }

    fn read(&mut self) -> Placed {
        let FlowReader { words, columns, form, count, read: index, last_start, .. } = self;
        let (priority, dport) = USUAL;
        let mut flow = Flow { src: 0, dst: 0, priority, dport, size: 0, start: Nanos(0), options: FlowOptions::NONE };
        let mut place = words.place();
        for column in &columns.0 {
            let name = match column {
                Column::Src => "source",
                Column::Dst => "destination",
                Column::Priority => "priority",
                Column::Dport => "destination port",
                Column::Size => "size",
                Column::Packets => "number of packets",
                Column::Start => "start time",
                Column::Nic => "link of the source",
                Column::Rate => "highest rate",
                Column::Stop => "stop time",
                Column::Skip => "last word",
            };
            let what = Field { field: name, index: *index, count: *count };
            let token: Token<'_> = words.expect(&what)?;
            let whole = |least, most| token.whole(&what, least, most);
            match column {
                Column::Src => flow.src = whole(0, u64::from(u32::MAX))? as u32,
                Column::Dst => flow.dst = whole(0, u64::from(u32::MAX))? as u32,
                Column::Priority => flow.priority = whole(0, 7)? as u8,
                Column::Dport => flow.dport = whole(0, u64::from(u16::MAX))? as u16,
                Column::Size => flow.size = whole(1, MOST_BYTES)?,
                Column::Packets => flow.size = whole(1, MOST_BYTES / form.mtu.0)? * form.mtu.0,
                Column::Start => {
                    flow.start = token.seconds(&what, form.rounding)?;
                    place = token.place;
                }
                Column::Nic => flow.options.nic = Some(whole(0, u64::from(u8::MAX))? as u8),
                Column::Rate => flow.options.rate = token.rate(&what, form.rounding)?,
                Column::Stop => flow.options.stop = token.seconds(&what, form.rounding)?,
                Column::Skip => {}
            }
        }
        if flow.start < *last_start {
            return Err(place.error(format!(
                "flow {index} starts at {} ns, before the previous one ({} ns); expected flows sorted by start time",
                flow.start.0, last_start.0
            )));
        }
        *last_start = flow.start;
        Ok((flow, place))
    }
}

impl Iterator for FlowReader {
    type Item = Placed;

    fn next(&mut self) -> Option<Placed> {
        if self.read > self.count {
            return None;
        }
        self.read += 1;
        if self.read > self.count {
            return self.end().err().map(Err);
        }
        let flow = self.read();
        if flow.is_err() {
            self.read = self.count + 1;
        }
        Some(flow)
    }
}

/// A field of a flow, as errors name it.
struct Field<'a> {
    field: &'a str,
    index: u64,
    count: u64,
}

impl Display for Field<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} of flow {} of {}", self.field, self.index, self.count)
    }
}
