// SPDX-License-Identifier: GPL-2.0-only
//! `packets.tr`: what happened to each packet at the traced nodes, in the 2019 simulator's binary layout.
//!
//! A header (the rate of every port, and the window) is followed by records of 56 bytes, little-endian. The text
//! of a record is that of the 2019 simulator's `trace_reader`; [`TraceRecord`] is also a row of CSV.

use super::ResultError;
pub use hpcc_core::frame::PacketKind;
use hpcc_core::settings::Named;
use hpcc_core::units::BitRate;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

const RECORD_LEN: usize = 56;
/// Protocol numbers. The 2019 simulator has neither probes nor feedback packets, and never sends a CNP; Fast CNP and
/// ICMPv6 have next headers of IPv6.
const PROTOCOLS: [(PacketKind, u8); 10] = [
    (PacketKind::Data, 0x11),
    (PacketKind::Ack, 0xfc),
    (PacketKind::Nack, 0xfd),
    (PacketKind::Pfc, 0xfe),
    (PacketKind::Probe, 0xfa),
    (PacketKind::Feedback, 0xfb),
    (PacketKind::Cnp, 0xff),
    (PacketKind::FastCnp, 60),
    (PacketKind::Icmpv6, 58),
    (PacketKind::Trimmed, 0xf9),
];

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceEvent {
    /// It arrived at a device.
    Receive,
    /// It is about to join a queue.
    Enqueue,
    /// It has left its queue for the link.
    Dequeue,
    /// It was dropped.
    Drop,
}

/// One event of one packet. Fields that its kind does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// When, in ns.
    pub time_ns: u64,
    /// The node at which it happened.
    pub node: u16,
    /// Port of the node, counted from 1.
    pub port: u8,
    /// Queue of the port.
    pub queue: u8,
    /// Bytes of other packets in that queue; 0 at hosts.
    pub qlen_bytes: u32,
    /// What happened to the packet.
    pub event: TraceEvent,
    /// What the packet is for.
    #[serde(serialize_with = "kind_name", deserialize_with = "kind_of_name")]
    pub kind: PacketKind,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// IPv4 source address.
    pub src_address: u32,
    /// IPv4 destination address.
    pub dst_address: u32,
    /// UDP source port.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group; of a PFC frame: the priority that it pauses or resumes.
    pub priority: u8,
    /// The two ECN bits.
    pub ecn: u8,
    /// Bytes on the link.
    pub size_bytes: u16,
    /// Payload bytes.
    pub payload_bytes: u16,
    /// First byte of the payload; of an acknowledgement: first byte still expected; of a PFC frame: bytes that wait in
    /// its priority at the port that sends it.
    pub seq: u32,
    /// When the packet, or the one that is acknowledged, was sent; 0 without such telemetry.
    pub sent_ns: u64,
    /// Whether an acknowledgement echoes a congestion mark.
    pub congestion_echo: bool,
    /// Of a PFC frame: microseconds; 0 resumes, everything else pauses.
    pub pause: u32,
}

fn kind_name<S: Serializer>(kind: &PacketKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

fn kind_of_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PacketKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    let kind = PacketKind::ALL.iter().find(|kind| kind.name() == name).copied();
    kind.ok_or_else(|| de::Error::unknown_variant(&name, PacketKind::NAMES))
}

/// The rate of a port, as the header lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRate {
    /// Number of the node.
    pub node: u16,
    /// Its port, counted from 1.
    pub port: u8,
    /// Rate of the link, in bits per second.
    pub rate: BitRate,
}

/// Writes the header.
///
/// # Errors
/// Those of `out`.
pub fn write_header(out: &mut impl Write, ports: &[PortRate], window_bytes: u32) -> io::Result<()> {
    out.write_all(&(ports.len() as u32).to_le_bytes())?;
    for port in ports {
        out.write_all(&port.node.to_le_bytes())?;
        out.write_all(&[port.port])?;
        out.write_all(&port.rate.0.to_le_bytes())?;
    }
    out.write_all(&window_bytes.to_le_bytes())
}

/// Writes a record.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, record: &TraceRecord) -> io::Result<()> {
    out.write_all(&encode(record))
}

fn encode(r: &TraceRecord) -> [u8; RECORD_LEN] {
    let mut bytes = [0; RECORD_LEN];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &r.time_ns.to_le_bytes());
    put(8, &r.node.to_le_bytes());
    put(10, &[r.port, r.queue]);
    put(12, &r.qlen_bytes.to_le_bytes());
    put(16, &r.src_address.to_le_bytes());
    put(20, &r.dst_address.to_le_bytes());
    put(24, &r.size_bytes.to_le_bytes());
    put(26, &[protocol(r.kind), r.event as u8, r.ecn, u8::from(r.is_switch)]);
    match r.kind {
        PacketKind::Pfc => {
            put(32, &r.pause.to_le_bytes());
            put(36, &r.seq.to_le_bytes());
            put(40, &[r.priority]);
            return bytes;
        }
        PacketKind::Data | PacketKind::Probe | PacketKind::Trimmed => {
            put(36, &r.seq.to_le_bytes());
            put(40, &r.sent_ns.to_le_bytes());
            put(48, &u16::from(r.priority).to_le_bytes());
            put(50, &r.payload_bytes.to_le_bytes());
        }
        PacketKind::Ack
        | PacketKind::Nack
        | PacketKind::Feedback
        | PacketKind::Cnp
        | PacketKind::FastCnp
        | PacketKind::Icmpv6 => {
            put(36, &u16::from(r.congestion_echo).to_le_bytes());
            put(38, &u16::from(r.priority).to_le_bytes());
            put(40, &r.seq.to_le_bytes());
            put(48, &r.sent_ns.to_le_bytes());
        }
    }
    put(32, &r.sport.to_le_bytes());
    put(34, &r.dport.to_le_bytes());
    bytes
}

fn protocol(kind: PacketKind) -> u8 {
    PROTOCOLS.iter().find(|(known, _)| *known == kind).map_or(0, |(_, number)| *number)
}

fn decode(bytes: &[u8; RECORD_LEN]) -> Result<TraceRecord, String> {
    let kind = PROTOCOLS.iter().find(|(_, number)| *number == bytes[26]).map(|(kind, _)| *kind);
    let kind = kind.ok_or_else(|| format!("protocol {:#04x} is none of a packet that we know", bytes[26]))?;
    let events = [TraceEvent::Receive, TraceEvent::Enqueue, TraceEvent::Dequeue, TraceEvent::Drop];
    let event = events.get(usize::from(bytes[27])).copied();
    let event = event.ok_or_else(|| format!("event {} is none of 0 to 3", bytes[27]))?;
    let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes(core::array::from_fn(|i| bytes[at + i]));
    let u64_at = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| bytes[at + i]));
    let is_pfc = kind == PacketKind::Pfc;
    let unless_pfc = |value: u16| if is_pfc { 0 } else { value };
    let (priority, seq, sent_ns) = match kind {
        PacketKind::Data | PacketKind::Probe | PacketKind::Trimmed => (u16_at(48) as u8, u32_at(36), u64_at(40)),
        PacketKind::Pfc => (bytes[40], u32_at(36), 0),
        PacketKind::Ack
        | PacketKind::Nack
        | PacketKind::Feedback
        | PacketKind::Cnp
        | PacketKind::FastCnp
        | PacketKind::Icmpv6 => (u16_at(38) as u8, u32_at(40), u64_at(48)),
    };
    Ok(TraceRecord {
        time_ns: u64_at(0),
        node: u16_at(8),
        port: bytes[10],
        queue: bytes[11],
        qlen_bytes: u32_at(12),
        event,
        kind,
        is_switch: bytes[29] == 1,
        src_address: u32_at(16),
        dst_address: u32_at(20),
        sport: unless_pfc(u16_at(32)),
        dport: unless_pfc(u16_at(34)),
        priority,
        ecn: bytes[28],
        size_bytes: u16_at(24),
        payload_bytes: if kind == PacketKind::Data { u16_at(50) } else { 0 },
        seq,
        sent_ns,
        congestion_echo: matches!(kind, PacketKind::Ack | PacketKind::Nack) && u16_at(36) & 1 == 1,
        pause: if is_pfc { u32_at(32) } else { 0 },
    })
}

impl fmt::Display for TraceRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = match self.event {
            TraceEvent::Receive => "Recv",
            TraceEvent::Enqueue => "Enqu",
            TraceEvent::Dequeue => "Dequ",
            TraceEvent::Drop => "Drop",
        };
        let TraceRecord { time_ns, node, port, queue, qlen_bytes, ecn, .. } = self;
        write!(f, "{time_ns} n:{node} {port}:{queue} {qlen_bytes} {event} ecn:{ecn:x} ")?;
        write!(f, "{:08x} {:08x} ", self.src_address, self.dst_address)?;
        let TraceRecord { sport, dport, priority, seq, sent_ns, size_bytes, payload_bytes, .. } = self;
        let flags = u8::from(self.congestion_echo);
        match self.kind {
            PacketKind::Data => {
                write!(f, "{sport} {dport} U {seq} {sent_ns} {priority} {size_bytes}({payload_bytes})")
            }
            PacketKind::Trimmed => write!(f, "{sport} {dport} T {seq} {sent_ns} {priority} {size_bytes}"),
            PacketKind::Probe => write!(f, "{sport} {dport} Q {seq} {sent_ns} {priority} {size_bytes}"),
            PacketKind::Feedback => write!(f, "{sport} {dport} F {priority} {seq} {sent_ns} {size_bytes}"),
            PacketKind::Cnp => write!(f, "{sport} {dport} C {priority} {size_bytes}"),
            PacketKind::FastCnp => write!(f, "{sport} {dport} S {priority} {size_bytes}"),
            PacketKind::Icmpv6 => write!(f, "{sport} {dport} I {priority} {size_bytes}"),
            PacketKind::Ack => write!(f, "{sport} {dport} A 0x{flags:02X} {priority} {seq} {sent_ns} {size_bytes}"),
            PacketKind::Nack => write!(f, "{sport} {dport} N 0x{flags:02X} {priority} {seq} {sent_ns} {size_bytes}"),
            PacketKind::Pfc => write!(f, "P {} {seq} {priority} {size_bytes}", self.pause),
        }
    }
}

/// Reads a trace record by record.
pub struct TraceReader {
    path: PathBuf,
    input: BufReader<File>,
    /// The ports of the header.
    pub ports: Vec<PortRate>,
    /// The window of the header, in bytes.
    pub window_bytes: u32,
    records: u64,
}

impl TraceReader {
    /// Opens a trace.
    ///
    /// # Errors
    /// If the file cannot be read, or ends within its header.
    pub fn open(path: &Path) -> Result<TraceReader, ResultError> {
        let failed = |cause: io::Error| {
            if cause.kind() != io::ErrorKind::UnexpectedEof {
                return ResultError::io(path, cause);
            }
            let message = "this is no packet trace, or it was cut off: the file ends within its header";
            ResultError::io(path, io::Error::new(io::ErrorKind::InvalidData, message))
        };
        let mut input = BufReader::new(crate::input::open(path).map_err(failed)?);
        let mut word = [0; 4];
        input.read_exact(&mut word).map_err(failed)?;
        let mut ports = Vec::new();
        for _ in 0..u32::from_le_bytes(word) {
            let mut entry = [0; 11];
            input.read_exact(&mut entry).map_err(failed)?;
            ports.push(PortRate {
                node: u16::from_le_bytes([entry[0], entry[1]]),
                port: entry[2],
                rate: BitRate(u64::from_le_bytes(core::array::from_fn(|i| entry[3 + i]))),
            });
        }
        input.read_exact(&mut word).map_err(failed)?;
        let window_bytes = u32::from_le_bytes(word);
        Ok(TraceReader { path: path.to_owned(), input, ports, window_bytes, records: 0 })
    }

    fn read(&mut self) -> Result<Option<TraceRecord>, ResultError> {
        let mut bytes = [0; RECORD_LEN];
        let mut filled = 0;
        while filled < RECORD_LEN {
            match self.input.read(&mut bytes[filled..]).map_err(|cause| ResultError::io(&self.path, cause))? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(self.broken("the file ends within it".into())),
                read => filled += read,
            }
        }
        let record = decode(&bytes).map_err(|message| self.broken(message))?;
        self.records += 1;
        Ok(Some(record))
    }

    fn broken(&self, message: String) -> ResultError {
        let number = self.records + 1;
        ResultError::io(&self.path, io::Error::new(io::ErrorKind::InvalidData, format!("record {number}: {message}")))
    }
}

impl Iterator for TraceReader {
    type Item = Result<TraceRecord, ResultError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: TraceRecord = TraceRecord {
        time_ns: 2_000_006_260,
        node: 3,
        port: 3,
        queue: 3,
        qlen_bytes: 1_090,
        event: TraceEvent::Enqueue,
        kind: PacketKind::Data,
        is_switch: true,
        src_address: 0x0b00_0101,
        dst_address: 0x0b00_0201,
        sport: 10_000,
        dport: 100,
        priority: 3,
        ecn: 0,
        size_bytes: 1_090,
        payload_bytes: 1_000,
        seq: 2_000,
        sent_ns: 0,
        congestion_echo: false,
        pause: 0,
    };

    fn ack() -> TraceRecord {
        TraceRecord {
            kind: PacketKind::Ack,
            payload_bytes: 0,
            size_bytes: 88,
            sent_ns: 7,
            congestion_echo: true,
            ..DATA
        }
    }

    fn pfc() -> TraceRecord {
        let base = TraceRecord { kind: PacketKind::Pfc, payload_bytes: 0, sport: 0, dport: 0, ..DATA };
        TraceRecord { pause: 5, size_bytes: 43, ..base }
    }

    /// Lines as the 2019 simulator's reader prints them.
    #[test]
    fn text_is_that_of_the_reference() {
        assert_eq!(
            DATA.to_string(),
            "2000006260 n:3 3:3 1090 Enqu ecn:0 0b000101 0b000201 10000 100 U 2000 0 3 1090(1000)"
        );
        assert_eq!(
            ack().to_string(),
            "2000006260 n:3 3:3 1090 Enqu ecn:0 0b000101 0b000201 10000 100 A 0x01 3 2000 7 88"
        );
        assert_eq!(pfc().to_string(), "2000006260 n:3 3:3 1090 Enqu ecn:0 0b000101 0b000201 P 5 2000 3 43");
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("packets.tr");
        let port = PortRate { node: 3, port: 1, rate: BitRate::gbps(100) };
        let mut bytes = Vec::new();
        write_header(&mut bytes, &[port], 52_000).expect("header");
        for record in [DATA, ack(), pfc()] {
            write(&mut bytes, &record).expect("record");
        }
        std::fs::write(&path, &bytes).expect("file");
        let reader = TraceReader::open(&path).expect("trace");
        assert_eq!((reader.ports.as_slice(), reader.window_bytes), ([port].as_slice(), 52_000));
        let records: Result<Vec<_>, _> = reader.collect();
        assert_eq!(records.expect("records"), [DATA, ack(), pfc()]);

        std::fs::write(&path, &bytes[..9]).expect("file");
        let short = TraceReader::open(&path).err().expect("no header");
        assert!(short.to_string().contains("this is no packet trace, or it was cut off"), "{short}");

        std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("file");
        let last = TraceReader::open(&path).expect("trace").last().expect("a record");
        assert!(last.expect_err("truncated").to_string().contains("record 3: the file ends within it"));
    }
}
