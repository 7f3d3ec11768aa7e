// SPDX-License-Identifier: GPL-2.0-only
//! `packets.pcap` or `packets.pcapng`: frames as bytes, with nanoseconds.

use super::ResultError;
use super::digest::{Digested, FileDigest};
use hpcc_core::settings::Named;
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No frame is longer.
const SNAP_LENGTH: u32 = 65_535;
/// pcapng's word for nanoseconds: 10^-9 seconds.
const NANOSECONDS: u8 = 9;

hpcc_core::named! {
    /// Format of a capture.
    #[derive(Default)]
    pub enum CaptureFormat {
        /// pcap, which all tools read.
        #[default]
        Pcap = "pcap",
        /// pcapng, in which each node is an interface with a name.
        Pcapng = "pcapng",
    }
}

/// A capture being written.
#[derive(Debug)]
pub(crate) struct Capture {
    path: PathBuf,
    out: Out,
}

enum Out {
    Pcap(PcapWriter<BufWriter<Digested>>),
    /// With the nodes that are its interfaces, ascending.
    Pcapng(PcapNgWriter<BufWriter<Digested>>, Vec<u32>),
}

impl Capture {
    /// Begins the capture of some nodes, ascending, of a network.
    pub(crate) fn create(
        folder: &Path,
        format: CaptureFormat,
        nodes: &[u32],
        network: &Network,
    ) -> Result<Capture, ResultError> {
        let path = folder.join(format!("packets.{}", format.name()));
        let file = Digested::create(&path).map_err(|cause| ResultError::io(&path, cause))?;
        let out = Out::new(BufWriter::new(file), format, nodes, network).map_err(|error| failure(&path, error))?;
        Ok(Capture { path, out })
    }

    /// Adds a frame that was seen at a node at `now`.
    pub(crate) fn write(&mut self, now: Nanos, node: u32, frame: &[u8]) -> Result<(), ResultError> {
        let (time, len) = (Duration::from_nanos(now.0), frame.len() as u32);
        let written = match &mut self.out {
            Out::Pcap(out) => out.write_packet(&PcapPacket::new(time, len, frame)),
            Out::Pcapng(out, nodes) => out.write_pcapng_block(EnhancedPacketBlock {
                interface_id: nodes.partition_point(|&known| known < node) as u32,
                timestamp: time,
                original_len: len,
                data: frame.into(),
                options: Vec::new(),
            }),
        };
        written.map(|_| ()).map_err(|error| failure(&self.path, error))
    }

    /// Hands everything to the system, and says how the file is called and what it holds.
    pub(crate) fn finish(self) -> Result<(String, FileDigest), ResultError> {
        let mut out = match self.out {
            Out::Pcap(out) => out.into_writer(),
            Out::Pcapng(out, _) => out.into_inner(),
        };
        out.flush().map_err(|cause| ResultError::io(&self.path, cause))?;
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok((name, out.get_ref().digest(&self.path)))
    }
}

impl Out {
    fn new(
        file: BufWriter<Digested>,
        format: CaptureFormat,
        nodes: &[u32],
        network: &Network,
    ) -> Result<Out, PcapError> {
        if format == CaptureFormat::Pcap {
            let header = PcapHeader {
                snaplen: SNAP_LENGTH,
                datalink: DataLink::ETHERNET,
                ts_resolution: TsResolution::NanoSecond,
                ..PcapHeader::default()
            };
            return PcapWriter::with_header(file, header).map(Out::Pcap);
        }
        let mut out = PcapNgWriter::new(file)?;
        for &node in nodes {
            let kind = if network.is_host(node) { "host" } else { "switch" };
            let options = vec![
                InterfaceDescriptionOption::IfName(format!("{kind} {node}").into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let linktype = DataLink::ETHERNET;
            out.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: SNAP_LENGTH, options })?;
        }
        Ok(Out::Pcapng(out, nodes.to_vec()))
    }
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Out::Pcap(_)) { "Pcap" } else { "Pcapng" })
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
        let network = Network::default();
        let mut capture = Capture::create(dir.path(), CaptureFormat::Pcap, &[4], &network).expect("created");
        capture.write(Nanos(2_000_000_041), 4, &[1, 2, 3]).expect("written");
        capture.finish().expect("flushed");
        let bytes = std::fs::read(dir.path().join("packets.pcap")).expect("there");
        // libpcap's file format: magic of nanosecond files, version 2.4, link type 1; then seconds, nanoseconds, lengths.
        let words: Vec<u32> = bytes[..40].chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [0xa1b2_3c4d, 0x0002_0004, 0, 0, 65_535, 1, 2, 41, 3, 3]);
        assert_eq!(bytes[40..], [1, 2, 3]);
    }
}
