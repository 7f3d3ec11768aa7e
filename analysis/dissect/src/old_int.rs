// SPDX-License-Identifier: GPL-2.0-only
//! P4's INT of version 1.0, which switches and collectors of before 2020 have: telemetry over TCP and UDP, with a shorter
//! header than INT-MD's, timestamps of 4 bytes, and a shim that counts itself.

use serde_json::{Map, Value, json};

/// Words of shim and header, which the shim counts with the stack.
const FRONT: u8 = 3;
/// Asks for two ports of 4 bytes each; every other bit asks for 4 bytes.
const LEVEL_2_PORTS: u16 = 1 << 9;

/// The telemetry at the front of other bytes, if they prove to be it: all of it is there, reserved bits are zeros, and the words
/// of a hop are those that it asks for.
pub fn read(bytes: &[u8]) -> Option<Value> {
    let (&[kind, r0, length, dscp, flags, r1, hop_words, remaining, i0, i1, r2, r3], stack) =
        bytes.split_first_chunk()?;
    let instructions = u16::from_be_bytes([i0, i1]);
    let words = instructions.count_ones() + u32::from(instructions & LEVEL_2_PORTS != 0);
    let is_reserved = r0 | dscp & 3 | r1 & 0x7f | r2 | r3 != 0;
    let is_version_1 = kind == 1 && flags >> 4 == 1 && !is_reserved && u32::from(hop_words) == words && words > 0;
    let stack = stack.get(..4 * usize::from(length.checked_sub(FRONT)?))?;
    let hop_bytes = 4 * usize::from(hop_words);
    if !is_version_1 || stack.len() % hop_bytes != 0 {
        return None;
    }
    // The newest hop stands first.
    let hops: Vec<Value> = stack.rchunks_exact(hop_bytes).map(|words| hop(instructions, words)).collect();
    Some(json!({
        "format": "int 1.0",
        "original_dscp": dscp >> 2,
        "length_words": length,
        "hop_words": hop_words,
        "remaining_hops": remaining,
        "hops_exhausted": flags & 1 != 0,
        "mtu_exceeded": r1 & 0x80 != 0,
        "instructions": format!("0x{instructions:04x}"),
        "hops": hops,
    }))
}

fn hop(instructions: u16, bytes: &[u8]) -> Value {
    let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word));
    let mut hop = Map::new();
    for bit in (0..16).filter(|bit| instructions & 1 << (15 - bit) != 0) {
        let Some(word) = words.next() else { break };
        let (name, value) = match bit {
            0 => ("node_id", json!(word)),
            1 => ("interfaces", json!([word >> 16, word & 0xffff])),
            2 => ("hop_latency", json!(word)),
            3 => ("queue", json!({ "id": word >> 24, "occupancy": word & 0xff_ffff })),
            4 => ("ingress_time", json!(word)),
            5 => ("egress_time", json!(word)),
            6 => ("level2_interfaces", json!([word, words.next()])),
            7 => ("tx_utilisation", json!(word)),
            15 => ("checksum_complement", json!(word)),
            _ => ("reserved", json!(word)),
        };
        hop.insert(name.into(), value);
    }
    Value::Object(hop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INT 1.0: type 1, 15 words, original DSCP 26; version 1, 6 words a hop, 6 hops left; bits 0, 1, 3, 4 and 6.
    const FRONT_OF_TWO: [u8; 12] = [1, 0, 15, 26 << 2, 0x10, 0, 6, 6, 0xda, 0, 0, 0];

    fn example() -> Vec<u8> {
        let hop = |node: u8| [0, 0, 0, node, 0, 1, 0, 2, 3, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 4, 0, 0, 0, 5];
        [&FRONT_OF_TWO[..], &hop(2), &hop(1), b"payload"].concat()
    }

    #[test]
    fn hops_are_read_in_the_order_of_the_path() {
        let told = read(&example()).expect("INT");
        let hop = |node: u8| {
            json!({
                "node_id": node, "interfaces": [1, 2], "queue": { "id": 3, "occupancy": 256 }, "ingress_time": 257,
                "level2_interfaces": [4, 5],
            })
        };
        assert_eq!((&told["hops"], &told["original_dscp"]), (&json!([hop(1), hop(2)]), &json!(26)));
        assert_eq!((&told["remaining_hops"], &told["hops_exhausted"]), (&json!(6), &json!(false)));
    }

    #[test]
    fn bytes_that_contradict_themselves_are_none() {
        for (at, bit) in [(0, 1), (1, 0), (2, 0), (3, 0), (4, 5), (5, 0), (6, 0), (6, 7), (8, 0), (10, 3), (11, 0)] {
            let mut bytes = example();
            bytes[at] ^= 1 << bit;
            assert_eq!(read(&bytes), None, "bit {bit} of byte {at}");
        }
        let whole = example();
        for len in 0..whole.len() - b"payload".len() {
            assert_eq!(read(&whole[..len]), None, "{len} bytes");
        }
        assert_eq!(read(&[1, 0, 3, 0, 0x10, 0, 0, 6, 0, 0, 0, 0]), None, "it asks for nothing");
    }
}
