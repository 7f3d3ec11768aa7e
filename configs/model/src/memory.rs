// SPDX-License-Identifier: GPL-2.0-only
//! How much memory there is: a network, flows or a file that would need more are refused, before the system ends the run for it.

use hpcc_core::settings::{Value, quantity};
use std::cell::Cell;
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
        _ => Ok([of_machine(), of_control_group(), of_process()].into_iter().flatten().min()),
    }
}

/// How to go on in spite of a refusal.
pub fn insist() -> String {
    format!("or {VARIABLE}=SIZE in the environment to try it all the same")
}

/// Refuses what takes so many bytes, if more than there are.
///
/// # Errors
/// A sentence for the user.
pub fn refuse(bytes: u64, what: &str) -> Result<(), String> {
    Budget::new()?.take(bytes, what)
}

/// Operations of all jobs of a scenario together.
pub(crate) const MOST_OPERATIONS: u64 = 1 << 25;
/// For each operation of a job, as measured with collectives among them.
const PER_OPERATION: u64 = 160;

/// What any file may take.
const FEW: u64 = 64 << 20;
/// What a file may take beyond, for each of its bytes: more than what people and programs write takes.
const PER_BYTE: u64 = 64;
/// The same of a compressed one.
const PER_PACKED_BYTE: u64 = 4 * PER_BYTE;

/// Memory that reading a scenario may take, with all that it names.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u64>,
    operations: Cell<u64>,
    /// The user says how much there is, whatever the sizes of files.
    is_given: bool,
}

impl Budget {
    /// All that is [`available`].
    ///
    /// # Errors
    /// As [`available`].
    pub fn new() -> Result<Budget, String> {
        let left = available()?.unwrap_or(u64::MAX);
        let is_given = env::var(VARIABLE).is_ok_and(|text| !text.is_empty());
        Ok(Budget { left: Cell::new(left), operations: Cell::new(0), is_given })
    }

    /// Takes bytes for good.
    ///
    /// # Errors
    /// If there are fewer: a sentence for the user.
    pub fn take(&self, bytes: u64, what: &str) -> Result<(), String> {
        let left = self.left.get();
        self.left.set(left.checked_sub(bytes).ok_or_else(|| {
            format!(
                "{what} would take about {} of memory, and {} are available; expected less of it, {}",
                pretty(bytes),
                pretty(left),
                insist()
            )
        })?);
        Ok(())
    }

    /// Takes operations of a job, with their memory.
    ///
    /// # Errors
    /// If they are too many: a sentence for the user.
    pub fn operations(&self, count: u128) -> Result<(), String> {
        let before = self.operations.get();
        let all = count + u128::from(before);
        if all > MOST_OPERATIONS.into() {
            let others = if before > 0 { format!(" beside {before} of other jobs") } else { String::new() };
            return Err(format!("there would be {count} operations{others}; expected at most {MOST_OPERATIONS}"));
        }
        self.operations.set(all as u64);
        self.take(count as u64 * PER_OPERATION, &format!("{count} operations"))
    }

    /// What reading a file of so many bytes may take for the time being.
    pub fn file(&self, bytes: usize, is_packed: bool) -> FileBudget {
        let of_size =
            FEW.saturating_add((if is_packed { PER_PACKED_BYTE } else { PER_BYTE }).saturating_mul(bytes as u64));
        let of_machine = self.left.get();
        let most = if self.is_given { of_machine } else { of_machine.min(of_size) };
        FileBudget { bytes: bytes as u64, most, is_by_size: most < of_machine, taken: Cell::new(0) }
    }
}

/// Memory that reading a file may take.
#[derive(Debug)]
pub struct FileBudget {
    bytes: u64,
    most: u64,
    is_by_size: bool,
    taken: Cell<u64>,
}

impl FileBudget {
    /// Takes so many bytes more.
    ///
    /// # Errors
    /// If that is too much: a sentence for the user.
    pub fn take(&self, bytes: u64) -> Result<(), String> {
        let taken = self.taken.get().saturating_add(bytes);
        self.taken.set(taken);
        if taken <= self.most {
            return Ok(());
        }
        let most = pretty(self.most);
        let why = match self.is_by_size {
            true => format!("as much as a file of {} bytes may take", self.bytes),
            false => "all that is available".into(),
        };
        Err(format!("what it holds takes more than {most} of memory, {why}; expected less in it, {}", insist()))
    }

    /// Takes `count` times the memory of a `T`, as a list that grows takes it.
    ///
    /// # Errors
    /// As [`FileBudget::take`].
    pub fn take_list<T>(&self, count: u64) -> Result<(), String> {
        self.take(count.saturating_mul(2 * size_of::<T>() as u64))
    }

    /// Whether there are so many bytes more, which are needed for a moment only.
    ///
    /// # Errors
    /// As [`FileBudget::take`].
    pub fn spare(&self, bytes: u64) -> Result<(), String> {
        let taken = self.taken.get();
        self.take(bytes)?;
        self.taken.set(taken);
        Ok(())
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken.get())
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

/// The limit of this process's addresses less those that it uses.
fn of_process() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // "unlimited" is no number.
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    Some(limit.saturating_sub(line.split_whitespace().next()?.parse::<u64>().ok()? << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(left: u64, is_given: bool) -> Budget {
        Budget { left: Cell::new(left), operations: Cell::new(0), is_given }
    }

    #[test]
    fn jobs_share_what_there_is() {
        let shared = budget(1 << 40, false);
        assert_eq!(shared.operations(u128::from(MOST_OPERATIONS) - 1), Ok(()));
        let told = shared.operations(2).expect_err("too many");
        assert_eq!(told, "there would be 2 operations beside 33554431 of other jobs; expected at most 33554432");
        let told = budget(PER_OPERATION, false).operations(2).expect_err("no memory");
        assert!(told.starts_with("2 operations would take about 1MB of memory, and 1MB are available"), "{told}");
        assert!(budget(1 << 40, false).operations(u128::from(u64::MAX)).is_err());
    }

    #[test]
    fn a_file_takes_by_its_size() {
        let all = budget(1 << 40, false);
        let (small, packed) = (all.file(1_000_000, false), all.file(1_000_000, true));
        assert_eq!((small.left(), packed.left()), (FEW + 64_000_000, FEW + 256_000_000));
        assert_eq!(small.take(FEW), Ok(()));
        let told = small.take(64_000_001).expect_err("too much");
        assert!(
            told.contains("takes more than 132MB of memory, as much as a file of 1000000 bytes may take"),
            "{told}"
        );
        // Unless somebody says how much there is.
        assert_eq!(budget(1 << 40, true).file(1, false).take(1 << 40), Ok(()));
        let told = budget(1_000_000, false).file(1, false).take_list::<u64>(u64::MAX).expect_err("too much");
        assert!(told.contains("more than 1MB of memory, all that is available"), "{told}");
    }

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
