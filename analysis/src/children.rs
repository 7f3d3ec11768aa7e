// SPDX-License-Identifier: GPL-2.0-only
//! Simulators end with this process: a signal that ends it ends them first.

use std::fs;
use std::io;
use std::process::{self, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use shared_child::SharedChild;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Names this process to a simulator, which ends with it even if it is killed (SIGKILL).
const PARENT_VARIABLE: &str = "HPCC_PARENT";

/// The child processes in progress.
static RUNNING: Mutex<Vec<Arc<SharedChild>>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

fn running() -> MutexGuard<'static, Vec<Arc<SharedChild>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a command and waits for its end.
///
/// # Errors
/// If it cannot be started.
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    WATCH.call_once(watch);
    command.env(PARENT_VARIABLE, process::id().to_string());
    let child = {
        // While a signal is being obeyed, nothing more starts.
        let mut running = running();
        let child = Arc::new(SharedChild::spawn(command)?);
        running.push(Arc::clone(&child));
        child
    };
    let status = child.wait();
    running().retain(|other| !Arc::ptr_eq(other, &child));
    status
}

/// Obeys signals from now on. Without a thread to do it they end this process alone.
fn watch() {
    let ignored = ignored_signals();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(heeded) else { return };
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        let running = running();
        for child in running.iter() {
            // One that has just ended cannot be ended.
            let _ = child.kill();
        }
        // Ends the process as the signal would have.
        let _ = emulate_default_handler(signal);
    });
}

/// Signals that shall not end this process, as `nohup` says: a bit each, from 1.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
