// SPDX-License-Identifier: GPL-2.0-only
//! Linux kernels in a row: four network namespaces, the inner two of which are IOAM transit nodes.
//!
//! ```text
//! sender right -- left first right -- left second right -- left sink
//! ```

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{self, Child, Command, Stdio};

const SCRIPT: &str = include_str!("packets.py");
/// Only a kernel with IOAM has it.
const SWITCH: &str = "/proc/sys/net/ipv6/ioam6_id";
const NODES: usize = 4;

pub const SENDER: &str = "2001:db8:1::1";
pub const SINK: &str = "2001:db8:3::2";
/// Ethernet addresses of the link between sender and first node.
pub const SENDER_MAC: [u8; 6] = [2, 0, 0, 0, 1, 1];
pub const FIRST_MAC: [u8; 6] = [2, 0, 0, 0, 1, 2];

/// The configuration of a transit node.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    pub node: u32,
    pub ingress: u16,
    pub egress: u16,
    pub data: u32,
    pub wide_data: u64,
    /// Schema and data of its opaque state snapshot.
    pub snapshot: Option<(u32, &'static str)>,
}

/// The wide form of an id, which a node is told beside it.
pub const fn wide(id: u32) -> u32 {
    id | 1 << 30
}

/// The namespaces, which go when this does. Their names are this process's own.
pub struct Chain {
    names: Vec<String>,
}

impl Drop for Chain {
    fn drop(&mut self) {
        for name in &self.names {
            // An error cannot be reported here.
            let _ = ip(&["netns", "del", name], "");
        }
    }
}

/// Runs `ip`, with lines for its standard input.
fn ip(arguments: &[&str], input: &str) -> Result<(), String> {
    let mut command = Command::new("ip");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("ip: {error}"))?;
    let written = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match written {
        Ok(()) if output.status.success() => Ok(()),
        _ => Err(format!("ip {}: {}", arguments.join(" "), said.trim())),
    }
}

impl Chain {
    /// Namespaces whose transit nodes know an IOAM namespace.
    ///
    /// # Errors
    /// Why this machine cannot have them.
    pub fn new(namespace: u16, identities: &[Identity; 2]) -> Result<Chain, String> {
        if !Path::new(SWITCH).exists() {
            return Err("this kernel has no IOAM".into());
        }
        if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
            return Err("no python3 on this machine".into());
        }
        let mut chain = Chain { names: Vec::new() };
        for node in 0..NODES {
            let name = format!("hpcc-wire-{}-{node}", process::id());
            ip(&["netns", "add", &name], "")?;
            chain.names.push(name);
        }
        for link in 1..NODES {
            chain.link(link)?;
        }
        chain.batch(1, "ioam namespace show\n")?;
        chain.set_up(namespace, identities).expect("what is there can be set up");
        Ok(chain)
    }

    fn set_up(&self, namespace: u16, identities: &[Identity; 2]) -> Result<(), String> {
        for (node, identity) in (1..).zip(identities) {
            self.transit(node, namespace, identity)?;
        }
        for link in 1..NODES {
            self.address(link - 1, "right", &format!("2001:db8:{link}::1"))?;
            self.address(link, "left", &format!("2001:db8:{link}::2"))?;
        }
        self.batch(1, "route add 2001:db8:3::/64 via 2001:db8:2::2\n")?;
        (1..NODES).try_for_each(|link| self.await_link(link))
    }

    /// A cable's far end is known to the near one, and both are awake: a kernel drops what it routes to a device of which it
    /// has not noticed yet that it has a carrier, and that takes a second on a busy machine.
    fn await_link(&self, link: usize) -> Result<(), String> {
        let neighbour = format!("neigh add 2001:db8:{link}::2 lladdr 02:00:00:00:0{link}:02 dev right nud permanent\n");
        self.batch(link - 1, &neighbour)?;
        for (node, device) in [(link - 1, "right"), (link, "left")] {
            let awake = format!(
                "for attempt in $(seq 600); do grep -q up /sys/class/net/{device}/operstate && exit; sleep 0.1; done; \
                 echo {device} stays down >&2; exit 1"
            );
            ip(&["netns", "exec", &self.names[node], "sh", "-c", &awake], "")?;
        }
        Ok(())
    }

    /// A virtual cable.
    fn link(&self, link: usize) -> Result<(), String> {
        let (near, far) = (&self.names[link - 1], &self.names[link]);
        let [a, b] = [1, 2].map(|end| format!("02:00:00:00:0{link}:0{end}"));
        let line =
            format!("link add right address {a} netns {near} type veth peer name left address {b} netns {far}\n");
        ip(&["-batch", "-"], &line)
    }

    /// Makes a node a router with IOAM.
    fn transit(&self, node: usize, namespace: u16, identity: &Identity) -> Result<(), String> {
        let Identity { node: id, ingress, egress, data, wide_data, snapshot } = identity;
        let settings = format!(
            "set -e; cd /proc/sys/net/ipv6; echo 1 >conf/all/forwarding; echo {id} >ioam6_id; \
             echo 1 >conf/left/ioam6_enabled; echo {ingress} >conf/left/ioam6_id; echo {egress} >conf/right/ioam6_id; \
             echo {} >ioam6_id_wide; echo {} >conf/left/ioam6_id_wide; echo {} >conf/right/ioam6_id_wide",
            wide(*id),
            wide((*ingress).into()),
            wide((*egress).into()),
        );
        ip(&["netns", "exec", &self.names[node], "sh", "-c", &settings], "")?;
        // `ip` takes the wide data for hexadecimal.
        let mut lines = format!("ioam namespace add {namespace} data {data} wide {wide_data:x}\n");
        if let Some((schema, data)) = snapshot {
            lines += &format!("ioam schema add {schema} {data}\nioam namespace set {namespace} schema {schema}\n");
        }
        self.batch(node, &lines)
    }

    fn address(&self, node: usize, device: &str, address: &str) -> Result<(), String> {
        self.batch(node, &format!("addr add {address}/64 dev {device} nodad\nlink set {device} up\n"))
    }

    fn batch(&self, node: usize, lines: &str) -> Result<(), String> {
        ip(&["-6", "-n", &self.names[node], "-batch", "-"], lines)
    }

    fn python(&self, node: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[node], "python3", "-c", SCRIPT]).args(arguments);
        command
    }

    /// Sends frames to the first transit node.
    pub fn send(&self, frames: &[Vec<u8>]) {
        let mut child = self.python(0, &["send", "right"]).stdin(Stdio::piped()).spawn().expect("ip starts");
        let hex = |frame: &Vec<u8>| frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
        let lines: String = frames.iter().map(hex).collect();
        child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("the script reads");
        assert!(child.wait().expect("the script ends").success());
    }

    /// Begins to capture so many frames behind a hop, 1 or 2.
    pub fn capture(&self, hop: usize, count: usize) -> Capture {
        let mut command = self.python(hop + 1, &["capture", "left", SINK, &count.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("ip starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut ready = String::new();
        out.read_line(&mut ready).expect("the script says that it is ready");
        Capture { child, out }
    }
}

/// A capture that goes on.
pub struct Capture {
    child: Child,
    out: BufReader<process::ChildStdout>,
}

impl Capture {
    /// The frames, as soon as they are all there.
    pub fn frames(mut self) -> Vec<Vec<u8>> {
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("the script prints digits");
        let byte = |line: &str, at: usize| u8::from_str_radix(&line[at..at + 2], 16).expect("digits");
        text.lines().map(|line| (0..line.len()).step_by(2).map(|at| byte(line, at)).collect()).collect()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
