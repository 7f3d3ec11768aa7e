// SPDX-License-Identifier: GPL-2.0-only
//! Writes a run's output folder.

use std::collections::BTreeMap;
use std::path::Path;

use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};

use super::capture::Capture;
use super::control_csv::ControlRow;
use super::fct_txt::{self, FctLine};
use super::folder::OutputFolder;
use super::goodput_csv::GoodputRow;
use super::output_file::OutputFile;
use super::packet_trace::{self, PortRate, TraceRecord};
use super::pause_meter::PauseMeter;
use super::pfc_txt::{self, PfcEvent};
use super::ports_csv::{self, PortRow};
use super::queue_csv::QueueRow;
use super::{CsvRow, FctRecord, FileDigest, QueueMonitor, QueueStats, ResultError, Summary, UnfinishedFlow, summary};

/// The output folder of a running simulation.
///
/// Files grow in `NAME.partial`; [`finish`](Self::finish) gives the folder its name, so that a folder `NAME` is
/// always complete. A simulator cannot do much about a full disk in the middle of an event, so writing methods
/// return nothing: the first error is kept, [`failed`](Self::failed) tells of it, and `finish` returns it.
#[derive(Debug)]
pub struct ResultWriter {
    folder: OutputFolder,
    files: Files,
    queues: QueueMonitor,
    /// The last row of each queue in `queue.csv`.
    traced: Vec<u64>,
    /// `packets.tr`, once a trace has begun.
    packets: Option<OutputFile>,
    /// `control.csv`, once flows are watched.
    control: Option<OutputFile>,
    /// `packets.pcap`, once a capture has begun.
    capture: Option<Capture>,
    pauses: PauseMeter,
    /// What ports of switches sent, by node and port, in bytes.
    sent: BTreeMap<(u32, u32), u64>,
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
        let files = Files::create(folder.path())?;
        Ok(ResultWriter {
            folder,
            files,
            queues: QueueMonitor::new(),
            traced: Vec::new(),
            packets: None,
            control: None,
            capture: None,
            pauses: PauseMeter::default(),
            sent: BTreeMap::new(),
            finished: 0,
            error: None,
        })
    }

    /// A flow has completed.
    pub fn flow_finished(&mut self, flow: &FctRecord) {
        self.finished += 1;
        let text = self.files.fct_txt.write(|out| fct_txt::write(out, &FctLine::from(flow)));
        let csv = self.files.fct_csv.write(|out| flow.write(out));
        self.keep(text.and(csv));
    }

    /// A flow has not completed by the end.
    pub fn flow_unfinished(&mut self, flow: &UnfinishedFlow) {
        let written = self.files.unfinished_csv.write(|out| flow.write(out));
        self.keep(written);
    }

    /// The last flow has completed: queue statistics end here.
    pub fn flows_completed(&mut self) {
        self.queues.flows_completed();
    }

    /// A device has received a PFC frame.
    pub fn pfc(&mut self, now: Nanos, node: u32, is_switch: bool, port: u32, pause: bool) {
        let event = PfcEvent { time_ns: now.0, node, is_switch, port, pause };
        self.pauses.record(&event);
        let written = self.files.pfc_txt.write(|out| pfc_txt::write(out, &event));
        self.keep(written);
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
        let written = self.files.queue_csv.write(|out| row.write(out));
        self.keep(written);
    }

    /// Writes the histograms so far to `qlen.txt`; the reference does so at multiples of 100 ms.
    pub fn print_queues(&mut self, now: Nanos) {
        let queues = &mut self.queues;
        let written = self.files.qlen_txt.write(|out| queues.print(now.0, out));
        self.keep(written);
    }

    /// What was acknowledged of a flow's payload since the last call for this flow, and the rate that this was.
    pub fn goodput(&mut self, now: Nanos, flow: u32, rate: BitRate, bytes: u64) {
        let row = GoodputRow { time_ns: now.0, flow, goodput_bps: rate.0, bytes };
        let written = self.files.goodput_csv.write(|out| row.write(out));
        self.keep(written);
    }

    /// Begins the time series of what congestion control makes of flows.
    pub fn begin_control(&mut self) {
        match OutputFile::create_csv::<ControlRow>(self.folder.path(), "control.csv") {
            Ok(file) => self.control = Some(file),
            Err(error) => self.keep(Err(error)),
        }
    }

    /// The state of a flow.
    pub fn control(&mut self, row: &ControlRow) {
        let Some(file) = &mut self.control else { return };
        let written = file.write(|out| row.write(out));
        self.keep(written);
    }

    /// Begins the packet trace.
    pub fn begin_trace(&mut self, ports: &[PortRate], window_bytes: u32) {
        match OutputFile::create(self.folder.path(), "packets.tr") {
            Ok(mut file) => {
                let written = file.write(|out| packet_trace::write_header(out, ports, window_bytes));
                self.packets = Some(file);
                self.keep(written);
            }
            Err(error) => self.keep(Err(error)),
        }
    }

    /// Something happened to a packet at a traced node.
    pub fn packet(&mut self, record: &TraceRecord) {
        let Some(file) = &mut self.packets else { return };
        let written = file.write(|out| packet_trace::write(out, record));
        self.keep(written);
    }

    /// Begins the capture.
    pub fn begin_capture(&mut self) {
        match Capture::create(self.folder.path(), "packets.pcap") {
            Ok(capture) => self.capture = Some(capture),
            Err(error) => self.keep(Err(error)),
        }
    }

    /// A frame of a captured node, as bytes.
    pub fn capture(&mut self, now: Nanos, frame: &[u8]) {
        let Some(capture) = &mut self.capture else { return };
        let written = capture.write(now, frame);
        self.keep(written);
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

    /// How many bytes a switch sent by a port, counted from 1.
    pub fn port_sent(&mut self, node: u32, port: u32, bytes: u64) {
        self.sent.insert((node, port), bytes);
    }

    /// How long each port of the network was paused by `now`, and what it sent, with what is known of its link.
    pub fn ports(&mut self, network: &Network, now: Nanos) {
        for mut row in ports_csv::rows_of(network) {
            row.paused_ns = self.pauses.port_paused_ns(row.node, row.port, now.0);
            row.sent_bytes = self.sent.get(&(row.node, row.port)).copied();
            let written = self.files.ports_csv.write(|out| row.write(out));
            self.keep(written);
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
        let mut files = self.files.finish()?;
        for file in [self.packets, self.control].into_iter().flatten() {
            files.insert(file.name(), file.finish()?);
        }
        if let Some(capture) = self.capture {
            files.insert("packets.pcap".to_owned(), capture.finish()?);
        }
        let summary = Summary { format: summary::FORMAT, files, ..summary.clone() };
        let mut file = OutputFile::create(self.folder.path(), "summary.json")?;
        file.write(|out| summary.write(out))?;
        file.finish()?;
        self.folder.complete()
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
    use super::super::{FolderLock, Versions, fct_csv, goodput_csv, queue_csv, unfinished_csv};
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
        writer.flow_unfinished(&UnfinishedFlow { flow: 1, ..UnfinishedFlow::default() });
        writer.pfc(Nanos(5), 0, false, 1, true);
        for bytes in [0, 2_096] {
            writer.begin_queue_samples();
            writer.queue_sample(queue, bytes);
        }
        writer.queue_point(Nanos(200), queue, 2_096);
        writer.queue_point(Nanos(300), queue, 2_096);
        writer.print_queues(Nanos(200));
        writer.goodput(Nanos(300), 0, BitRate::gbps(25), 1_000);
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
        assert!(!root.path().join("run.partial").exists());
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
    fn other_peoples_folders_are_refused() {
        let root = tempfile::tempdir().expect("folder");
        fs::write(root.path().join("thesis.tex"), "").expect("file");
        let message = ResultWriter::create(root.path()).expect_err("accepted").to_string();
        assert!(message.contains("not results of hpcc"), "{message}");
        assert!(ResultWriter::create(&root.path().join("thesis.tex")).is_err());
        assert!(ResultWriter::create(Path::new("/")).is_err());
    }

    #[test]
    fn what_a_crash_left_is_swept_away() {
        let root = tempfile::tempdir().expect("folder");
        let out = root.path().join("run");
        let mut crashed = ResultWriter::create(&out).expect("create");
        crashed.flow_finished(&flow(0));
        drop(crashed);
        assert!(!out.exists());
        ResultWriter::create(&out).expect("create again").finish(&summary()).expect("finish");
        assert_eq!(fct_csv::read(&out.join("fct.csv")).expect("fct.csv").len(), 0);
    }
}
