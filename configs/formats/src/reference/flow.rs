// SPDX-License-Identifier: GPL-2.0-only
//! The flow file, read from start to end without being held in memory.

use super::tokens::Token;
use super::words::Words;
use crate::error::InputError;
use crate::flow::Flow;
use crate::flow::Placed;
use hpcc_core::units::{Nanos, Rounding};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A flow file.
#[derive(Clone, Debug)]
pub(crate) struct FlowFile {
    path: PathBuf,
    rounding: Rounding,
    /// On the part of the file that is not read, once a walk has come to it.
    note: Arc<OnceLock<String>>,
}

impl FlowFile {
    /// The file, and how many flows its first word announces.
    pub fn new(path: &Path, rounding: Rounding) -> Result<(FlowFile, u64), InputError> {
        let file = FlowFile { path: path.into(), rounding, note: Arc::default() };
        let reader = FlowReader::open(&file)?;
        Ok((file, reader.count))
    }

    /// On the part of the file that is not read; known after a [`walk`](FlowFile::walk).
    pub fn note(&self) -> Option<String> {
        self.note.get().cloned()
    }

    /// The flows in the order of the file, by ascending start. Ends with the first error.
    pub fn walk(&self) -> Box<dyn Iterator<Item = Placed>> {
        match FlowReader::open(self) {
            Ok(reader) => Box::new(reader),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

/// The flows of a file that have not been read yet.
struct FlowReader {
    words: Words,
    rounding: Rounding,
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
        let (rounding, note) = (file.rounding, file.note.clone());
        Ok(FlowReader { words, rounding, count, read: 0, last_start: Nanos(0), note })
    }

    /// Looks at the text behind the flows.
    fn end(&mut self) -> Result<(), InputError> {
        let note = self.words.finish(format_args!("the {} flows that the first line announces", self.count))?;
        note.into_iter().for_each(|note| _ = self.note.set(note));
        Ok(())
    }

    fn read(&mut self) -> Placed {
        let FlowReader { words, rounding, count, read: index, last_start, .. } = self;
        let mut next = |field: &str, max: u64| {
            let what = Field { field, index: *index, count: *count };
            words.expect(&what)?.integer(&what, max)
        };
        let src = next("source", u64::from(u32::MAX))? as u32;
        let dst = next("destination", u64::from(u32::MAX))? as u32;
        let priority = next("priority", 7)? as u8;
        let dport = next("destination port", u64::from(u16::MAX))? as u16;
        let size = next("size", u64::from(u32::MAX))?;
        let what = Field { field: "start time", index: *index, count: *count };
        let token: Token<'_> = words.expect(&what)?;
        let start = token.seconds(&what, *rounding)?;
        let place = token.place;
        if start < *last_start {
            return Err(place.error(format!(
                "flow {index} starts at {} ns, before the previous one ({} ns); expected flows sorted by start time",
                start.0, last_start.0
            )));
        }
        *last_start = start;
        Ok((Flow { src, dst, priority, dport, size, start }, place))
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
