// SPDX-License-Identifier: GPL-2.0-only
//! The frames of a pcap or pcapng file.

use anyhow::{Context, Result, anyhow, bail, ensure};
use hpcc_formats::input;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// A captured frame.
#[derive(Clone, Debug)]
pub struct Captured {
    /// When, in nanoseconds; `None` if the file does not say.
    pub time_ns: Option<u64>,
    /// Bytes that the frame had.
    pub original_len: u32,
    /// Those that were captured.
    pub bytes: Vec<u8>,
}

impl Captured {
    /// A frame without a file.
    pub fn alone(bytes: Vec<u8>) -> Captured {
        Captured { time_ns: None, original_len: bytes.len() as u32, bytes }
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

/// Opens a capture of Ethernet frames.
///
/// # Errors
/// A file that cannot be read, is no capture, or is one of another link type.
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
        let reader = PcapNgReader::new(file).map_err(|error| anyhow!("{}: no capture: {error}", named()))?;
        return Ok(Box::new(PcapNg { reader, path: path.into(), frames: 0, ended: false }));
    }
    let reader =
        PcapReader::new(file).map_err(|error| anyhow!("{}: no capture: {error}; expected pcap or pcapng", named()))?;
    check_link(path, reader.header().datalink)?;
    Ok(Box::new(Pcap { reader, path: path.into(), frames: 0, ended: false }))
}

fn check_link(path: &Path, link: DataLink) -> Result<()> {
    if link != DataLink::ETHERNET {
        bail!("{}: the link type is {link:?}; expected Ethernet", path.display());
    }
    Ok(())
}

fn broken(path: &Path, frames: u64, error: &PcapError) -> anyhow::Error {
    anyhow!("{}: broken after frame {frames}: {error}", path.display())
}

struct Pcap {
    reader: PcapReader<BufReader<File>>,
    path: PathBuf,
    frames: u64,
    ended: bool,
}

impl Iterator for Pcap {
    type Item = Result<Captured>;

    fn next(&mut self) -> Option<Result<Captured>> {
        if self.ended {
            return None;
        }
        match self.reader.next_packet()? {
            Ok(packet) => {
                self.frames += 1;
                let time_ns = u64::try_from(packet.timestamp.as_nanos()).ok();
                Some(Ok(Captured { time_ns, original_len: packet.orig_len, bytes: packet.data.into_owned() }))
            }
            Err(error) => {
                self.ended = true;
                Some(Err(broken(&self.path, self.frames, &error)))
            }
        }
    }
}

struct PcapNg {
    reader: PcapNgReader<BufReader<File>>,
    path: PathBuf,
    frames: u64,
    ended: bool,
}

impl PcapNg {
    /// The next frame; blocks of other kinds are passed over.
    fn advance(&mut self) -> Option<Result<Captured>> {
        loop {
            let block = match self.reader.next_block()? {
                Ok(block) => block.into_owned(),
                Err(error) => return Some(Err(broken(&self.path, self.frames, &error))),
            };
            let (interface, ticks, original_len, data) = match block {
                Block::EnhancedPacket(packet) => {
                    (packet.interface_id, Some(packet.timestamp.as_nanos()), packet.original_len, packet.data)
                }
                Block::SimplePacket(packet) => (0, None, packet.original_len, packet.data),
                Block::SectionHeader(_)
                | Block::InterfaceDescription(_)
                | Block::Packet(_)
                | Block::NameResolution(_)
                | Block::InterfaceStatistics(_)
                | Block::SystemdJournalExport(_)
                | Block::Unknown(_) => continue,
            };
            self.frames += 1;
            let Some(interface) = self.reader.interfaces().get(interface as usize) else {
                let (path, frames) = (self.path.display(), self.frames);
                return Some(Err(anyhow!(
                    "{path}: frame {frames} is of interface {interface}, which is not described"
                )));
            };
            if let Err(error) = check_link(&self.path, interface.linktype) {
                return Some(Err(error));
            }
            let time_ns = ticks.and_then(|ticks| nanos(ticks, resolution(interface)));
            return Some(Ok(Captured { time_ns, original_len, bytes: data.into_owned() }));
        }
    }
}

impl Iterator for PcapNg {
    type Item = Result<Captured>;

    fn next(&mut self) -> Option<Result<Captured>> {
        if self.ended {
            return None;
        }
        let next = self.advance();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// What a tick of an interface's clock is: a negative power of 10, or of 2 if the upper bit is set.
fn resolution(interface: &InterfaceDescriptionBlock<'_>) -> u8 {
    let mut resolutions = interface.options.iter().filter_map(|option| {
        if let InterfaceDescriptionOption::IfTsResol(resolution) = option { Some(*resolution) } else { None }
    });
    resolutions.next().unwrap_or(DEFAULT_RESOLUTION)
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

    #[test]
    fn ticks_are_what_the_interface_says() {
        assert_eq!(nanos(2_000_041, 6), Some(2_000_041_000));
        assert_eq!(nanos(2_000_000_041, 9), Some(2_000_000_041));
        assert_eq!(nanos(3 << 20, 0x94), Some(3_000_000_000));
        assert_eq!(nanos(u128::MAX, 6), None);
    }
}
