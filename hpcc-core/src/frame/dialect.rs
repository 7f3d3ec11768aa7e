// SPDX-License-Identifier: MIT OR Apache-2.0
//! What means telemetry where the standards leave it open.

use super::{Encapsulation, Fault, IFA_PROTOCOL, INT_MARK, MARK_BITS, SectionLen, TELEMETRY_MARK};
use crate::roce;
use crate::telemetry::ifa::header::{self, Flags, Header};
use crate::telemetry::ifa::metadata_header::{self, MetadataHeader};
use crate::telemetry::ifa::transit::OPTIONAL_LEN;
use crate::telemetry::int_md::shim::{Next, Shim};

/// Which numbers announce telemetry. An IPv6 hop-by-hop header does in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect<'a> {
    /// UDP destination ports other than RoCEv2's, and how long the section behind them is.
    pub ports: &'a [(u16, SectionLen)],
    /// Low bits of the DSCP of packets to RoCEv2's own port, and the same.
    pub marks: &'a [(u8, SectionLen)],
    /// The IP protocol of IFA.
    pub ifa_protocol: u8,
}

impl Default for Dialect<'static> {
    /// Our marks and protocol, compact INT as in the paper.
    fn default() -> Self {
        Dialect {
            ports: &[],
            marks: &[(TELEMETRY_MARK, SectionLen::Compact { header: 2 }), (INT_MARK, SectionLen::IntMd)],
            ifa_protocol: IFA_PROTOCOL,
        }
    }
}

impl Dialect<'_> {
    /// How a packet with this UDP destination port and DSCP carries a section behind UDP, and how long it is; `None` if
    /// neither announces one.
    pub(super) fn announced(&self, port: u16, dscp: u8) -> Option<(Encapsulation, SectionLen)> {
        let by_port = self.ports.iter().find(|&&(known, _)| known == port);
        let by_port = by_port.map(|&(port, len)| (Encapsulation::BehindUdp { port }, len));
        let mark = |&&(known, _): &&(u8, SectionLen)| known == dscp & MARK_BITS && port == roce::PORT;
        by_port.or_else(|| self.marks.iter().find(mark).map(|&(mark, len)| (Encapsulation::Marked { mark }, len)))
    }
}

impl SectionLen {
    /// Bytes of the section at the front of `bytes`, of which there may be fewer.
    pub(super) fn of(self, bytes: &[u8]) -> Result<usize, Fault> {
        match self {
            SectionLen::Compact { header } => {
                let first = bytes.first().ok_or(Fault::Truncated)?;
                Ok(usize::from(header) + 8 * usize::from(first >> 4))
            }
            SectionLen::IntMd => {
                let shim = bytes.first_chunk().ok_or(Fault::Truncated)?;
                let shim = Shim::parse(shim).map_err(|_| Fault::Unexpected)?;
                match shim.next {
                    Next::Dscp(_) | Next::UdpPort(roce::PORT) => Ok(shim.section_len()),
                    Next::UdpPort(_) | Next::Protocol(_) => Err(Fault::Unexpected),
                }
            }
            SectionLen::Fixed(len) => Ok(usize::from(len)),
        }
    }
}

/// Bytes of the IFA section behind UDP, of which `bytes` may have fewer. Its `header` stands in front of UDP.
pub(super) fn ifa_behind_udp(header: &[u8; header::LEN], bytes: &[u8]) -> Result<usize, Fault> {
    let Flags { fragmented, tail_stamp, checksum, .. } = Header::parse(header).flags;
    if tail_stamp {
        return Err(Fault::Unexpected);
    }
    let optional = OPTIONAL_LEN * (usize::from(fragmented) + usize::from(checksum));
    let front = bytes.get(optional..).and_then(<[u8]>::first_chunk).ok_or(Fault::Truncated)?;
    Ok(optional + metadata_header::LEN + 4 * usize::from(MetadataHeader::parse(front).current_length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn int_in_front_of_something_else_is_not_ours() {
        assert_eq!(SectionLen::IntMd.of(&hex("140712b6")), Err(Fault::Unexpected), "another port");
        assert_eq!(SectionLen::IntMd.of(&hex("10070060")), Ok(32), "a DSCP in place of the port");
        assert_eq!(SectionLen::IntMd.of(&hex("18070011")), Err(Fault::Unexpected), "a protocol");
        assert_eq!(SectionLen::IntMd.of(&hex("140712")), Err(Fault::Truncated));
    }
}
