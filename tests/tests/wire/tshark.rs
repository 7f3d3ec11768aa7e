// SPDX-License-Identifier: GPL-2.0-only
//! tshark reads every captured frame without complaint, and what it reads is what the simulator's trace says.

use crate::expected::{Hop, Journeys, address, ecn, hop_limit, is_first, is_last, opcode, psn};
use crate::simulation::{CASES, Case, FLOW, ROOM, SPEED};
use hpcc_model::results::packet_trace::{PacketKind, TraceEvent, TraceRecord};
use hpcc_tests::dissection::{self, Dissected, dissect};
use hpcc_tests::skipped;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

const FIELDS: [&str; 58] = [
    "frame.time_epoch",
    "frame.len",
    "_ws.malformed",
    "_ws.expert.severity",
    "_ws.expert.message",
    "eth.dst",
    "ip.src",
    "ip.dst",
    "ip.len",
    "ip.ttl",
    "ip.proto",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "ip.checksum.status",
    "ipv6.src",
    "ipv6.dst",
    "ipv6.plen",
    "ipv6.hlim",
    "ipv6.tclass.dscp",
    "ipv6.tclass.ecn",
    "ipv6.nxt",
    "ipv6.hopopts.len",
    "ipv6.opt.type",
    "ipv6.opt.length",
    "ipv6.opt.padn",
    "ipv6.opt.ioam.opt_type",
    "ipv6.opt.ioam.trace.ns",
    "ipv6.opt.ioam.trace.nodelen",
    "ipv6.opt.ioam.trace.flags",
    "ipv6.opt.ioam.trace.remlen",
    "ipv6.opt.ioam.trace.type",
    "ipv6.opt.ioam.trace.free_space",
    "ipv6.opt.ioam.trace.node.hlim",
    "ipv6.opt.ioam.trace.node.id",
    "ipv6.opt.ioam.trace.node.iif",
    "ipv6.opt.ioam.trace.node.eif",
    "ipv6.opt.ioam.trace.node.tss",
    "ipv6.opt.ioam.trace.node.tsf",
    "ipv6.opt.ioam.trace.node.nsdata",
    "ipv6.opt.ioam.trace.node.nsdata_wide",
    "ipv6.opt.ioam.trace.node.qdepth",
    "udp.srcport",
    "udp.dstport",
    "udp.length",
    "udp.checksum.status",
    "infiniband.bth.opcode",
    "infiniband.bth.padcnt",
    "infiniband.bth.p_key",
    "infiniband.bth.destqp",
    "infiniband.bth.a",
    "infiniband.bth.psn",
    "infiniband.reth.va",
    "infiniband.reth.dmalen",
    "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",
    "macc.opcode",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c3",
];

const ETHERNET: u64 = 14;
const IPV4: u64 = 20;
const IPV6: u64 = 40;
const FCS: u64 = 4;
/// Queue pairs 0 and 1 are InfiniBand's own, for management.
const FIRST_QUEUE_PAIR: u64 = 2;

/// Packets that a capture must have, so that the test says something.
#[derive(Debug, Default)]
struct Seen {
    marked: usize,
    waited: usize,
    pauses: usize,
    resumes: usize,
    nacks: usize,
    probes: usize,
    answers: usize,
    queue_pairs: HashMap<(String, String, u64), u64>,
}

#[test]
fn tshark_reads_in_every_frame_what_the_trace_says() {
    if !dissection::is_there() {
        return skipped("no tshark on this machine");
    }
    CASES.par_iter().for_each(|case| judge(*case));
}

fn judge(case: Case) {
    let simulated = case.run();
    let dissected = dissect(&simulated.capture(), &FIELDS);
    let records = simulated.records();
    assert_eq!(dissected.len(), records.len(), "{case:?}: a frame for each record");
    let (mut journeys, mut seen) = (Journeys::default(), Seen::default());
    for (number, (frame, record)) in dissected.iter().zip(&records).enumerate() {
        let judged = Judged { case, number: number + 1, frame, record };
        judged.whole();
        // Nothing is lost where there is telemetry, so that each packet travels once.
        let hops = if case.layout == "none" { &[] } else { journeys.follow(record) };
        if record.kind == PacketKind::Pfc {
            judged.pfc(&mut seen);
            continue;
        }
        judged.ip(hops, &mut seen);
        judged.transport(&mut seen);
        judged.ioam(hops);
    }
    seen.is_enough(case);
}

impl Seen {
    fn is_enough(&self, case: Case) {
        assert!(self.marked > 0 && self.waited > 0 && self.pauses > 0 && self.resumes > 0, "{case:?}: {self:?}");
        assert_eq!(self.nacks > 0, case.layout == "none", "{case:?}: {self:?}");
        assert_eq!((self.probes > 0, self.answers > 0), (case.probes, case.probes), "{case:?}: {self:?}");
        // The receiver tells its flows apart, of which node 0 and the switches see all.
        let distinct: HashSet<_> = self.queue_pairs.iter().map(|((_, dst, _), pair)| (dst, pair)).collect();
        assert_eq!(distinct.len(), self.queue_pairs.len(), "{case:?}: {self:?}");
    }
}

/// A frame under judgement.
struct Judged<'a> {
    case: Case,
    number: usize,
    frame: &'a Dissected<'a>,
    record: &'a TraceRecord,
}

impl Judged<'_> {
    fn text(&self, field: &str, expected: &str) {
        assert_eq!(
            self.frame.text(field),
            expected,
            "{field} of frame {} of {:?}: {:?}",
            self.number,
            self.case,
            self.record
        );
    }

    fn numbers(&self, field: &str, expected: &[u64]) {
        let found = self.frame.numbers(field);
        assert_eq!(found, expected, "{field} of frame {} of {:?}: {:?}", self.number, self.case, self.record);
    }

    fn number(&self, field: &str, expected: impl Into<u64>) {
        self.numbers(field, &[expected.into()]);
    }

    fn whole(&self) {
        // It may take marked telemetry for malformed headers.
        if self.mark() == 0 {
            self.text("_ws.expert.message", "");
            self.text("_ws.expert.severity", "");
            self.text("_ws.malformed", "");
        }
        let time = self.record.time_ns;
        self.text("frame.time_epoch", &format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000));
        self.number("frame.len", u64::from(self.record.size_bytes) - FCS);
    }

    fn pfc(&self, seen: &mut Seen) {
        let pauses = self.record.pause != 0;
        *if pauses { &mut seen.pauses } else { &mut seen.resumes } += 1;
        self.text("eth.dst", "01:80:c2:00:00:01");
        self.number("macc.opcode", 0x0101_u64);
        self.number("macc.cbfc.enbv", 1_u64 << self.record.priority);
        self.number("macc.cbfc.pause_time.c3", if pauses { 0xffff_u64 } else { 0 });
    }

    fn ip(&self, hops: &[Hop], seen: &mut Seen) {
        let record = self.record;
        let v = if self.case.ipv6 { "ipv6" } else { "ip" };
        let class = if self.case.ipv6 { "ipv6.tclass" } else { "ip.dsfield" };
        self.text(&format!("{v}.src"), &address(self.case.ipv6, record.src_address));
        self.text(&format!("{v}.dst"), &address(self.case.ipv6, record.dst_address));
        self.number(&format!("{class}.dscp"), 8 * u64::from(record.priority) + self.mark());
        self.number(&format!("{class}.ecn"), ecn(record));
        let len = u64::from(record.size_bytes) - FCS - ETHERNET;
        let protocol = self.protocol();
        if self.case.ipv6 {
            self.number("ipv6.hlim", hop_limit(record));
            self.number("ipv6.plen", len - IPV6);
            self.number("ipv6.nxt", protocol);
        } else {
            self.number("ip.ttl", hop_limit(record));
            self.number("ip.len", len);
            self.number("ip.proto", protocol);
            self.number("ip.checksum.status", 1_u64);
        }
        seen.probes += usize::from(record.kind == PacketKind::Probe);
        seen.marked += usize::from(ecn(record) == 3);
        seen.waited += usize::from(record.event == TraceEvent::Dequeue && record.qlen_bytes > 0);
        assert!(hops.len() < ROOM, "{record:?}");
    }

    fn has_telemetry(&self) -> bool {
        let collects = if self.case.probes { PacketKind::Probe } else { PacketKind::Data };
        self.record.kind == collects && self.case.layout != "none"
    }

    fn protocol(&self) -> u64 {
        match self.case.layout {
            "ioam" | "ioam_slim" if self.has_telemetry() => 0,
            "ifa" if self.has_telemetry() => 253,
            _ => 17,
        }
    }

    fn transport(&self, seen: &mut Seen) {
        if self.protocol() == 253 {
            return;
        }
        let record = self.record;
        self.number("udp.srcport", record.sport);
        let options = self.frame.numbers("ipv6.hopopts.len").first().map_or(0, |units| 8 * (units + 1));
        let ip = if self.case.ipv6 { IPV6 } else { IPV4 };
        self.number("udp.length", u64::from(record.size_bytes) - FCS - ETHERNET - ip - options);
        // Good, or none.
        self.number("udp.checksum.status", if self.case.ipv6 { 1_u64 } else { 3 });
        self.number("udp.dstport", 4791_u64);
        if self.mark() == 0 {
            self.roce(seen);
        }
    }

    /// The bits of the DSCP that announce telemetry between UDP and the base transport header, which tshark does not know.
    fn mark(&self) -> u64 {
        match self.case.layout {
            "int_md" if self.has_telemetry() => 2,
            "paper" | "draft" if self.has_telemetry() => 1,
            _ => 0,
        }
    }

    fn roce(&self, seen: &mut Seen) {
        let record = self.record;
        self.number("infiniband.bth.opcode", opcode(record));
        self.number("infiniband.bth.psn", psn(record));
        self.number("infiniband.bth.p_key", 0xffff_u64);
        let pair = self.frame.numbers("infiniband.bth.destqp")[0];
        assert!(pair >= FIRST_QUEUE_PAIR, "queue pair {pair} of frame {} of {:?}", self.number, self.case);
        let flow = (address(true, record.src_address), address(true, record.dst_address), record.sport.into());
        assert_eq!(*seen.queue_pairs.entry(flow).or_insert(pair), pair, "frame {} of {:?}", self.number, self.case);
        match record.kind {
            PacketKind::Data | PacketKind::Trimmed => self.data(),
            PacketKind::Probe => {}
            PacketKind::Feedback => seen.answers += 1,
            PacketKind::Ack | PacketKind::Nack => self.answer(seen),
            PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => {
                panic!("{:?} has no transport header of a flow", record.kind)
            }
        }
    }

    fn data(&self) {
        let record = self.record;
        self.number("infiniband.bth.padcnt", u64::from(record.payload_bytes.wrapping_neg() % 4));
        if is_last(record) {
            self.number("infiniband.bth.a", 1_u64);
        }
        let (address, length): (&[u64], &[u64]) = if is_first(record) { (&[0], &[FLOW as u64]) } else { (&[], &[]) };
        self.numbers("infiniband.reth.va", address);
        self.numbers("infiniband.reth.dmalen", length);
    }

    fn answer(&self, seen: &mut Seen) {
        let negative = self.record.kind == PacketKind::Nack;
        seen.nacks += usize::from(negative);
        self.number("infiniband.aeth.syndrome", if negative { 0x60_u64 } else { 0x1f });
        self.number("infiniband.aeth.msn", u64::from(self.record.seq >= FLOW));
    }

    fn ioam(&self, hops: &[Hop]) {
        let (trace_type, words) = match self.case.layout {
            "ioam" if self.has_telemetry() => (0xf2_2000_u64, 7),
            "ioam_slim" if self.has_telemetry() => (0x96_0000, 4),
            _ => return self.text("ipv6.opt.type", ""),
        };
        let free = words * (ROOM - hops.len()) as u64;
        self.options(4 * words * ROOM as u64);
        self.number("ipv6.opt.ioam.opt_type", 0_u64);
        self.number("ipv6.opt.ioam.trace.ns", 0x4850_u64);
        self.number("ipv6.opt.ioam.trace.nodelen", words);
        self.number("ipv6.opt.ioam.trace.flags", 0_u64);
        self.number("ipv6.opt.ioam.trace.remlen", free);
        self.number("ipv6.opt.ioam.trace.type", trace_type);
        self.text("ipv6.opt.ioam.trace.free_space", &"00".repeat(4 * free as usize));
        self.nodes(hops);
    }

    /// PadN of 2 bytes, the trace, and zeros up to a multiple of 8.
    fn options(&self, data: u64) {
        let trace = 2 + 2 + 8 + data;
        let len = (4 + trace).next_multiple_of(8);
        self.number("ipv6.hopopts.len", len / 8 - 1);
        match len - 4 - trace {
            0 => self.numbers("ipv6.opt.type", &[1, 0x31]),
            _ => self.numbers("ipv6.opt.type", &[1, 0x31, 1]),
        }
        match len - 4 - trace {
            0 => self.numbers("ipv6.opt.length", &[0, trace - 2]),
            pad => self.numbers("ipv6.opt.length", &[0, trace - 2, pad - 2]),
        }
    }

    /// The nodes of a trace: the newest is first.
    fn nodes(&self, hops: &[Hop]) {
        let each = |field: &str, value: &dyn Fn(&Hop) -> u64| {
            let expected: Vec<u64> = hops.iter().rev().map(value).collect();
            self.numbers(&format!("ipv6.opt.ioam.trace.node.{field}"), &expected);
        };
        each("hlim", &|hop| hop.hop_limit);
        each("id", &|hop| hop.switch);
        each("tsf", &|hop| hop.time_ns % 1_000_000_000);
        each("qdepth", &|hop| hop.queue_bytes);
        if self.case.layout == "ioam" {
            each("iif", &|hop| hop.ingress);
            each("eif", &|hop| hop.egress);
            each("tss", &|hop| hop.time_ns / 1_000_000_000);
            each("nsdata_wide", &|hop| (SPEED << 60) | hop.sent_bytes);
        } else {
            each("nsdata", &|hop| (SPEED << 28) | (hop.sent_bytes / 128));
        }
    }
}
