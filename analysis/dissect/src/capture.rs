// SPDX-License-Identifier: GPL-2.0-only
//! The frames of a pcap or pcapng file.

use crate::outer::Link;
use anyhow::{Context, Result, anyhow, bail, ensure};
use hpcc_model::input;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// A captured frame.
#[derive(Clone, Debug)]
pub struct Captured {
    /// When, in nanoseconds; `None` if the file does not say.
    pub time_ns: Option<u64>,
    /// Bytes that the frame had.
    pub original_len: u32,
    /// The bytes that were captured.
    pub bytes: Vec<u8>,
    /// What they begin with.
    pub link: Link,
    /// Name of the interface, where a file has names.
    pub interface: Option<String>,
}

impl Captured {
    /// A frame without a file.
    pub fn alone(bytes: Vec<u8>) -> Captured {
        let original_len = bytes.len() as u32;
        Captured { time_ns: None, original_len, bytes, link: Link::Ethernet, interface: None }
    }

    /// Leaves out what is none of the frame: its check sequence of so many bytes, and what pads a file.
    fn without(mut self, check_sequence: u32) -> Captured {
        let len = self.original_len.saturating_sub(check_sequence);
        self.bytes.truncate(len as usize);
        Captured { original_len: len.max(self.bytes.len() as u32), ..self }
    }
}

/// Frames one after the other; an error is the last.
pub type Frames = Box<dyn Iterator<Item = Result<Captured>>>;

/// The first bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Of microseconds and nanoseconds, in either order of bytes.
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];
/// Decimal places of a second without another option.
const DEFAULT_RESOLUTION: u8 = 6;

/// Opens a capture.
///
/// # Errors
/// A file that cannot be read, is no capture, or is one of a link type that is not known.
pub fn open(path: &Path) -> Result<Frames> {
    let named = || path.display().to_string();
    let mut file = input::open(path).with_context(named)?;
    let mut magic = [0; 4];
    if file.read_exact(&mut magic).is_err() {
        bail!("{}: no capture, or it was cut off: the file ends within its header; expected pcap or pcapng", named());
    }
    ensure!(magic == PCAPNG || PCAP.contains(&magic), "{}: no capture; expected pcap or pcapng", named());
    file.rewind().with_context(named)?;
    let file = BufReader::new(file);
    if magic == PCAPNG {
        let mut reader = PcapNgReader::new(file).map_err(|error| anyhow!("{}: no capture: {error}", named()))?;
        return Ok(frames(path, move || next_of_blocks(&mut reader)));
    }
    let mut reader =
        PcapReader::new(file).map_err(|error| anyhow!("{}: no capture: {error}; expected pcap or pcapng", named()))?;
    let number = u32::from(reader.header().datalink);
    let (link, check_sequence) = (known(number).with_context(named)?, check_sequence(number));
    let unit = if reader.header().ts_resolution == TsResolution::NanoSecond { 1 } else { 1_000 };
    Ok(frames(path, move || {
        // The library's own reading refuses what tcpdump -s writes.
        let captured = reader.next_raw_packet()?.map(|packet| Captured {
            time_ns: Some(u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * unit),
            original_len: packet.orig_len,
            bytes: packet.data.into_owned(),
            link,
            interface: None,
        });
        Some(captured.map(|captured| Ok(captured.without(check_sequence))))
    }))
}

fn known(number: u32) -> Result<Link> {
    Link::of(number).with_context(|| {
        let name = DataLink::from(number & 0xffff);
        format!("the link type is {name:?}; expected Ethernet, Linux's cooked captures, loopback or raw IP")
    })
}

/// Bytes of the check sequence behind each frame, which the upper bits of a link type tell.
fn check_sequence(number: u32) -> u32 {
    const TOLD: u32 = 1 << 26;
    if number & TOLD == 0 { 0 } else { 2 * (number >> 28) }
}

/// Frames until the first error, by what reads the next one: nothing at the end.
fn frames(path: &Path, mut next: impl FnMut() -> Option<Result<Result<Captured>, PcapError>> + 'static) -> Frames {
    let (path, mut count, mut ended) = (path.to_owned(), 0, false);
    Box::new(std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let frame = next()?.unwrap_or_else(|error| Err(anyhow!("broken after frame {count}: {error}")));
        count += 1;
        ended = frame.is_err();
        Some(frame.map_err(|error| anyhow!("{}: {error}", path.display())))
    }))
}

/// The next frame of a pcapng file; blocks of other kinds are passed over.
fn next_of_blocks(reader: &mut PcapNgReader<BufReader<File>>) -> Option<Result<Result<Captured>, PcapError>> {
    loop {
        let block = match reader.next_block()? {
            Ok(block) => block.into_owned(),
            Err(error) => return Some(Err(error)),
        };
        let (interface, ticks, original_len, data, own_sequence) = match block {
            Block::EnhancedPacket(packet) => {
                let own_sequence = of_flags(&packet.options);
                (packet.interface_id, Some(packet.timestamp.as_nanos()), packet.original_len, packet.data, own_sequence)
            }
            Block::SimplePacket(packet) => (0, None, packet.original_len, packet.data, None),
            Block::SectionHeader(_)
            | Block::InterfaceDescription(_)
            | Block::Packet(_)
            | Block::NameResolution(_)
            | Block::InterfaceStatistics(_)
            | Block::SystemdJournalExport(_)
            | Block::Unknown(_) => continue,
        };
        let Some(interface) = reader.interfaces().get(interface as usize) else {
            return Some(Ok(Err(anyhow!("a frame is of interface {interface}, which is not described"))));
        };
        let offset = offset(interface);
        let time_ns = ticks.and_then(|ticks| nanos(ticks, resolution(interface))?.checked_add_signed(offset?));
        let (mut name, mut of_interface) = (None, 0);
        for option in &interface.options {
            if let InterfaceDescriptionOption::IfName(told) = option {
                name = Some(told.to_string());
            }
            if let InterfaceDescriptionOption::IfFcsLen(told) = option {
                of_interface = sequence_bytes(*told);
            }
        }
        let check_sequence = own_sequence.unwrap_or(of_interface);
        let link = known(u32::from(interface.linktype));
        let bytes = data.into_owned();
        return Some(Ok(
            link.map(|link| Captured { time_ns, original_len, bytes, link, interface: name }.without(check_sequence))
        ));
    }
}

/// Bytes of a check sequence, which the specification counts in bits, and writers before it in bytes: no sequence has fewer
/// than 8 bits, or more than 7 bytes.
fn sequence_bytes(told: u8) -> u32 {
    u32::from(if told < 8 { told } else { told / 8 })
}

/// Bytes of a frame's own check sequence, if its flags say so.
fn of_flags(options: &[EnhancedPacketOption<'_>]) -> Option<u32> {
    let bytes = |option: &EnhancedPacketOption<'_>| {
        if let EnhancedPacketOption::Flags(flags) = option { Some(flags >> 5 & 0xf) } else { None }
    };
    options.iter().find_map(bytes).filter(|bytes| *bytes > 0)
}

/// The tick of an interface's clock: a negative power of 10, or of 2 if the upper bit is set.
fn resolution(interface: &InterfaceDescriptionBlock<'_>) -> u8 {
    let mut resolutions = interface.options.iter().filter_map(|option| {
        if let InterfaceDescriptionOption::IfTsResol(resolution) = option { Some(*resolution) } else { None }
    });
    resolutions.next().unwrap_or(DEFAULT_RESOLUTION)
}

/// What is added to an interface's times, in nanoseconds; `None` if it is too long.
fn offset(interface: &InterfaceDescriptionBlock<'_>) -> Option<i64> {
    let mut offsets = interface.options.iter().filter_map(|option| {
        // Seconds, which may be negative.
        if let InterfaceDescriptionOption::IfTsOffset(seconds) = option { Some(*seconds as i64) } else { None }
    });
    offsets.next().unwrap_or(0).checked_mul(1_000_000_000)
}

/// Ticks in nanoseconds, `None` if they are too many. (The library takes every tick for a nanosecond.)
fn nanos(ticks: u128, resolution: u8) -> Option<u64> {
    let scaled = ticks.checked_mul(1_000_000_000)?;
    let power = u32::from(resolution & 0x7f);
    let per_second = if resolution & 0x80 == 0 { 10_u128.checked_pow(power) } else { 1_u128.checked_shl(power) };
    u64::try_from(scaled / per_second?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of a pcapng file, its length in front and behind.
    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let len = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &len, body, &len].concat()
    }

    /// The frame of a file with one interface: its options, and those of the frame of 8 bytes, taken at tick 3.
    fn only(interface: &[u8], frame: &[u8]) -> Captured {
        const END: [u8; 4] = [0; 4];
        let header = block(0x0a0d_0d0a, &[&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat());
        let described = block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0][..], interface, &END].concat());
        let times = [[0_u8, 0, 0, 0], [0; 4], [3, 0, 0, 0], [8, 0, 0, 0], [8, 0, 0, 0]].concat();
        let packet = block(6, &[&times[..], &[1, 2, 3, 4, 5, 6, 7, 8], frame, &END].concat());
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("one.pcapng");
        std::fs::write(&path, [header, described, packet].concat()).expect("written");
        let mut frames = open(&path).expect("a capture");
        frames.next().expect("a frame").expect("readable")
    }

    /// Option 13 of an interface: no check sequence has 32 bytes, and none 4 bits. The frame's flags say more, in bytes.
    #[test]
    fn check_sequences_are_counted_in_bits_or_bytes() {
        let flags = |word: u32| [&[2, 0, 4, 0][..], &word.to_le_bytes()].concat();
        for (told, flags, left) in [
            (32, vec![], 4),
            (16, vec![], 6),
            (4, vec![], 4),
            (2, vec![], 6),
            (0, vec![], 8),
            (0, flags(4 << 5), 4),
            (32, flags(2 << 5), 6),
            (32, flags(1), 4),
        ] {
            let captured = only(&[13, 0, 1, 0, told, 0, 0, 0], &flags);
            assert_eq!((captured.bytes.len(), captured.original_len), (left, left as u32), "{told} {flags:?}");
        }
    }

    /// Option 14 of an interface: seconds with a sign. Option 9: nanoseconds.
    #[test]
    fn an_interface_says_what_is_added_to_its_times() {
        const NANOS: [u8; 8] = [9, 0, 1, 0, 9, 0, 0, 0];
        let time = |seconds: i64| {
            let offset = [&NANOS[..], &[14, 0, 8, 0], &seconds.to_le_bytes()].concat();
            only(&offset, &[]).time_ns
        };
        assert_eq!(time(1_573_830_016), Some(1_573_830_016_000_000_003));
        assert_eq!((time(0), time(-1)), (Some(3), None), "no time before 1970");
        assert_eq!(time(i64::MAX), None);
    }

    #[test]
    fn ticks_are_what_the_interface_says() {
        assert_eq!(nanos(2_000_041, 6), Some(2_000_041_000));
        assert_eq!(nanos(2_000_000_041, 9), Some(2_000_000_041));
        assert_eq!(nanos(3 << 20, 0x94), Some(3_000_000_000));
        assert_eq!(nanos(u128::MAX, 6), None);
    }
}
