// SPDX-License-Identifier: GPL-2.0-only
//! The files of an output folder while they are written: which row goes into which.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;

use super::capture::Capture;
use super::control_csv::ControlRow;
use super::fct_txt::{self, FctLine};
use super::goodput_csv::GoodputRow;
use super::output_file::OutputFile;
use super::packet_trace::{self, PortRate};
use super::pfc_txt;
use super::ports_csv::PortRow;
use super::queue_csv::QueueRow;
use super::row::Row;
use super::sent_csv::SentRow;
use super::{CsvRow, FctRecord, FileDigest, ResultError, UnfinishedFlow};
use crate::scenario::Monitor;

/// Files that a run writes piece by piece, and those whose rows came all at once.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    fct_txt: OutputFile,
    pfc_txt: OutputFile,
    qlen_txt: OutputFile,
    fct_csv: OutputFile,
    unfinished_csv: OutputFile,
    queue_csv: OutputFile,
    goodput_csv: OutputFile,
    ports_csv: OutputFile,
    /// `packets.tr`, once a trace has begun.
    packets: Option<OutputFile>,
    /// `control.csv`, once flows are watched.
    control: Option<OutputFile>,
    /// `sent.csv`, once ports are watched.
    sent: Option<OutputFile>,
    /// `packets.pcap` or `packets.pcapng`, once a capture has begun.
    capture: Option<Capture>,
    /// `endless.csv`, if there are flows without end.
    endless: Option<OutputFile>,
    whole: Vec<OutputFile>,
}

impl Files {
    /// Creates those that every run has.
    pub(crate) fn create(folder: &Path) -> Result<Files, ResultError> {
        Ok(Files {
            folder: folder.to_owned(),
            fct_txt: OutputFile::create(folder, "fct.txt")?,
            pfc_txt: OutputFile::create(folder, "pfc.txt")?,
            qlen_txt: OutputFile::create(folder, "qlen.txt")?,
            fct_csv: OutputFile::create_csv::<FctRecord>(folder)?,
            unfinished_csv: OutputFile::create_csv::<UnfinishedFlow>(folder)?,
            queue_csv: OutputFile::create_csv::<QueueRow>(folder)?,
            goodput_csv: OutputFile::create_csv::<GoodputRow>(folder)?,
            ports_csv: OutputFile::create_csv::<PortRow>(folder)?,
            packets: None,
            control: None,
            sent: None,
            capture: None,
            endless: None,
            whole: Vec::new(),
        })
    }

    /// Writes a row into its file; nothing where that has not begun.
    pub(crate) fn write(&mut self, row: &Row) -> Result<(), ResultError> {
        match row {
            Row::Finished(flow) => {
                self.fct_txt.write(|out| fct_txt::write(out, &FctLine::from(flow)))?;
                self.fct_csv.write(|out| flow.write(out))
            }
            Row::Unfinished(flow) => self.unfinished_csv.write(|out| flow.write(out)),
            Row::Pfc(event) => self.pfc_txt.write(|out| pfc_txt::write(out, event)),
            Row::Queue(row) => self.queue_csv.write(|out| row.write(out)),
            Row::Histogram(lines) => self.qlen_txt.write(|out| out.write_all(lines.as_bytes())),
            Row::Goodput(row) => self.goodput_csv.write(|out| row.write(out)),
            Row::Control(row) => self.control.as_mut().map_or(Ok(()), |file| file.write(|out| row.write(out))),
            Row::Sent(row) => self.sent.as_mut().map_or(Ok(()), |file| file.write(|out| row.write(out))),
            Row::Packet(record) => {
                self.packets.as_mut().map_or(Ok(()), |file| file.write(|out| packet_trace::write(out, record)))
            }
            Row::Port { .. } => Ok(()),
            Row::Frame(time_ns, node, bytes) => {
                self.capture.as_mut().map_or(Ok(()), |capture| capture.write(Nanos(*time_ns), *node, bytes))
            }
        }
    }

    /// Writes a flow that has no end.
    pub(crate) fn endless(&mut self, flow: &UnfinishedFlow) -> Result<(), ResultError> {
        if self.endless.is_none() {
            self.endless = Some(OutputFile::create_csv_as::<UnfinishedFlow>(&self.folder, ENDLESS)?);
        }
        self.endless.as_mut().map_or(Ok(()), |file| file.write(|out| flow.write(out)))
    }

    /// Writes a row of `ports.csv`.
    pub(crate) fn port(&mut self, row: &PortRow) -> Result<(), ResultError> {
        self.ports_csv.write(|out| row.write(out))
    }

    /// Writes a file whose rows are all there.
    pub(crate) fn whole<T: CsvRow>(&mut self, rows: &[T]) -> Result<(), ResultError> {
        self.whole.push(OutputFile::create_rows(&self.folder, rows)?);
        Ok(())
    }

    /// Begins `control.csv`.
    pub(crate) fn begin_control(&mut self) -> Result<(), ResultError> {
        self.control = Some(OutputFile::create_csv::<ControlRow>(&self.folder)?);
        Ok(())
    }

    /// Begins `sent.csv`.
    pub(crate) fn begin_sent(&mut self) -> Result<(), ResultError> {
        self.sent = Some(OutputFile::create_csv::<SentRow>(&self.folder)?);
        Ok(())
    }

    /// Begins `packets.tr`.
    pub(crate) fn begin_trace(&mut self, ports: &[PortRate], window_bytes: u32) -> Result<(), ResultError> {
        let file = self.packets.insert(OutputFile::create(&self.folder, "packets.tr")?);
        file.write(|out| packet_trace::write_header(out, ports, window_bytes))
    }

    /// Begins the capture that a scenario asks for.
    pub(crate) fn begin_capture(&mut self, monitor: &Monitor, network: &Network) -> Result<(), ResultError> {
        let Monitor { capture_format, capture_nodes, .. } = monitor;
        self.capture = Some(Capture::create(&self.folder, *capture_format, capture_nodes, network)?);
        Ok(())
    }

    /// Closes all, and says what each holds.
    pub(crate) fn finish(self) -> Result<BTreeMap<String, FileDigest>, ResultError> {
        let Files { fct_txt, pfc_txt, qlen_txt, fct_csv, unfinished_csv, queue_csv, goodput_csv, ports_csv, .. } = self;
        let Files { folder: _, packets, control, sent, capture, endless, whole, .. } = self;
        let always = [fct_txt, pfc_txt, qlen_txt, fct_csv, unfinished_csv, queue_csv, goodput_csv, ports_csv];
        let asked_for = [packets, control, sent, endless].into_iter().flatten().chain(whole);
        let files = always.into_iter().chain(asked_for).map(|file| Ok((file.name(), file.finish()?)));
        files.chain(capture.map(Capture::finish)).collect()
    }
}

/// Flows without end have rows as those that did not finish.
pub(crate) const ENDLESS: &str = "endless.csv";
