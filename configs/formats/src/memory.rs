// SPDX-License-Identifier: GPL-2.0-only
//! How much memory there is: a network or flows that would need more are refused, before the system ends the run for it.

use hpcc_core::settings::{Value, quantity};
use std::env;
use std::fs;
use std::path::Path;

/// The variable with the memory that network and flows may take, in place of the machine's available memory.
pub const VARIABLE: &str = "HPCC_MEMORY";

/// Bytes that this process may still take: by [`VARIABLE`], or else the machine's available memory within the limit of
/// the control group. `None` if not known.
///
/// # Errors
/// If the variable is no size: a sentence for the user.
pub fn available() -> Result<Option<u64>, String> {
    match env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => quantity::size(&text).map(Some).map_err(|why| format!("{VARIABLE}: {why}")),
        _ => Ok([of_machine(), of_control_group()].into_iter().flatten().min()),
    }
}

/// A number of bytes for people.
pub fn pretty(bytes: u64) -> String {
    match bytes {
        0..10_000_000_000 => Value::Bytes(bytes.div_ceil(1_000_000) * 1_000_000).pretty(),
        _ => format!("{}GB", bytes.div_ceil(1_000_000_000)),
    }
}

fn of_machine() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The group's limit less its use, in version 2 of control groups; limits of its parents are ignored.
fn of_control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let number = |name| -> Option<u64> {
        let file = Path::new("/sys/fs/cgroup").join(own).join(name);
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    number("memory.max").map(|limit| limit.saturating_sub(number("memory.current").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!([1, 2_000_000, 9_999_999_999].map(pretty), ["1MB", "2MB", "10000MB"]);
        assert_eq!(pretty(28_300_000_000), "29GB");
    }

    #[test]
    fn a_machine_has_memory() {
        assert!(of_machine().is_none_or(|bytes| bytes > 1 << 20));
    }
}
