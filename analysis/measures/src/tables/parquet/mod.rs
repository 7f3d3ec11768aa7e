// SPDX-License-Identifier: GPL-2.0-only
//! Tables as Apache Parquet (<https://parquet.apache.org/docs/file-format>), row by row in bounded memory: values as they
//! are, without compression. The licence of the crates that write it, Apache-2.0, does not go with ours.

mod column;
mod runs;
mod thrift;

pub use column::{Kind, Value};

use std::io::{self, Write};

use column::{Chunk, Column};
use thrift::Struct;

/// A file begins and ends with it.
const MAGIC: &[u8] = b"PAR1";
/// Of the format.
const VERSION: i32 = 1;
/// Rows that are kept until they are written: some 12 MB.
const ROWS: u64 = 1 << 17;

/// A table being written.
pub struct Writer<W> {
    out: W,
    columns: Vec<Column>,
    /// Bytes that were written.
    at: u64,
    /// Rows that were not.
    waiting: u64,
    groups: Vec<Group>,
}

/// Rows in the file.
struct Group {
    rows: u64,
    chunks: Vec<Chunk>,
}

impl<W: Write> Writer<W> {
    /// A table with these columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W, columns: &[(&str, Kind)]) -> io::Result<Writer<W>> {
        out.write_all(MAGIC)?;
        let columns = columns.iter().map(|(name, kind)| Column::new(name, *kind)).collect();
        Ok(Writer { out, columns, at: MAGIC.len() as u64, waiting: 0, groups: Vec::new() })
    }

    /// Writes a row: a value for each column.
    ///
    /// # Errors
    /// Those of `out`, and if a value does not suit its column.
    pub fn row<'a>(&mut self, values: impl IntoIterator<Item = Value<'a>>) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value).map_err(io::Error::other)?;
        }
        self.waiting += 1;
        if self.waiting == ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        if self.waiting > 0 {
            self.write_group()?;
        }
        let footer = self.footer();
        self.out.write_all(&footer)?;
        self.out.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let (bytes, chunk) = column.take(self.at);
            self.out.write_all(&bytes)?;
            self.at += chunk.bytes();
            chunks.push(chunk);
        }
        self.groups.push(Group { rows: std::mem::take(&mut self.waiting), chunks });
        Ok(())
    }

    fn footer(&self) -> Vec<u8> {
        let root = Struct::default().text(4, "flows").i32(5, self.columns.len() as i32);
        let schema: Vec<Struct> = [root].into_iter().chain(self.columns.iter().map(Column::schema)).collect();
        let group = |group: &Group| {
            let chunks = self.columns.iter().zip(&group.chunks).map(|(column, chunk)| column.describe(chunk));
            let bytes = group.chunks.iter().map(Chunk::bytes).sum();
            Struct::default().parts(1, chunks.collect::<Vec<_>>().into_iter()).i64(2, bytes).i64(3, group.rows)
        };
        Struct::default()
            .i32(1, VERSION)
            .parts(2, schema.into_iter())
            .i64(3, self.groups.iter().map(|group| group.rows).sum())
            .parts(4, self.groups.iter().map(group))
            .text(6, concat!("hpcc ", env!("CARGO_PKG_VERSION")))
            .finish()
    }
}
