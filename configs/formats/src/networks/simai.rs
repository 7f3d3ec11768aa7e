// SPDX-License-Identifier: GPL-2.0-only
//! Topologies of SimAI: the reference's format with GPUs as hosts, and NVSwitches beside the other switches.

use crate::error::InputError;
use crate::reference::{TopologyFile, Words, read_link};
use crate::scenario::NetworkBuilder;
use std::path::Path;

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<TopologyFile, InputError> {
    let mut words = Words::open(path)?;
    let mut header = |what: &str| {
        let token = words.expect(what)?;
        Ok::<_, InputError>((token.integer(what, u32::MAX.into())?, token.place))
    };
    let (nodes, place) = header("the number of nodes")?;
    let (per_server, _) = header("the number of GPUs in a server")?;
    let (nv_switches, nv_place) = header("the number of NVSwitches")?;
    let (others, _) = header("the number of other switches")?;
    let (links, _) = header("the number of links")?;
    words.expect("the type of the GPUs")?;
    let mut builder = NetworkBuilder::new(nodes, &place)?;
    let switches = nv_switches + others;
    let Some(gpus) = nodes.checked_sub(switches) else {
        return Err(nv_place.error(format!("{switches} switches among {nodes} nodes; expected at most {nodes}")));
    };
    if nv_switches > 0 && gpus != nv_switches * per_server {
        return Err(nv_place.error(format!(
            "{nv_switches} servers of {per_server} GPUs, but {gpus} nodes that are no switches; expected {}",
            nv_switches * per_server
        )));
    }
    for index in 1..=switches {
        let what = format!("the id of switch {index} of {switches}");
        let token = words.expect(&what)?;
        builder.switch(token.integer(&what, u64::MAX)?, &token.place)?;
    }
    for index in 1..=links {
        read_link(&mut words, &mut builder, &format!("of link {index} of {links}"))?;
    }
    let note = words.finish(format_args!("the {links} links that the first line announces"))?;
    let (network, links) = builder.finish();
    Ok(TopologyFile { network, links, note })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::topology::{Link, NodeKind};
    use hpcc_core::units::{BitRate, Nanos};

    fn load(text: &str) -> Result<TopologyFile, String> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.txt");
        std::fs::write(&path, text).expect("written");
        let prefix = format!("{}/", folder.path().display());
        read(&path).map_err(|error| error.to_string().replace(&prefix, ""))
    }

    #[test]
    fn gpus_are_hosts_and_nv_switches_are_switches() {
        let text = "4 2 1 1 4 H100\n2 3\n0 2 2880Gbps 0.000025ms 0\n1 2 2880Gbps 0.000025ms 0\n\
            0 3 400Gbps 0.0005ms 0\n1 3 400Gbps 0.0005ms 0\n";
        let network = load(text).expect("a topology").network;
        assert_eq!(network.nodes, [NodeKind::Host, NodeKind::Host, NodeKind::Switch, NodeKind::Switch]);
        let link = |a, b, gbps, delay| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(delay), loss: 0.0 };
        // The reference's arithmetic takes 0.000025ms for 24 ns.
        assert_eq!(
            network.links,
            [link(0, 2, 2880, 24), link(1, 2, 2880, 24), link(0, 3, 400, 500), link(1, 3, 400, 500)]
        );
        for (text, expected) in [
            ("4 3 1 1 0 H100\n2 3\n", "a.txt:1: 1 servers of 3 GPUs, but 2 nodes that are no switches; expected 3"),
            ("4 2 4 1 0 H100\n", "a.txt:1: 5 switches among 4 nodes"),
            ("4 2 1 1 1 H100\n2 3\n0 4 1Gbps 1us 0\n", "a.txt:3: there is no node 4"),
            ("4 2 1 1 1 H100\n2 2\n", "a.txt:2: switch 2 is listed twice"),
            ("4 2 1 1 1\n", "a.txt:1: the file ends where the type of the GPUs should be"),
        ] {
            let told = load(text).map(|_| ()).expect_err(expected);
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
