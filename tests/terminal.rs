// SPDX-License-Identifier: GPL-2.0-only
//! A terminal for commands that ask who sits there, or show something only to them.

use crate::bench::ProcessOutput;
use nix::pty::openpty;
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// What ends the input, as Ctrl-D on an empty line.
pub const END_OF_INPUT: &str = "\u{4}";

/// Runs a command on a terminal at which this is typed. Its standard error is what the terminal shows, without what is typed.
///
/// # Panics
/// If there can be no terminal, or the command does not start.
pub fn on_terminal(mut command: Command, typed: &str) -> ProcessOutput {
    let pty = openpty(None, None).expect("a terminal");
    let mut how = tcgetattr(&pty.slave).expect("its settings");
    how.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &how).expect("no echo");
    let keyboard = pty.slave.try_clone().expect("the same terminal");
    let child = command.stdin(keyboard).stderr(pty.slave).stdout(Stdio::piped()).spawn().expect("the command starts");
    // It holds the terminal open.
    drop(command);
    let mut terminal = File::from(pty.master);
    terminal.write_all(typed.as_bytes()).expect("typed");
    let shown = read_screen(terminal);
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
