// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why bytes are no frame, or a description none.

/// The description cannot be a frame: a packet of more than 65,535 bytes; extension headers over IPv4; a number that
/// its field does not hold; an extension header that is not whole, or names another header than the one behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbuildable;

/// A fault in the bytes of a frame, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where the layer begins in the frame, in bytes.
    pub offset: usize,
    /// The layer whose header is wrong.
    pub layer: Layer,
    /// The fault.
    pub fault: Fault,
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Layer {
    Ethernet,
    Vlan,
    Pfc,
    Ip,
    HopByHop,
    Ifa,
    DestinationOptions,
    Udp,
    Telemetry,
    BaseTransport,
    ExtendedTransport,
    Payload,
    Icrc,
}

/// A fault of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before it does.
    Truncated,
    /// Its length is impossible, or contradicts another layer's.
    Length,
    /// Its checksum is wrong.
    Checksum,
    /// A type, version, protocol or port that is not known.
    Unknown,
    /// Known, but of no use here: a fragment, telemetry in a packet that has some already.
    Unexpected,
}
