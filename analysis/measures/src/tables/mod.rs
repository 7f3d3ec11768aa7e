// SPDX-License-Identifier: GPL-2.0-only
//! Tables for other programs, written row by row in bounded memory.

mod parquet;

use std::fs::File;
use std::io::BufWriter;

use anyhow::Result;

pub use parquet::{Kind, Value};

/// What a file with a table can be.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Text with commas.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// A table that is being written.
pub enum Table {
    /// As text with commas.
    Csv(Box<csv::Writer<BufWriter<File>>>),
    /// As Apache Parquet.
    Parquet(parquet::Writer<BufWriter<File>>),
}

impl Table {
    /// A table with these columns, and no rows yet.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(format: Format, out: BufWriter<File>, columns: &[(&str, Kind)]) -> Result<Table> {
        Ok(match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(out);
                writer.write_record(columns.iter().map(|(name, _)| name))?;
                Table::Csv(Box::new(writer))
            }
            Format::Parquet => Table::Parquet(parquet::Writer::new(out, columns)?),
        })
    }

    /// Adds a row: a value for each column, in their order.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn row(&mut self, values: &mut dyn Iterator<Item = Value<'_>>) -> Result<()> {
        match self {
            Table::Csv(writer) => {
                for value in values {
                    match value {
                        Value::Text(text) => writer.write_field(text)?,
                        Value::Whole(number) => writer.write_field(number.to_string())?,
                        Value::Fraction(number) => writer.write_field(format!("{number:.6}"))?,
                        Value::Absent => writer.write_field("")?,
                    }
                }
                Ok(writer.write_record(None::<&[u8]>)?)
            }
            Table::Parquet(writer) => Ok(writer.row(values)?),
        }
    }

    /// Writes what is still in memory, and what ends the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<()> {
        match self {
            Table::Csv(mut writer) => writer.flush()?,
            Table::Parquet(writer) => drop(writer.finish()?),
        }
        Ok(())
    }
}
