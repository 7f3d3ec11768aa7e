// SPDX-License-Identifier: GPL-2.0-only
//! GOAL in binary form, of little-endian numbers without gaps.
//!
//! A magic number of 8 bytes; the number of ranks (4 bytes), highest CPU and NIC (1 each); for each rank the offsets of its begin and
//! end (8 each), counted from behind the magic number. A rank has the numbers of its operations and of those that require none
//! (4 each), the latter's list, the operations, and lists of operations that require others.

use super::goal::{ANY, Need, Operation, OperationKind, Rank};
use crate::flow::MOST_BYTES;
use crate::memory::FileBudget;
use hpcc_core::units::Nanos;

const MAGIC: u64 = 4223;
/// Bytes of an operation.
const OPERATION: u64 = 39;

/// Whether a file begins as this form does.
pub fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// Bytes that are read one number after the other.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (first, rest) = self.0.split_first_chunk().ok_or("the file ends too soon; expected the whole of it")?;
        self.0 = rest;
        Ok(*first)
    }

    fn u8(&mut self) -> Result<u8, String> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }
}

/// What the ranks do. Parts of ranks, and lists in them, may overlap, so that a small file can say much.
pub(super) fn read(bytes: &[u8], most: u32, room: &FileBudget) -> Result<Vec<Rank>, String> {
    let base = &bytes[size_of_val(&MAGIC)..];
    let mut head = Numbers(base);
    let count = head.u32()?;
    if count == 0 || count > most {
        return Err(format!("there are {count} ranks and {most} hosts for them; expected 1 to {most}"));
    }
    let _highest = (head.u8()?, head.u8()?);
    let mut ranks = Vec::new();
    for number in 0..count {
        let extent = (head.u64()?, head.u64()?);
        let part = usize::try_from(extent.0).ok().zip(usize::try_from(extent.1).ok());
        let part = part.and_then(|(start, end)| base.get(start..end)).ok_or_else(|| {
            let (start, end) = extent;
            format!("rank {number} is from {start} to {end} of {} bytes; expected a part of them", base.len())
        })?;
        ranks.push(rank(Numbers(part), count, room).map_err(|message| format!("rank {number}: {message}"))?);
    }
    Ok(ranks)
}

fn rank(mut bytes: Numbers<'_>, ranks: u32, room: &FileBudget) -> Result<Rank, String> {
    let (count, roots) = (bytes.u32()?, bytes.u32()?);
    for _ in 0..roots {
        bytes.u32()?;
    }
    // What is made of an operation, and of a list's entry: their edges in a graph beside themselves.
    room.take_list::<(Operation, [(u32, u32); 4])>(u64::from(count).min(bytes.0.len() as u64 / OPERATION))?;
    let mut rank = Rank::default();
    // Which entries of the lists require each operation: its end, and its begin.
    let mut lists = Vec::new();
    for number in 0..count {
        let wrong = |message: String| Err(format!("operation {number}: {message}"));
        let _missing = bytes.u32()?;
        let what = match bytes.u8()? {
            1 => OperationKind::Send,
            2 => OperationKind::Receive,
            3 => OperationKind::Compute,
            other => return wrong(format!("its type is {other}; expected 1 (send), 2 (recv) or 3 (calc)")),
        };
        let (peer, size, tag) = (bytes.u32()?, bytes.u64()?, bytes.u32()?);
        let (cpu, nic) = (bytes.u8()?, bytes.u8()?);
        let is_wild = what == OperationKind::Receive && peer == ANY;
        if what != OperationKind::Compute && peer >= ranks && !is_wild {
            return wrong(format!("rank {peer} is none of the {ranks} ranks; expected 0 to {}", ranks - 1));
        }
        let most = if what == OperationKind::Compute { Nanos::LONGEST.0 } else { MOST_BYTES };
        if size > most {
            return wrong(format!("its size is {size}; expected at most {most}"));
        }
        // A computation has neither peer nor tag nor NIC, whatever stands there.
        let (peer, tag, nic) = if what == OperationKind::Compute { (0, 0, 0) } else { (peer, tag, nic) };
        rank.operations.push(Operation { what, size, peer, tag, cpu, nic });
        for at_end in [true, false] {
            let (length, first) = (bytes.u32()?, bytes.u32()?);
            lists.push((number, at_end, first as usize..first as usize + length as usize));
        }
    }
    let (entries, _) = bytes.0.as_chunks::<4>();
    for (other, at_end, list) in lists {
        let list =
            entries.get(list).ok_or_else(|| format!("operation {other}: its list of others is not in the file"))?;
        room.take_list::<(Need, [u32; 4])>(list.len() as u64)?;
        for operation in list.iter().map(|entry| u32::from_le_bytes(*entry)) {
            if operation >= count {
                return Err(format!(
                    "operation {operation} requires {other}, but there are {count}; expected lower numbers"
                ));
            }
            rank.needs.push(Need { operation, other, at_end });
        }
    }
    Ok(rank)
}
