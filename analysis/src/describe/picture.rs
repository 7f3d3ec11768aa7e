// SPDX-License-Identifier: GPL-2.0-only
//! A network as a picture: a row of boxes for each tier, hosts at the bottom. Nodes with the same links are one box, and links between
//! two boxes are one line, so that a thousand hosts can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hpcc_core::topology::Network;
use hpcc_core::units::BitRate;

use super::tiers::by_tier;
use crate::human;
use crate::plot::palette::variant;

/// More boxes than this are several rows.
const MOST_IN_A_ROW: usize = 128;
/// More lines than this have their number in their tooltip alone.
const MOST_LABELS: usize = 400;
/// Pixels: the room of a box and its size, the least distance of tiers, that of rows within one, and the edge of the picture.
const ROOM: usize = 40;
const BOX: (usize, usize) = (34, 22);
const TIER: usize = 190;
const ROW: usize = 70;
const EDGE: usize = 40;

/// Nodes with the same links.
struct Alike {
    nodes: Vec<u32>,
    is_host: bool,
    /// The middle.
    at: (usize, usize),
}

/// The picture, as SVG.
pub fn svg(network: &Network) -> String {
    let (boxes, size) = place(network);
    let mut box_of = vec![0; network.nodes.len()];
    for (index, alike) in boxes.iter().enumerate() {
        alike.nodes.iter().for_each(|&node| box_of[node as usize] = index);
    }
    let mut lines: BTreeMap<(usize, usize, BitRate), u64> = BTreeMap::new();
    for link in &network.links {
        let (a, b) = (box_of[link.a as usize], box_of[link.b as usize]);
        *lines.entry((a.min(b), a.max(b), link.rate)).or_default() += 1;
    }
    let rates: BTreeSet<BitRate> = lines.keys().map(|&(.., rate)| rate).collect();
    let color = |rate: &BitRate| {
        let color = variant(rates.iter().position(|known| known == rate).unwrap_or(0));
        format!("#{:02x}{:02x}{:02x}", color.0, color.1, color.2)
    };
    let (width, height) = size;
    // Writing to a string cannot fail.
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"10\" text-anchor=\"middle\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (&(a, b, rate), &count) in &lines {
        let (from, to) = (boxes[a].at, boxes[b].at);
        // Within a row a line would run through boxes, and over others.
        let bend = if from.1 == to.1 { 12 + from.0.abs_diff(to.0) / 8 } else { 0 };
        let middle = (usize::midpoint(from.0, to.0), usize::midpoint(from.1, to.1).saturating_sub(bend));
        let thickness = (1.0 + (count as f64).log2() / 2.0).min(5.0);
        let _ = writeln!(
            out,
            "<path d=\"M{} {} Q{} {} {} {}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{thickness:.1}\" opacity=\"0.6\">\
             <title>{} to {}: {count} x {rate}</title></path>",
            from.0,
            from.1,
            middle.0,
            middle.1,
            to.0,
            to.1,
            color(&rate),
            names(&boxes[a].nodes),
            names(&boxes[b].nodes)
        );
        if count > 1 && lines.len() <= MOST_LABELS {
            // Nearer to the lower end, where lines have not met yet.
            let (lower, upper) = if from.1 > to.1 { (from, to) } else { (to, from) };
            let between = |lower: usize, upper: usize| (3 * lower + 2 * upper) / 5;
            let at = (between(lower.0, upper.0), between(lower.1, upper.1.saturating_sub(bend)));
            let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{count}x</text>", at.0, at.1);
        }
    }
    for Alike { nodes, is_host, at } in &boxes {
        let (left, top) = (at.0 - BOX.0 / 2, at.1 - BOX.1 / 2);
        let radius = if *is_host { 8 } else { 0 };
        let words = if nodes.len() == 1 { nodes[0].to_string() } else { format!("{}x", nodes.len()) };
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"{radius}\" fill=\"#f4f4f4\" stroke=\"#262626\">\
             <title>{} {}</title></rect><text x=\"{}\" y=\"{}\">{words}</text>",
            BOX.0,
            BOX.1,
            if *is_host { "hosts" } else { "switches" },
            names(nodes),
            at.0,
            at.1 + 4
        );
    }
    for (rate, index) in rates.iter().zip(1..) {
        let y = 16 * index;
        let _ = writeln!(out, "<text x=\"8\" y=\"{y}\" text-anchor=\"start\" fill=\"{}\">{rate}</text>", color(rate));
    }
    out + "</svg>\n"
}

/// All boxes, and the size of the picture.
fn place(network: &Network) -> (Vec<Alike>, (usize, usize)) {
    let ports = network.ports();
    let rows = |tier: &Vec<u32>| {
        let mut alike: BTreeMap<Vec<(u32, BitRate)>, Vec<u32>> = BTreeMap::new();
        for &node in tier {
            let links = ports[node as usize].iter().map(|port| (port.peer, network.links[port.link as usize].rate));
            let mut links: Vec<_> = links.collect();
            links.sort_unstable();
            alike.entry(links).or_default().push(node);
        }
        let mut alike: Vec<Vec<u32>> = alike.into_values().collect();
        alike.sort_unstable();
        alike.chunks(MOST_IN_A_ROW).map(<[Vec<u32>]>::to_vec).collect::<Vec<_>>()
    };
    let tiers: Vec<Vec<Vec<Vec<u32>>>> = by_tier(network).iter().map(rows).collect();
    let most = tiers.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let width = 2 * EDGE + most.max(16) * ROOM;
    // Of a wide picture lines would be flat.
    let tier_height = TIER.max(width / 14);
    let mut boxes = Vec::new();
    let mut up = EDGE;
    for tier in tiers.iter().filter(|tier| !tier.is_empty()) {
        for row in tier {
            for (nodes, place) in row.iter().zip(0..) {
                let x = EDGE + (2 * place + 1) * (width - 2 * EDGE) / (2 * row.len());
                boxes.push(Alike { nodes: nodes.clone(), is_host: network.is_host(nodes[0]), at: (x, up) });
            }
            up += ROW;
        }
        up += tier_height - ROW;
    }
    // With room for arcs above.
    let height = up + 2 * EDGE + width / 16 - tier_height;
    boxes.iter_mut().for_each(|alike| alike.at.1 = height - alike.at.1);
    (boxes, (width, height))
}

/// The numbers of nodes, in words.
fn names(nodes: &[u32]) -> String {
    match nodes {
        [] => String::new(),
        [one] => one.to_string(),
        [one, other] => format!("{one}, {other}"),
        [first, .., last] if (last - first) as usize + 1 == nodes.len() => format!("{first} to {last}"),
        [first, second, .., last] => format!("{first}, {second} .. {last} ({})", human::count(nodes.len() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::units::Nanos;
    use hpcc_model::generate::{Tier, Wire, grid, tree};

    const WIRE: Wire = Wire { rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0, count: 1 };

    fn drawn(network: Result<Network, String>) -> (usize, usize, String) {
        let text = svg(&network.expect("fits"));
        roxmltree::Document::parse(&text).expect("XML");
        (text.matches("<rect x=").count(), text.matches("<path").count(), text)
    }

    /// 1,024 hosts below 32 leaves are 32 boxes, and 16 spines one, with 16 links of each leaf.
    #[test]
    fn what_is_alike_is_drawn_once() {
        let tier = |below, above, count| Tier { below, planes: 1, above, wire: Wire { count, ..WIRE } };
        let (boxes, lines, text) = drawn(tree(1_024, &[tier(32, 1, 1), tier(32, 16, 2)]));
        assert_eq!((boxes, lines), (32 + 32 + 1, 64));
        for part in
            ["0 to 31 to 1024: 32 x 100Gbps", "1024 to 1056 to 1071: 32 x 100Gbps", ">32x</text>", ">16x</text>"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn neighbours_in_a_row_are_linked_by_arcs_and_rows_are_not_endless() {
        let (boxes, lines, text) = drawn(grid(&[8, 8, 16], 1, true, (WIRE, WIRE)));
        assert_eq!((boxes, lines), (2 * 1_024, 4 * 1_024));
        let width = text.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a width");
        assert_eq!(width.parse(), Ok(2 * EDGE + MOST_IN_A_ROW * ROOM));
    }
}
