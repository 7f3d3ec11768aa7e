// SPDX-License-Identifier: MIT OR Apache-2.0
//! In-band Flow Analyzer 2.0: its headers, the 32 bytes of a hop, and the profile in which HPCC uses them
//! (draft-miao-rtgwg-hpccplus-00, section 6.1.1).
//!
//! ```text
//! IFA header       Ver (4) | GNS (4) | NextHdr (8) | R R R MF TS I TA C | Max Length (8) words
//! [checksum]       checksum (16) | reserved (16)                          if C
//! [fragment]       packet id (26) | fragment id (5) | last (1)            if MF
//! metadata header  request (8) | action (8) | Hop Limit (8) | Current Length (8) words
//! stack            8 words a hop, newest hop first, big-endian
//! ```
//! A *section* is all of that in this order. On the wire its first 4 bytes stand between IP and UDP (the IP header
//! names the experimental protocol, the IFA header names UDP) and the rest between UDP and BTH: whoever builds or
//! parses a frame splices them. UDP length and checksum are not changed by transit hops.
//!
//! | file | holds |
//! | --- | --- |
//! | [`header`], [`metadata_header`], [`metadata`] | the headers and an entry, read and written |
//! | [`transit`] | what a hop does to a section |
//! | [`hpcc`] | the profile that carries time, sent bytes and queue |
//!
//! The draft's text was not at hand. Where its re-implementations contradict each other or are silent:
//! - version 2, not 3; device ids of 20 bits, not 28; the first word is 4 | 20 | 8 bits;
//! - words 5 to 7 of a hop are the profile's; the format of a hop is named by its LNS, so GNS must be 0xf;
//! - Max Length and Current Length count the words of the stack alone;
//! - a hop that finds no room for its entry decrements the hop limit all the same;
//! - the request vector is 0: the profile, not the packet, says which fields a hop fills;
//! - what the checksum covers and where a tail stamp goes is not known: packets with C or TS are left as they are;
//! - a link rate without code is "unknown", 15: the hop is there, and the reader refuses the section.

pub mod header;
pub mod hpcc;
pub mod metadata;
pub mod metadata_header;
pub mod transit;
