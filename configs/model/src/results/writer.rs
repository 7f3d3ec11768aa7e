// SPDX-License-Identifier: GPL-2.0-only
//! Writes a run's output folder.

use std::collections::BTreeMap;
use std::path::Path;

use crate::scenario::Scenario;
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};

use super::control_csv::ControlRow;
use super::files::Files;
use super::folder::OutputFolder;
use super::goodput_csv::GoodputRow;
use super::output_file::OutputFile;
use super::packet_trace::{PortRate, TraceRecord};
use super::pause_meter::PauseMeter;
use super::pfc_txt::PfcEvent;
use super::ports_csv;
use super::queue_csv::QueueRow;
use super::row::{Row, RowLog, RowPlace};
use super::sent_csv::SentRow;
use super::{CsvRow, FctRecord, QueueMonitor, QueueStats, ResultError, Summary, UnfinishedFlow, summary};

/// The output folder of a running simulation.
///
/// Files grow in `NAME.partial`; [`finish`](Self::finish) gives the folder its name, so that a folder `NAME` is
/// always complete. A simulator cannot do much about a full disk in the middle of an event, so writing methods
/// return nothing: the first error is kept, [`failed`](Self::failed) tells of it, and `finish` returns it.
#[derive(Debug)]
pub struct ResultWriter {
    /// `None` in a process whose rows another one writes.
    output: Option<Output>,
    /// Rows of a run that several processes share, until they are in order.
    log: Option<RowLog>,
    queues: QueueMonitor,
    /// The last row of each queue in `queue.csv`.
    traced: Vec<u64>,
    pauses: PauseMeter,
    /// Bytes that ports sent, and frames that came to them with errors, by node and port.
    counts: BTreeMap<(u32, u32), (Option<u64>, Option<u64>)>,
    finished: u64,
    error: Option<ResultError>,
}

/// What the writer has seen pass, for the [`Summary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Flows that completed.
    pub flows_finished: u64,
    /// Statistics of queue lengths, in bytes.
    pub queue: QueueStats,
    /// PFC pause frames.
    pub pfc_pauses: u64,
    /// Time that ports were paused, summed over ports.
    pub pfc_paused: Nanos,
}

/// The folder and its files.
#[derive(Debug)]
struct Output {
    folder: OutputFolder,
    files: Files,
}

impl ResultWriter {
    /// Opens the folder `out`, which may be absent, empty, or hold an earlier result.
    ///
    /// # Errors
    /// If `out` holds other files, or a file cannot be created.
    pub fn create(out: &Path) -> Result<ResultWriter, ResultError> {
        let folder = OutputFolder::create(out)?;
        let files = match Files::create(folder.path()) {
            Ok(files) => files,
            Err(error) => {
                folder.give_up();
                return Err(error);
            }
        };
        Ok(ResultWriter::with(Some(Output { folder, files })))
    }

    /// A writer without a folder: another process gets its rows, by [`take_rows`](Self::take_rows).
    pub fn without_folder() -> ResultWriter {
        ResultWriter::with(None)
    }

    fn with(output: Option<Output>) -> ResultWriter {
        ResultWriter {
            log: output.is_none().then(RowLog::default),
            output,
            queues: QueueMonitor::new(),
            traced: Vec::new(),
            pauses: PauseMeter::default(),
            counts: BTreeMap::new(),
            finished: 0,
            error: None,
        }
    }

    /// Other processes share the run: rows wait until [`write_rows`](Self::write_rows).
    pub fn share(&mut self) {
        self.log.get_or_insert_default();
    }

    /// Whether other processes share the run.
    pub fn is_shared(&self) -> bool {
        self.log.is_some()
    }

    /// Takes the rows that wait, for another process.
    pub fn take_rows(&mut self) -> Vec<u8> {
        self.log.as_mut().map(RowLog::take_bytes).unwrap_or_default()
    }

    /// Adds rows of another process to those that wait. If they are not what [`take_rows`](Self::take_rows) gave,
    /// [`finish`](Self::finish) says so.
    pub fn add_rows(&mut self, rows: &[u8]) {
        if !self.log.as_mut().is_some_and(|log| log.add_bytes(rows)) {
            let folder = self.output.as_ref().map_or(Path::new(""), |output| output.folder.path());
            let error = ResultError::folder(folder, "the rows of another process of this run cannot be read");
            self.keep(Err(error));
        }
    }

    /// Writes the rows that wait, in the order that one process would have written them in. No process may still add rows
    /// of the time up to now.
    pub fn write_rows(&mut self) {
        let rows = self.log.as_mut().map(RowLog::take_sorted).unwrap_or_default();
        for row in rows {
            self.write(row);
        }
    }

    /// A row belongs to a file now, or waits.
    fn put(&mut self, place: RowPlace, row: Row) {
        match &mut self.log {
            Some(log) => log.push(place, row),
            None => self.write(row),
        }
    }

    /// Writes a row into its file.
    fn write(&mut self, row: Row) {
        if self.output.is_none() {
            return;
        }
        match &row {
            Row::Finished(_) => self.finished += 1,
            Row::Pfc(event) => self.pauses.record(event),
            &Row::Port { node, port, sent, errors } => _ = self.counts.insert((node, port), (Some(sent), Some(errors))),
            Row::Unfinished(_)
            | Row::Queue(_)
            | Row::Histogram(_)
            | Row::Goodput(_)
            | Row::Control(_)
            | Row::Sent(_)
            | Row::Packet(_)
            | Row::Frame(..) => {}
        }
        self.with_files(|files| files.write(&row));
    }

    /// What is written by the process that has the folder.
    fn with_files(&mut self, write: impl FnOnce(&mut Files) -> Result<(), ResultError>) {
        let written = self.output.as_mut().map_or(Ok(()), |output| write(&mut output.files));
        self.keep(written);
    }

    /// A flow has completed.
    pub fn flow_finished(&mut self, flow: &FctRecord) {
        let place = RowPlace::at_node(flow.start_ns.saturating_add(flow.fct_ns), flow.src);
        self.put(place, Row::Finished(*flow));
    }

    /// A flow has not completed by the end; `place` says where it stands among those.
    pub fn flow_unfinished(&mut self, place: u64, flow: &UnfinishedFlow) {
        self.put(RowPlace::at_end(place), Row::Unfinished(*flow));
    }

    /// A flow that has no end was under way at the end of the run.
    pub fn flow_endless(&mut self, flow: &UnfinishedFlow) {
        self.with_files(|files| files.endless(flow));
    }

    /// The last flow has completed: queue statistics end here.
    pub fn flows_completed(&mut self) {
        self.queues.flows_completed();
    }

    /// A device has received a PFC frame.
    pub fn pfc(&mut self, now: Nanos, node: u32, is_switch: bool, port: u32, pause: bool) {
        let event = PfcEvent { time_ns: now.0, node, is_switch, port, pause };
        self.put(RowPlace::at_node(now.0, node), Row::Pfc(event));
    }

    /// Adds a port to watch; the index is for [`queue_sample`](Self::queue_sample) and
    /// [`queue_point`](Self::queue_point).
    pub fn add_queue(&mut self, node: u32, port: u32) -> usize {
        self.traced.push(0);
        self.queues.add_port(node, port)
    }

    /// Begins a sample of all queues, for histogram and statistics: each is as long as at the last one, unless
    /// [`queue_sample`](Self::queue_sample) follows for it.
    pub fn begin_queue_samples(&mut self) {
        self.queues.begin_sample();
    }

    /// What a sample finds at a port that may have changed.
    #[inline]
    pub fn queue_sample(&mut self, index: usize, bytes: u64) {
        self.queues.sample_index(index, bytes);
    }

    /// So many further samples equal the last one of every port.
    pub fn repeat_queue_samples(&mut self, count: u64) {
        self.queues.repeat(count);
    }

    /// A point of the time series of a port's queue; a row of `queue.csv` where it differs from the last.
    pub fn queue_point(&mut self, now: Nanos, index: usize, bytes: u64) {
        let Some(last) = self.traced.get_mut(index).filter(|last| **last != bytes) else { return };
        *last = bytes;
        let Some(port) = self.queues.port(index) else { return };
        let row = QueueRow { time_ns: now.0, node: port.node, port: port.port, qlen_bytes: bytes };
        self.put(RowPlace::of_sample(now.0, row.node), Row::Queue(row));
    }

    /// Writes the histograms so far to `qlen.txt`; the 2019 simulator does so at multiples of 100 ms.
    pub fn print_queues(&mut self, now: Nanos) {
        // Its first line concerns no node: only one process says it.
        if self.output.is_some() {
            self.put(RowPlace::of_sample(now.0, 0), Row::Histogram(QueueMonitor::title(now.0)));
        }
        for (node, lines) in self.queues.print() {
            self.put(RowPlace::at_node(now.0, node), Row::Histogram(lines));
        }
    }

    /// What has arrived of a flow's payload since the last call for this flow, and the rate that this was.
    pub fn goodput(&mut self, place: RowPlace, now: Nanos, flow: u32, rate: BitRate, bytes: u64) {
        let row = GoodputRow { time_ns: now.0, flow, goodput_bps: rate.0, bytes };
        self.put(place, Row::Goodput(row));
    }

    /// Begins the time series of what congestion control makes of flows.
    pub fn begin_control(&mut self) {
        self.with_files(Files::begin_control);
    }

    /// The state of a flow.
    pub fn control(&mut self, row: &ControlRow) {
        self.put(RowPlace::of_sample(row.time_ns, row.flow), Row::Control(*row));
    }

    /// Begins the packet trace.
    pub fn begin_trace(&mut self, ports: &[PortRate], window_bytes: u32) {
        self.with_files(|files| files.begin_trace(ports, window_bytes));
    }

    /// Something happened to a packet at a traced node.
    pub fn packet(&mut self, record: &TraceRecord) {
        self.put(RowPlace::at_node(record.time_ns, record.node.into()), Row::Packet(*record));
    }

    /// Begins the capture that a scenario asks for.
    pub fn begin_capture(&mut self, scenario: &Scenario) {
        self.with_files(|files| files.begin_capture(&scenario.monitor, &scenario.network));
    }

    /// A frame of a captured node, as bytes.
    pub fn capture(&mut self, now: Nanos, node: u32, frame: &[u8]) {
        self.put(RowPlace::at_node(now.0, node), Row::Frame(now.0, node, frame.to_vec()));
    }

    /// Whether something could not be written; the simulation may as well stop.
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// What has passed until `now`.
    pub fn measured(&mut self, now: Nanos) -> Measured {
        Measured {
            flows_finished: self.finished,
            queue: self.queues.stats(),
            pfc_pauses: self.pauses.pauses(),
            pfc_paused: Nanos(self.pauses.paused_ns(now.0)),
        }
    }

    /// Begins the time series of what ports send.
    pub fn begin_sent(&mut self) {
        self.with_files(Files::begin_sent);
    }

    /// What a port, counted from 1, has sent since the last call for it.
    pub fn sent(&mut self, row: &SentRow) {
        self.put(RowPlace::of_sample(row.time_ns, row.node), Row::Sent(*row));
    }

    /// How many bytes a port, counted from 1, has sent, and how many frames came to it with errors.
    pub fn port(&mut self, node: u32, port: u32, sent: u64, errors: u64) {
        self.put(RowPlace::at_end(0), Row::Port { node, port, sent, errors });
    }

    /// How long each port of the network was paused by `now`, and what it sent, with what is known of its link.
    pub fn ports(&mut self, network: &Network, now: Nanos) {
        for mut row in ports_csv::rows_of(network) {
            row.paused_ns = self.pauses.port_paused_ns(row.node, row.port, now.0);
            (row.sent_bytes, row.fcs_errors) = self.counts.get(&(row.node, row.port)).copied().unwrap_or_default();
            self.with_files(|files| files.port(&row));
        }
    }

    /// All rows of a file that is written at once, when the run is over.
    pub fn whole_file(&mut self, rows: &[impl CsvRow]) {
        self.with_files(|files| files.whole(rows));
    }

    /// Closes all files, writes the summary with their digests, and gives the folder its name.
    ///
    /// # Errors
    /// The first one of the whole run. The folder then keeps the name `NAME.partial`.
    pub fn finish(self, summary: &Summary) -> Result<(), ResultError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some(output) = self.output else { return Ok(()) };
        let files = output.files.finish()?;
        let summary = Summary { format: summary::FORMAT, files, ..summary.clone() };
        let mut file = OutputFile::create(output.folder.path(), "summary.json")?;
        file.write(|out| summary.write(out))?;
        file.finish()?;
        output.folder.complete()
    }

    /// Keeps the first error.
    fn keep(&mut self, written: Result<(), ResultError>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        FolderLock, Remains, Versions, fct_csv, fct_txt, goodput_csv, pfc_txt, queue_csv, remains, unfinished_csv,
    };
    use super::*;
    use std::fs;

    fn summary() -> Summary {
        Summary {
            format: summary::FORMAT,
            versions: Versions { hpcc: "0.1.0".into(), ns3: "3.45".into() },
            ..Summary::default()
        }
    }

    fn flow(number: u32) -> FctRecord {
        FctRecord { flow: number, dst: 1, size: 1000, fct_ns: 20, ideal_ns: 10, ..FctRecord::default() }
    }

    #[test]
    fn everything_written_can_be_read_again() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("deep/run");
        let mut writer = ResultWriter::create(&out).expect("create");
        assert!(!out.exists());
        let queue = writer.add_queue(9, 1);
        writer.flow_finished(&flow(0));
        writer.flow_unfinished(0, &UnfinishedFlow { flow: 1, ..UnfinishedFlow::default() });
        writer.pfc(Nanos(5), 0, false, 1, true);
        for bytes in [0, 2_096] {
            writer.begin_queue_samples();
            writer.queue_sample(queue, bytes);
        }
        writer.queue_point(Nanos(200), queue, 2_096);
        writer.queue_point(Nanos(300), queue, 2_096);
        writer.print_queues(Nanos(200));
        writer.goodput(RowPlace::of_sample(300, 0), Nanos(300), 0, BitRate::gbps(25), 1_000);
        let measured = writer.measured(Nanos(15));
        writer.finish(&summary()).expect("finish");

        assert_eq!((measured.flows_finished, measured.pfc_pauses, measured.pfc_paused), (1, 1, Nanos(10)));
        assert_eq!(measured.queue.max_bytes, 2_096);
        assert_eq!(fct_txt::read(&out.join("fct.txt")).expect("fct.txt").len(), 1);
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv"), [flow(0)]);
        assert_eq!(unfinished_csv::read(&out.join("unfinished.csv")).expect("unfinished.csv")[0].flow, 1);
        assert_eq!(pfc_txt::read(&out.join("pfc.txt")).expect("pfc.txt").len(), 1);
        assert_eq!(fs::read_to_string(out.join("qlen.txt")).expect("qlen.txt"), "time: 200\n9 1 1 0 1\n");
        assert_eq!(queue_csv::rows(&out.join("queue.csv")).expect("queue.csv").count(), 1);
        assert_eq!(goodput_csv::rows(&out.join("goodput.csv")).expect("goodput.csv").count(), 1);
        let read = Summary::read(&out.join("summary.json")).expect("summary.json");
        assert_eq!((read.files["fct.csv"].rows, read.files["queue.csv"].rows), (Some(1), Some(1)));
        for (name, digest) in &read.files {
            digest.check(&out.join(name)).expect(name);
        }
        assert_eq!(read, Summary { files: read.files.clone(), ..summary() });
        assert!(!root.path().join("deep/run.partial").exists());
    }

    #[test]
    fn an_earlier_result_is_replaced_and_foreign_files_stay() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("run");
        ResultWriter::create(&out).expect("create").finish(&summary()).expect("finish");
        fs::write(out.join("queue.svg"), "old").expect("plot");
        fs::write(out.join("notes.md"), "mine").expect("notes");
        let mut writer = ResultWriter::create(&out).expect("create again");
        writer.flow_finished(&flow(0));
        writer.finish(&summary()).expect("finish again");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 1);
        assert!(!out.join("queue.svg").exists() && out.join("notes.md").exists());
        // What a crash leaves is swept away.
        let mut crashed = ResultWriter::create(&out).expect("create");
        crashed.flow_finished(&flow(1));
        drop(crashed);
        ResultWriter::create(&out).expect("create").finish(&summary()).expect("finish");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 0);
        assert!(!root.path().join("run.partial").exists());
    }

    #[test]
    fn a_link_to_a_folder_stays_one() {
        let root = tempfile::tempdir().expect("folder");
        let (real, link) = (root.path().join("disk/real"), root.path().join("link"));
        fs::create_dir_all(&real).expect("folder");
        std::os::unix::fs::symlink("disk/real", &link).expect("link");
        for path in [link.clone(), link.join("")] {
            let mut writer = ResultWriter::create(&path).expect("create");
            assert!(root.path().join("disk/real.partial").is_dir() && !root.path().join("link.partial").exists());
            writer.flow_finished(&flow(0));
            writer.finish(&summary()).expect("finish");
            assert!(link.is_symlink() && !root.path().join("disk/real.partial").exists());
            assert_eq!(fct_csv::read(&real.join("fct.csv")).expect("fct.csv").len(), 1);
        }
        fs::remove_dir_all(&real).expect("removed");
        let message = ResultWriter::create(&link).expect_err("accepted").to_string();
        assert!(message.contains("link: a symbolic link to no folder"), "{message}");
    }

    #[test]
    fn what_a_run_leaves_is_told_apart() {
        let root = tempfile::tempdir().expect("folder");
        let (out, partial) = (root.path().join("run"), root.path().join("run.partial"));
        assert_eq!(remains(&out), Remains::Nothing);
        let writer = ResultWriter::create(&out).expect("create");
        assert_eq!(remains(&out), Remains::Part(partial.clone()));
        // Whoever takes the name meanwhile keeps it.
        fs::write(&out, "").expect("file");
        writer.finish(&summary()).expect_err("a file was replaced");
        assert_eq!(remains(&out), Remains::All(partial));
    }

    #[test]
    fn two_writers_of_one_folder_do_not_mix() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("run");
        let mut first = ResultWriter::create(&out).expect("create");
        let message = ResultWriter::create(&out).expect_err("accepted").to_string();
        assert!(message.contains("another run is writing its results there"), "{message}");
        first.flow_finished(&flow(0));
        first.finish(&summary()).expect("finish");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 1);
        ResultWriter::create(&out).expect("free again");
    }

    #[test]
    fn who_reads_results_keeps_them_until_the_end() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("run");
        ResultWriter::create(&out).expect("create").finish(&summary()).expect("finish");
        let reader = FolderLock::read(&out).expect("system").expect("there");
        let mut second = ResultWriter::create(&out).expect("create");
        second.flow_finished(&flow(0));
        let writer = std::thread::spawn(move || second.finish(&summary()));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 0, "replaced under a reader");
        drop(reader);
        writer.join().expect("thread").expect("finish");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 1);
    }

    #[test]
    fn rows_of_another_process_that_are_damaged_leave_no_results() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("run");
        let mut other = ResultWriter::without_folder();
        for number in 0..3 {
            other.flow_finished(&flow(number));
        }
        let rows = other.take_rows();
        let finish_with = |rows: &[u8]| {
            let mut writer = ResultWriter::create(&out).expect("create");
            writer.share();
            writer.add_rows(rows);
            writer.write_rows();
            writer.finish(&summary()).map_err(|error| error.to_string())
        };
        for damaged in [&rows[..rows.len() - 1], &rows[1..], b"no rows"] {
            let message = finish_with(damaged).expect_err("accepted");
            assert!(message.contains("the rows of another process of this run cannot be read"), "{message}");
            assert!(!out.exists(), "half of the results look like all of them");
        }
        finish_with(&rows).expect("undamaged rows");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv"), [flow(0), flow(1), flow(2)]);
    }

    #[test]
    fn other_peoples_folders_are_refused() {
        let root = tempfile::tempdir().expect("folder");
        fs::write(root.path().join("thesis.tex"), "").expect("file");
        let message = ResultWriter::create(root.path()).expect_err("accepted").to_string();
        assert!(message.contains("not results of hpcc"), "{message}");
        assert!(ResultWriter::create(&root.path().join("thesis.tex")).is_err());
        assert!(ResultWriter::create(Path::new("/")).is_err());
    }
}
