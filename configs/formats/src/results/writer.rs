// SPDX-License-Identifier: GPL-2.0-only
//! Writes a run's output folder.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use crate::scenario::{Monitor, Scenario};
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};

use super::capture::Capture;
use super::collectives_csv::CollectiveRow;
use super::control_csv::ControlRow;
use super::fct_txt::{self, FctLine};
use super::folder::OutputFolder;
use super::goodput_csv::GoodputRow;
use super::jobs_csv::JobRow;
use super::output_file::OutputFile;
use super::packet_trace::{self, PortRate, TraceRecord};
use super::pause_meter::PauseMeter;
use super::pfc_txt::{self, PfcEvent};
use super::ports_csv::{self, PortRow};
use super::queue_csv::QueueRow;
use super::row::{Row, RowLog, RowPlace};
use super::timeline_csv::TimelineRow;
use super::{CsvRow, FctRecord, FileDigest, QueueMonitor, QueueStats, ResultError, Summary, UnfinishedFlow, summary};

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
    /// `packets.tr`, once a trace has begun.
    packets: Option<OutputFile>,
    /// `control.csv`, once flows are watched.
    control: Option<OutputFile>,
    /// `packets.pcap` or `packets.pcapng`, once a capture has begun.
    capture: Option<Capture>,
    /// `endless.csv`, if there are flows without end.
    endless: Option<OutputFile>,
    /// `jobs.csv` and `collectives.csv`, if there are jobs, and `timeline.csv`.
    of_jobs: Vec<OutputFile>,
    /// `pauses.csv` and `storms.csv`, if they were asked for.
    of_pauses: Vec<OutputFile>,
}

#[derive(Debug)]
struct Files {
    fct_txt: OutputFile,
    pfc_txt: OutputFile,
    qlen_txt: OutputFile,
    fct_csv: OutputFile,
    unfinished_csv: OutputFile,
    queue_csv: OutputFile,
    goodput_csv: OutputFile,
    ports_csv: OutputFile,
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
        Ok(ResultWriter::with(Some(Output {
            folder,
            files,
            packets: None,
            control: None,
            capture: None,
            endless: None,
            of_jobs: Vec::new(),
            of_pauses: Vec::new(),
        })))
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
        let Some(Output { files, packets, control, capture, .. }) = &mut self.output else { return };
        let written = match row {
            Row::Finished(flow) => {
                self.finished += 1;
                let text = files.fct_txt.write(|out| fct_txt::write(out, &FctLine::from(&flow)));
                text.and(files.fct_csv.write(|out| flow.write(out)))
            }
            Row::Unfinished(flow) => files.unfinished_csv.write(|out| flow.write(out)),
            Row::Pfc(event) => {
                self.pauses.record(&event);
                files.pfc_txt.write(|out| pfc_txt::write(out, &event))
            }
            Row::Port { node, port, sent, errors } => {
                self.counts.insert((node, port), (sent, Some(errors)));
                Ok(())
            }
            Row::Queue(row) => files.queue_csv.write(|out| row.write(out)),
            Row::Histogram(lines) => files.qlen_txt.write(|out| out.write_all(lines.as_bytes())),
            Row::Goodput(row) => files.goodput_csv.write(|out| row.write(out)),
            Row::Control(row) => control.as_mut().map_or(Ok(()), |file| file.write(|out| row.write(out))),
            Row::Packet(record) => {
                packets.as_mut().map_or(Ok(()), |file| file.write(|out| packet_trace::write(out, &record)))
            }
            Row::Frame(time_ns, node, bytes) => {
                capture.as_mut().map_or(Ok(()), |capture| capture.write(Nanos(time_ns), node, &bytes))
            }
        };
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
        let Some(output) = &mut self.output else { return };
        let mut file = match output
            .endless
            .take()
            .map_or_else(|| OutputFile::create_csv::<UnfinishedFlow>(output.folder.path(), "endless.csv"), Ok)
        {
            Ok(file) => file,
            Err(error) => return self.keep(Err(error)),
        };
        let written = file.write(|out| flow.write(out));
        output.endless = Some(file);
        self.keep(written);
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

    /// Writes the histograms so far to `qlen.txt`; the reference does so at multiples of 100 ms.
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
        let Some(output) = &mut self.output else { return };
        match OutputFile::create_csv::<ControlRow>(output.folder.path(), "control.csv") {
            Ok(file) => output.control = Some(file),
            Err(error) => self.keep(Err(error)),
        }
    }

    /// The state of a flow.
    pub fn control(&mut self, row: &ControlRow) {
        self.put(RowPlace::of_sample(row.time_ns, row.flow), Row::Control(*row));
    }

    /// Begins the packet trace.
    pub fn begin_trace(&mut self, ports: &[PortRate], window_bytes: u32) {
        let Some(output) = &mut self.output else { return };
        match OutputFile::create(output.folder.path(), "packets.tr") {
            Ok(mut file) => {
                let written = file.write(|out| packet_trace::write_header(out, ports, window_bytes));
                output.packets = Some(file);
                self.keep(written);
            }
            Err(error) => self.keep(Err(error)),
        }
    }

    /// Something happened to a packet at a traced node.
    pub fn packet(&mut self, record: &TraceRecord) {
        self.put(RowPlace::at_node(record.time_ns, record.node.into()), Row::Packet(*record));
    }

    /// Begins the capture that a scenario asks for.
    pub fn begin_capture(&mut self, scenario: &Scenario) {
        let Some(output) = &mut self.output else { return };
        let Monitor { capture_format, capture_nodes, .. } = &scenario.monitor;
        match Capture::create(output.folder.path(), *capture_format, capture_nodes, &scenario.network) {
            Ok(capture) => output.capture = Some(capture),
            Err(error) => self.keep(Err(error)),
        }
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

    /// How many bytes a port, counted from 1, has sent if it is a switch's, and how many frames came to it with errors.
    pub fn port(&mut self, node: u32, port: u32, sent: Option<u64>, errors: u64) {
        self.put(RowPlace::at_end(0), Row::Port { node, port, sent, errors });
    }

    /// How long each port of the network was paused by `now`, and what it sent, with what is known of its link.
    pub fn ports(&mut self, network: &Network, now: Nanos) {
        for mut row in ports_csv::rows_of(network) {
            row.paused_ns = self.pauses.port_paused_ns(row.node, row.port, now.0);
            (row.sent_bytes, row.fcs_errors) = self.counts.get(&(row.node, row.port)).copied().unwrap_or_default();
            let Some(output) = &mut self.output else { return };
            let written = output.files.ports_csv.write(|out| row.write(out));
            self.keep(written);
        }
    }

    /// How the jobs of a run went; `timeline`: and what their ranks did, if it was recorded.
    pub fn jobs(&mut self, jobs: &[JobRow], collectives: &[CollectiveRow], timeline: Option<&[TimelineRow]>) {
        let Some(output) = &mut self.output else { return };
        let folder = output.folder.path();
        let mut files = vec![
            OutputFile::create_rows(folder, "jobs.csv", jobs),
            OutputFile::create_rows(folder, "collectives.csv", collectives),
        ];
        files.extend(timeline.map(|rows| OutputFile::create_rows(folder, "timeline.csv", rows)));
        match files.into_iter().collect() {
            Ok(files) => output.of_jobs = files,
            Err(error) => self.keep(Err(error)),
        }
    }

    /// All pauses, or all storms, in the file of this name.
    pub fn pauses(&mut self, name: &str, rows: &[impl CsvRow]) {
        let Some(output) = &mut self.output else { return };
        match OutputFile::create_rows(output.folder.path(), name, rows) {
            Ok(file) => output.of_pauses.push(file),
            Err(error) => self.keep(Err(error)),
        }
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
        let mut files = output.files.finish()?;
        let files_of_all = [output.packets, output.control, output.endless].into_iter().flatten();
        for file in files_of_all.chain(output.of_jobs).chain(output.of_pauses) {
            files.insert(file.name(), file.finish()?);
        }
        if let Some(capture) = output.capture {
            files.extend([capture.finish()?]);
        }
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

impl Files {
    fn create(folder: &Path) -> Result<Files, ResultError> {
        Ok(Files {
            fct_txt: OutputFile::create(folder, "fct.txt")?,
            pfc_txt: OutputFile::create(folder, "pfc.txt")?,
            qlen_txt: OutputFile::create(folder, "qlen.txt")?,
            fct_csv: OutputFile::create_csv::<FctRecord>(folder, "fct.csv")?,
            unfinished_csv: OutputFile::create_csv::<UnfinishedFlow>(folder, "unfinished.csv")?,
            queue_csv: OutputFile::create_csv::<QueueRow>(folder, "queue.csv")?,
            goodput_csv: OutputFile::create_csv::<GoodputRow>(folder, "goodput.csv")?,
            ports_csv: OutputFile::create_csv::<PortRow>(folder, "ports.csv")?,
        })
    }

    fn finish(self) -> Result<BTreeMap<String, FileDigest>, ResultError> {
        let Files { fct_txt, pfc_txt, qlen_txt, fct_csv, unfinished_csv, queue_csv, goodput_csv, ports_csv } = self;
        let files = [fct_txt, pfc_txt, qlen_txt, fct_csv, unfinished_csv, queue_csv, goodput_csv, ports_csv];
        files.into_iter().map(|file| Ok((file.name(), file.finish()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FolderLock, Remains, Versions, fct_csv, goodput_csv, queue_csv, remains, unfinished_csv};
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
