// SPDX-License-Identifier: MIT OR Apache-2.0
use super::super::routes::Routes;
use super::super::{Link, Network, NodeKind};
use super::{FlowPaths, PathIdentity, PathName};
use crate::random::GlibcRand;
use crate::testing::network;
use crate::units::{BitRate, Nanos};
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

const PATH_ID: PathName = PathName::Xor(12);

/// A fat tree of switches with `k` ports, and a host at each switch that has hosts.
fn fat_tree(k: u32) -> Network {
    let half = k / 2;
    let (edge, agg, core) = (k * half, 2 * k * half, 3 * k * half);
    let mut links = Vec::new();
    for pod in 0..k {
        for i in 0..half {
            links.push((pod * half + i, edge + pod * half + i, 100));
            links.extend((0..half).map(|j| (edge + pod * half + i, agg + pod * half + j, 100)));
            links.extend((0..half).map(|j| (agg + pod * half + i, core + i * half + j, 100)));
        }
    }
    network(edge as usize, (core + half * half - edge) as usize, &links)
}

/// Switches in a cube with sides of three, each with a host.
fn torus() -> Network {
    let at = |x: u32, y: u32, z: u32| 27 + x % 3 + 3 * (y % 3) + 9 * (z % 3);
    let all = || (0..27).map(|n| (n % 3, n / 3 % 3, n / 9));
    let around = all()
        .flat_map(|(x, y, z)| [at(x + 1, y, z), at(x, y + 1, z), at(x, y, z + 1)].map(|far| (at(x, y, z), far, 100)));
    let links: Vec<_> = (0..27).map(|host| (host, 27 + host, 100)).chain(around).collect();
    network(27, 27, &links)
}

#[test]
fn trees_have_ids_by_which_their_paths_differ() {
    for k in [4, 6, 8, 16] {
        let tree = fat_tree(k);
        let ways = FlowPaths::any(&tree);
        let PathIdentity::Apart(ids) = ways.tell(PATH_ID) else { panic!("{k} ports") };
        assert!(matches!(ways.tell_by(PATH_ID, ids.as_deref()), PathIdentity::Apart(_)), "{k} ports");
        assert_eq!(ways.tell(PATH_ID), PathIdentity::Apart(ids), "the same each time");
        assert!(matches!(ways.tell(PathName::Length), PathIdentity::Alike(_)));
    }
    let ways = |network: &Network| FlowPaths::any(network).tell_by(PATH_ID, None);
    assert!(matches!(ways(&fat_tree(6)), PathIdentity::Alike(_)), "by their numbers");
    let torus = torus();
    let PathIdentity::Apart(Some(ids)) = FlowPaths::any(&torus).tell(PATH_ID) else { panic!("a small torus") };
    assert!(matches!(FlowPaths::any(&torus).tell_by(PATH_ID, Some(&ids)), PathIdentity::Apart(_)));
}

/// As large as for 8,192 and 6,750 hosts. Where all numbers of nodes are powers of two, these do.
#[test]
fn a_large_tree_is_searched_once_for_each_pod() {
    assert_eq!(FlowPaths::any(&fat_tree(32)).tell(PATH_ID), PathIdentity::Apart(None));
    assert!(matches!(FlowPaths::any(&fat_tree(30)).tell(PATH_ID), PathIdentity::Apart(Some(_))));
}

#[test]
fn parallel_links_need_a_name_of_each_link() {
    let bundle = network(2, 2, &[(0, 2, 100), (1, 3, 100), (2, 3, 100), (2, 3, 100)]);
    let ways = FlowPaths::any(&bundle);
    for name in [PathName::Length, PATH_ID, PathName::Switches] {
        let PathIdentity::Alike(alike) = ways.tell(name) else { panic!("{name:?}") };
        let expected = "from host 1 to host 0 by one or another of the parallel links from switch 3 to switch 2";
        assert_eq!(alike.to_string(), expected);
    }
    assert_eq!(ways.tell(PathName::Links), PathIdentity::Apart(None));
    assert_eq!(FlowPaths::single(&bundle).tell(PathName::Length), PathIdentity::Apart(None));
    // Of a host's own links no record tells: they may be parallel.
    let uplinks = network(2, 1, &[(0, 2, 100), (0, 2, 100), (1, 2, 100)]);
    let of_uplinks = FlowPaths { parting: vec![true, true, false], ..FlowPaths::single(&uplinks) };
    assert_eq!(of_uplinks.tell(PATH_ID), PathIdentity::Apart(None));
    let down = FlowPaths { down: vec![vec![3]], ..ways };
    assert_eq!(down.tell(PATH_ID), PathIdentity::Apart(None));
}

#[test]
fn switches_that_add_no_record_have_no_name() {
    let leaves = [(0, 2, 100), (1, 3, 100), (2, 4, 100), (2, 5, 100), (3, 4, 100), (3, 5, 100)];
    let network = network(2, 4, &leaves);
    assert_eq!(FlowPaths::any(&network).tell(PATH_ID), PathIdentity::Apart(None));
    let blind = FlowPaths { blind: vec![4, 5], ..FlowPaths::any(&network) };
    for name in [PATH_ID, PathName::Switches] {
        let PathIdentity::Alike(alike) = blind.tell(name) else { panic!("{name:?}") };
        assert_eq!(alike.to_string(), "from host 1 to host 0 over switches 3-5-2 or 3-4-2");
    }
}

/// Hosts with one link or several, parallel links, cables between hosts.
fn draw(random: &mut GlibcRand) -> Network {
    let mut below = |end: u32| random.draw() / 8 % end;
    let (hosts, switches) = (2 + below(4), 1 + below(8));
    let mut nodes = vec![NodeKind::Host; hosts as usize];
    nodes.resize((hosts + switches) as usize, NodeKind::Switch);
    let links = (0..hosts + below(20)).filter_map(|at| {
        let (a, b) = (if at < hosts { at } else { below(hosts + switches) }, hosts + below(switches));
        (a != b).then_some(Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 })
    });
    Network { links: links.collect(), nodes }
}

/// All paths: nodes and ports behind the source.
fn paths(network: &Network, routes: &Routes, src: u32, dst: u32) -> Vec<Vec<(u32, u16)>> {
    let ports = network.ports();
    let mut paths = Vec::new();
    let mut open = vec![vec![(src, 0)]];
    while let Some(path) = open.pop() {
        let at = path.last().expect("the source").0;
        if at == dst {
            paths.push(path);
            continue;
        }
        for &port in routes.table(at).next_hops(dst) {
            let mut next = path.clone();
            next.last_mut().expect("the source").1 = port;
            next.push((ports[at as usize][usize::from(port)].peer, 0));
            open.push(next);
        }
    }
    paths
}

#[test]
fn what_looks_alike_is_what_a_look_at_every_path_finds() {
    let mut random = GlibcRand::new(7);
    let (mut alike, mut apart) = (0, 0);
    for _ in 0..600 {
        let network = draw(&mut random);
        let routes = Routes::new(&network, 1_000);
        // Few bits, so that names are often the same.
        for name in [PathName::Length, PathName::Xor(3), PathName::Switches, PathName::Links] {
            let of = |path: &[(u32, u16)]| {
                let switches = &path[1..path.len() - 1];
                let xor = switches.iter().fold(0, |xor, &(node, _)| xor ^ node) & 7;
                match name {
                    PathName::Length => (0, Vec::new()),
                    PathName::Xor(_) => (xor, Vec::new()),
                    PathName::Switches => (0, switches.iter().map(|&(node, _)| (node, 0)).collect()),
                    PathName::Links => (0, switches.to_vec()),
                }
            };
            let pairs = network.hosts().flat_map(|src| network.hosts().map(move |dst| (src, dst)));
            let collides = |(src, dst)| {
                let paths: BTreeSet<_> =
                    paths(&network, &routes, src, dst).into_iter().map(|path| path[1..].to_vec()).collect();
                let names: BTreeSet<_> = paths.iter().map(|path| of(&[&[(src, 0)], &path[..]].concat())).collect();
                names.len() < paths.len()
            };
            let found = pairs.filter(|(src, dst)| src != dst).any(collides);
            let told = FlowPaths::any(&network).tell_by(name, None);
            assert_eq!(matches!(told, PathIdentity::Alike(_)), found, "{name:?} {told:?} {network:?}");
            if let PathIdentity::Alike(two) = told {
                let real = paths(&network, &routes, two.src, two.dst);
                let is_real = |path: &Vec<u32>| {
                    real.iter()
                        .any(|real| real[1..real.len() - 1].iter().map(|&(node, _)| node).eq(path.iter().copied()))
                };
                assert!(two.paths.iter().all(is_real), "{name:?} {two} {network:?}");
                assert_eq!(two.parallel.is_some(), two.paths[0] == two.paths[1], "{name:?} {two} {network:?}");
            }
            (alike, apart) = (alike + u32::from(found), apart + u32::from(!found));
        }
    }
    assert!(alike > 500 && apart > 500, "{alike} {apart}");
}

/// Where packets part at some switches only, no two paths that a flow may take are missed.
#[test]
fn where_some_switches_keep_a_flow_together_nothing_is_missed() {
    let mut random = GlibcRand::new(11);
    let mut alike = 0;
    for _ in 0..600 {
        let network = draw(&mut random);
        let routes = Routes::new(&network, 1_000);
        let parting: Vec<bool> = network.nodes.iter().map(|_| random.draw() >> 3 & 1 == 0).collect();
        let ways = FlowPaths { parting: parting.clone(), ..FlowPaths::single(&network) };
        let told = ways.tell_by(PathName::Xor(3), None);
        let pairs = network.hosts().flat_map(|src| network.hosts().map(move |dst| (src, dst)));
        for (src, dst) in pairs.filter(|(src, dst)| src != dst) {
            let paths = paths(&network, &routes, src, dst);
            let xor = |path: &[(u32, u16)]| path[1..path.len() - 1].iter().fold(0, |xor, &(node, _)| xor ^ node) & 7;
            let together = |one: &[(u32, u16)], other: &[(u32, u16)]| {
                let kept = |&&(node, port): &&(u32, u16)| {
                    other.iter().all(|&(same, by)| same != node || by == port || parting[node as usize])
                };
                one[1..] != other[1..] && one.iter().filter(kept).count() == one.len()
            };
            let collide = |one: &Vec<_>| paths.iter().any(|other| together(one, other) && xor(one) == xor(other));
            if paths.iter().any(collide) {
                alike += 1;
                assert!(matches!(told, PathIdentity::Alike(_)), "{src} to {dst} {told:?} {parting:?} {network:?}");
            }
        }
    }
    assert!(alike > 100, "{alike}");
}
