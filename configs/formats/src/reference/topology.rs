// SPDX-License-Identifier: GPL-2.0-only
//! The topology file.

use super::words::Words;
use crate::error::InputError;
use crate::place::Place;
use crate::scenario::NetworkBuilder;
use hpcc_core::topology::{Link, Network};
use std::path::Path;

/// The contents of a topology file.
pub(crate) struct TopologyFile {
    pub network: Network,
    /// The place of each link.
    pub links: Vec<Place>,
    /// On the part of the file that is not read.
    pub note: Option<String>,
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<TopologyFile, InputError> {
    let mut words = Words::open(path)?;
    let mut header = |what: &str| {
        let token = words.expect(what)?;
        Ok::<_, InputError>((token.integer(what, u64::MAX)?, token.place))
    };
    let (nodes, place) = header("the number of nodes")?;
    let (switches, switches_place) = header("the number of switches")?;
    let (links, _) = header("the number of links")?;
    let mut builder = NetworkBuilder::new(nodes, &place)?;
    if switches > nodes {
        return Err(switches_place.error(format!("{switches} switches among {nodes} nodes; expected at most {nodes}")));
    }
    for index in 1..=switches {
        let what = format!("the id of switch {index} of {switches}");
        let token = words.expect(&what)?;
        builder.switch(token.integer(&what, u64::MAX)?, &token.place)?;
    }
    for index in 1..=links {
        link(&mut words, &mut builder, &format!("of link {index} of {links}"))?;
    }
    let note = words.finish(format_args!("the {links} links that the first line announces"))?;
    let (network, links) = builder.finish();
    Ok(TopologyFile { network, links, note })
}

/// Reads a link.
pub(crate) fn link(words: &mut Words, builder: &mut NetworkBuilder, which: &str) -> Result<(), InputError> {
    let mut place = None;
    let mut end = |what: &str| {
        let what = format!("the {what} node {which}");
        let token = words.expect(&what)?;
        let node = builder.node(token.integer(&what, u64::MAX)?, &token.place)?;
        place.get_or_insert(token.place);
        Ok(node)
    };
    let (a, b) = (end("first")?, end("second")?);
    let what = |field: &str| format!("the {field} {which}");
    let rate = words.expect(what("rate"))?.rate(what("rate"))?;
    let delay = words.expect(what("delay"))?.delay(what("delay"))?;
    let loss = words.expect(what("loss rate"))?.probability(what("loss rate"))?;
    let place = place.unwrap_or_else(|| words.place());
    builder.link(Link { a, b, rate, delay, loss }, place)
}
