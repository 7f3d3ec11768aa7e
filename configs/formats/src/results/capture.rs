// SPDX-License-Identifier: GPL-2.0-only
//! `packets.pcap`: frames as bytes, with nanoseconds.

use super::ResultError;
use super::digest::{Digested, FileDigest};
use hpcc_core::units::Nanos;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No frame is longer.
const SNAP_LENGTH: u32 = 65_535;

/// A capture being written.
#[derive(Debug)]
pub(crate) struct Capture {
    path: PathBuf,
    out: PcapWriter<BufWriter<Digested>>,
}

impl Capture {
    pub(crate) fn create(folder: &Path, name: &str) -> Result<Capture, ResultError> {
        let path = folder.join(name);
        let file = Digested::create(&path).map_err(|cause| ResultError::io(&path, cause))?;
        let header = PcapHeader {
            snaplen: SNAP_LENGTH,
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            ..PcapHeader::default()
        };
        let out = PcapWriter::with_header(BufWriter::new(file), header).map_err(|error| failure(&path, error))?;
        Ok(Capture { path, out })
    }

    /// Adds a frame that was seen at `now`.
    pub(crate) fn write(&mut self, now: Nanos, frame: &[u8]) -> Result<(), ResultError> {
        let packet = PcapPacket::new(Duration::from_nanos(now.0), frame.len() as u32, frame);
        self.out.write_packet(&packet).map(|_| ()).map_err(|error| failure(&self.path, error))
    }

    /// Hands everything to the system, and says what the file holds.
    pub(crate) fn finish(self) -> Result<FileDigest, ResultError> {
        let mut out = self.out.into_writer();
        out.flush().map_err(|cause| ResultError::io(&self.path, cause))?;
        Ok(out.get_ref().digest(&self.path))
    }
}

fn failure(path: &Path, error: PcapError) -> ResultError {
    if let PcapError::IoError(cause) = error {
        return ResultError::io(path, cause);
    }
    ResultError::io(path, io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_with_their_nanosecond() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let mut capture = Capture::create(dir.path(), "packets.pcap").expect("created");
        capture.write(Nanos(2_000_000_041), &[1, 2, 3]).expect("written");
        capture.finish().expect("flushed");
        let bytes = std::fs::read(dir.path().join("packets.pcap")).expect("there");
        // libpcap's file format: magic of nanosecond files, version 2.4, link type 1; then seconds, nanoseconds, lengths.
        let words: Vec<u32> = bytes[..40].chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [0xa1b2_3c4d, 0x0002_0004, 0, 0, 65_535, 1, 2, 41, 3, 3]);
        assert_eq!(bytes[40..], [1, 2, 3]);
    }
}
