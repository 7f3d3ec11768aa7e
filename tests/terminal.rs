// SPDX-License-Identifier: GPL-2.0-only
//! A terminal for commands that show something only to who sits there.

use crate::bench::ProcessOutput;
use nix::pty::openpty;
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

/// Runs a command on a terminal. Its standard error is what the terminal shows.
///
/// # Panics
/// If there can be no terminal, or the command does not start.
pub fn on_terminal(mut command: Command) -> ProcessOutput {
    let pty = openpty(None, None).expect("a terminal");
    let keyboard = pty.slave.try_clone().expect("the same terminal");
    let child = command.stdin(keyboard).stderr(pty.slave).stdout(Stdio::piped()).spawn().expect("the command starts");
    // It holds the terminal open.
    drop(command);
    let shown = read_screen(File::from(pty.master));
    let output = child.wait_with_output().expect("the command ends");
    ProcessOutput { err: shown, ..ProcessOutput::from(output) }
}

/// All that is shown; when the last program closes a terminal, reading it is an error.
fn read_screen(mut terminal: File) -> String {
    let (mut shown, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
    }
    String::from_utf8_lossy(&shown).replace("\r\n", "\n")
}
