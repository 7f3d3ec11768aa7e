// SPDX-License-Identifier: GPL-2.0-only
//! The topology file.

use super::nvlink::{Header, Nvlink};
use hpcc_core::topology::{Link, Network};
use hpcc_core::units::Rounding;
use hpcc_model::error::InputError;
use hpcc_model::input;
use hpcc_model::place::Place;
use hpcc_model::scenario::NetworkBuilder;
use hpcc_model::words::Words;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The contents of a topology file.
pub(crate) struct TopologyFile {
    pub network: Network,
    /// The place of each link.
    pub links: Vec<Place>,
    /// On the part of the file that is not read.
    pub note: Option<String>,
    /// Of a topology of SimAI: who has NVSwitches.
    header: Option<Header>,
}

impl TopologyFile {
    /// A network without NVSwitches.
    pub fn new(network: Network, links: Vec<Place>, note: Option<String>) -> TopologyFile {
        TopologyFile { network, links, note, header: None }
    }

    /// Takes the NVLinks out of a network of SimAI, for jobs.
    pub fn take_nvlink(&mut self) -> Option<Nvlink> {
        let (nvlink, told) = self.header.take()?.take(&mut self.network, &mut self.links)?;
        self.note = Some(self.note.take().map_or_else(String::new, |note| note + "; ") + &told);
        Some(nvlink)
    }
}

/// Reads the file, whose times and rates are rounded like this.
pub(crate) fn read(path: &Path, rounding: Rounding) -> Result<TopologyFile, InputError> {
    let guess = Guess::of(path);
    let mut words = Words::open(path)?;
    let mut header = |what: &str| {
        let token = words.expect(what)?;
        Ok::<_, InputError>((token.integer(what, u64::MAX)?, token.place))
    };
    let (nodes, place) = header("the number of nodes")?;
    let (mut switches, switches_place) = header("the number of switches")?;
    let (mut links, _) = header("the number of links")?;
    let mut simai = None;
    let guessed = guess.map(|guess| {
        simai = guess.simai.clone();
        (switches, links) = (guess.switches, guess.links);
        (3..guess.words)
            .try_for_each(|_| words.expect("a word of the first line").map(drop))
            .map(|()| guess.note(&place))
    });
    let guessed = guessed.transpose()?;
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
        link(&mut words, &mut builder, rounding, &format!("of link {index} of {links}"))?;
    }
    let note = words.finish(format_args!("the {links} links that the first line announces"))?.or(guessed);
    let (network, links) = builder.finish();
    Ok(TopologyFile { header: simai, ..TopologyFile::new(network, links, note) })
}

/// Descendants have more words in the first line, in another order: the lines tell how many switches and links there are.
struct Guess {
    words: usize,
    /// Of a topology of SimAI, how many links it announces.
    announced: Option<u64>,
    switches: u64,
    links: u64,
    simai: Option<Header>,
}

impl Guess {
    /// `None` of the 2019 simulator's three words, and where the lines do not agree with the first one, unless that is SimAI's.
    fn of(path: &Path) -> Option<Guess> {
        let mut lines = BufReader::new(input::open(path).ok()?).lines().map_while(Result::ok);
        let first = lines.next()?;
        let header: Vec<&str> = first.split_whitespace().collect();
        if header.len() <= 3 {
            return None;
        }
        let is_number = |word: &str| word.parse::<u64>().is_ok();
        let switches = lines.next()?.split_whitespace().filter(|word| is_number(word)).count() as u64;
        let is_link = |line: &String| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.len() == 5 && is_number(words[0]) && is_number(words[1])
        };
        let links = lines.filter(|line| !line.trim().is_empty()).take_while(is_link).count() as u64;
        let simai = Header::of(&header, switches);
        let announced = Header::announced(&header);
        (announced.is_some() || header[1..].contains(&links.to_string().as_str())).then_some(Guess {
            words: header.len(),
            announced,
            switches,
            links,
            simai,
        })
    }

    fn note(&self, place: &Place) -> String {
        let Guess { words, announced, switches, links, .. } = self;
        let differ = announced.filter(|announced| announced != links);
        let announced = differ.map(|announced| format!("; {announced} links are announced")).unwrap_or_default();
        let found = format!("{words} words: {switches} switches and {links} links, as the lines tell{announced}");
        place.error(found).to_string()
    }
}

fn link(words: &mut Words, builder: &mut NetworkBuilder, rounding: Rounding, which: &str) -> Result<(), InputError> {
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
    let rate = words.expect(what("rate"))?.rate(what("rate"), rounding)?;
    let delay = words.expect(what("delay"))?.delay(what("delay"), rounding)?;
    let loss = words.expect(what("loss rate"))?.probability(what("loss rate"))?;
    let place = place.unwrap_or_else(|| words.place());
    builder.link(Link { a, b, rate, delay, loss }, place)
}
