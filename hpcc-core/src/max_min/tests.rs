// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks whose rates are known, and others against filling by small steps.

use super::*;
use crate::random::Integers;
use alloc::vec;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs())
}

/// A long flow over three links of 12, with 1, 2 and 3 short ones: the last link is full first.
#[test]
fn a_parking_lot() {
    let mut shares = MaxMin::default();
    let links: Vec<u32> = (0..3).map(|_| shares.add_link(12.0)).collect();
    let long = shares.add_flow(&Demand::PLAIN, links.iter().map(|&link| (link, 1.0)));
    let of_link = |shares: &mut MaxMin, link: u32| shares.add_flow(&Demand::PLAIN, [(link, 1.0)]);
    let short = [0, 1, 1, 2, 2, 2].map(|link| of_link(&mut shares, links[link]));
    shares.solve();
    assert_eq!(shares.rate(long), 3.0);
    assert_eq!(short.map(|flow| shares.rate(flow)), [9.0, 4.5, 4.5, 3.0, 3.0, 3.0]);
}

/// What a bounded flow leaves goes to the others by their weights.
#[test]
fn weights_and_bounds() {
    let mut shares = MaxMin::default();
    let link = shares.add_link(10.0);
    let flows = [(1.0, f64::INFINITY), (3.0, f64::INFINITY), (5.0, 2.0)]
        .map(|(weight, most)| shares.add_flow(&Demand { weight, most, tier: 0 }, [(link, 1.0)]));
    shares.solve();
    assert_eq!(flows.map(|flow| shares.rate(flow)), [2.0, 6.0, 2.0]);
}

#[test]
fn lower_tiers_get_the_rest() {
    let mut shares = MaxMin::default();
    let link = shares.add_link(10.0);
    let first = shares.add_flow(&Demand { most: 7.0, ..Demand::PLAIN }, [(link, 1.0)]);
    let later = [1, 1, 9].map(|tier| shares.add_flow(&Demand { tier, ..Demand::PLAIN }, [(link, 1.0)]));
    shares.solve();
    assert_eq!((shares.rate(first), later.map(|flow| shares.rate(flow))), (7.0, [1.5, 1.5, 0.0]));
}

/// A flow on two of four paths takes half of its rate of each.
#[test]
fn spread_flows_take_parts_of_links() {
    let mut shares = MaxMin::default();
    let links: Vec<u32> = (0..2).map(|_| shares.add_link(4.0)).collect();
    let spread = shares.add_flow(&Demand::PLAIN, links.iter().map(|&link| (link, 0.5)));
    let single = shares.add_flow(&Demand::PLAIN, [(links[0], 1.0)]);
    let free = shares.add_flow(&Demand { most: 5.0, ..Demand::PLAIN }, []);
    shares.solve();
    assert!(near(shares.rate(spread), 8.0 / 3.0) && near(shares.rate(single), 8.0 / 3.0));
    assert_eq!(shares.rate(free), 5.0, "no link bounds it");
}

/// All flows of an exchange between all are alike, to the bit.
#[test]
fn equal_flows_have_equal_rates() {
    let mut shares = MaxMin::default();
    let ports: Vec<u32> = (0..2 * 37).map(|_| shares.add_link(50.0)).collect();
    for from in 0..37 {
        for to in (0..37).filter(|&to| to != from) {
            shares.add_flow(&Demand::PLAIN, [(ports[from], 1.0), (ports[37 + to], 1.0)]);
        }
    }
    shares.solve();
    assert!((0..37 * 36).all(|flow| shares.rate(flow) == 50.0 / 36.0));
}

/// A problem as the oracle reads it.
struct Case {
    capacities: Vec<f64>,
    flows: Vec<(Demand, Vec<(u32, f32)>)>,
}

fn random(seed: u64) -> Case {
    let mut rand = Integers::new(seed as u32 + 1);
    let mut draw = |below: u32| rand.draw() % below;
    let links = 1 + draw(12);
    let capacities = (0..links).map(|_| f64::from(1 + draw(40))).collect();
    let mut flow = || {
        let most = if draw(3) == 0 { f64::from(1 + draw(20)) / 4.0 } else { f64::INFINITY };
        let demand = Demand { weight: f64::from(1 + draw(3)), most, tier: draw(2) as u8 };
        let first = draw(links);
        let count = 1 + draw(links.min(4));
        let uses = (0..count).map(|place| ((first + place) % links, [1.0, 1.0, 0.5, 0.25][draw(4) as usize]));
        (demand, uses.collect())
    };
    let flows = (0..30).map(|_| flow()).collect();
    Case { capacities, flows }
}

/// Fills by looking at every link and every flow in each round.
fn naive(case: &Case) -> Vec<f64> {
    let mut rates = vec![0.0; case.flows.len()];
    let mut tiers: Vec<u8> = case.flows.iter().map(|flow| flow.0.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    for tier in tiers {
        let mut rising: Vec<usize> = (0..rates.len()).filter(|&flow| case.flows[flow].0.tier == tier).collect();
        while !rising.is_empty() {
            let left: Vec<f64> = (0..case.capacities.len() as u32).map(|link| left(case, &rates, link)).collect();
            let slope = |link: u32| {
                let of_flow = |&flow: &usize| case.flows[flow].0.weight * share(&case.flows[flow].1, link);
                rising.iter().map(of_flow).sum::<f64>()
            };
            let by_links =
                (0..).zip(&left).filter(|&(link, _)| slope(link) > 0.0).map(|(link, left)| left / slope(link));
            let by_bounds =
                rising.iter().map(|&flow| (case.flows[flow].0.most - rates[flow]) / case.flows[flow].0.weight);
            let step = by_links.chain(by_bounds).fold(f64::INFINITY, f64::min).max(0.0);
            rising.iter().for_each(|&flow| rates[flow] += step * case.flows[flow].0.weight);
            let is_full: Vec<bool> = (0..left.len() as u32).map(|link| self::left(case, &rates, link) < 1e-9).collect();
            rising.retain(|&flow| {
                let (demand, uses) = &case.flows[flow];
                rates[flow] < demand.most - 1e-9 && uses.iter().all(|&(link, _)| !is_full[link as usize])
            });
        }
    }
    rates
}

fn share(uses: &[(u32, f32)], link: u32) -> f64 {
    uses.iter().filter(|used| used.0 == link).map(|used| f64::from(used.1)).sum()
}

fn left(case: &Case, rates: &[f64], link: u32) -> f64 {
    let load: f64 = case.flows.iter().zip(rates).map(|((_, uses), rate)| rate * share(uses, link)).sum();
    case.capacities[link as usize] - load
}

#[test]
fn random_networks_are_filled_as_by_steps() {
    let mut shares = MaxMin::default();
    for seed in 0..300 {
        let case = random(seed);
        shares.clear();
        case.capacities.iter().for_each(|&capacity| _ = shares.add_link(capacity));
        case.flows.iter().for_each(|(demand, uses)| _ = shares.add_flow(demand, uses.iter().copied()));
        shares.solve();
        for (flow, expected) in (0..).zip(naive(&case)) {
            assert!(near(shares.rate(flow), expected), "{seed}: flow {flow} has {}, not {expected}", shares.rate(flow));
        }
    }
}
