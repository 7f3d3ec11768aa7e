// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the ranks of a group are. NCCL's rings and trees go from server to server, whatever the numbers of the ranks are, and
//! those of each channel enter and leave a server by other NICs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// The ranks of a group by server, each server with a NIC for each rank, or for several of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// All ranks, as places in the group: those of a server are behind each other, in the order in which channels use their NICs.
    ranks: Vec<u32>,
    /// Where each rank is in `ranks`.
    seats: Vec<u32>,
    /// The server at each place of `ranks`.
    servers: Vec<u32>,
    /// Where the ranks of each server begin in `ranks`, and where the last ones end.
    begins: Vec<u32>,
    /// Ranks of the smallest server.
    fewest: u32,
    /// So many NICs all servers have.
    nics: u32,
}

impl Layout {
    /// The layout of a group whose ranks are at these servers and rails of them; servers come in the order of their first ranks.
    /// `None` if no two ranks are in one server: then nothing differs from a group without servers.
    pub fn new(at: impl IntoIterator<Item = (u32, u32)>) -> Option<Layout> {
        let mut numbers = BTreeMap::new();
        let mut groups: Vec<Vec<(u32, u32)>> = Vec::new();
        for (rank, (server, rail)) in (0..).zip(at) {
            let number = *numbers.entry(server).or_insert(groups.len());
            if number == groups.len() {
                groups.push(Vec::new());
            }
            groups[number].push((rail, rank));
        }
        let fewest = groups.iter().map(Vec::len).min()? as u32;
        let ranks = groups.iter().map(Vec::len).sum();
        if groups.len() == ranks {
            return None;
        }
        let rails = |group: &Vec<(u32, u32)>| group.iter().map(|&(rail, _)| rail).collect::<BTreeSet<u32>>();
        let nics = groups.iter().map(|group| rails(group).len()).min()? as u32;
        let common = groups.iter().map(rails).reduce(|one, other| &one & &other)?;
        let (seats, begins) = (vec![0; ranks], Vec::new());
        let mut layout = Layout { ranks: Vec::new(), seats, servers: Vec::new(), begins, fewest, nics };
        for (number, group) in (0..).zip(groups) {
            layout.begins.push(layout.ranks.len() as u32);
            for rank in by_channel(group, &common) {
                layout.seats[rank as usize] = layout.ranks.len() as u32;
                layout.ranks.push(rank);
                layout.servers.push(number);
            }
        }
        layout.begins.push(ranks as u32);
        Some(layout)
    }

    /// So many ranks are in each server; `None` if some have more.
    pub fn per_server(&self) -> Option<u32> {
        (self.ranks.len() as u32 == self.servers() * self.fewest).then_some(self.fewest)
    }

    /// So many ranks are in the smallest server.
    pub fn fewest(&self) -> u32 {
        self.fewest
    }

    /// So many NICs all servers have, and a ring or a tree can use.
    pub fn nics(&self) -> u32 {
        self.nics
    }

    /// How many servers there are.
    pub fn servers(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    /// The server at a place of a channel's chains, where it begins, and how many ranks it has.
    pub(super) fn server_at(&self, place: u32) -> (u32, u32, u32) {
        let server = self.servers[place as usize];
        let begin = self.begin(server);
        (server, begin, self.begin(server + 1) - begin)
    }

    /// The first place of a server.
    pub(super) fn begin(&self, server: u32) -> u32 {
        self.begins[server as usize]
    }

    /// The rank at a place of a channel's chains: in each server from the channel's NIC on.
    pub(super) fn in_chains(&self, channel: u16, place: u32) -> u32 {
        let (_, begin, count) = self.server_at(place);
        self.ranks[(begin + self.nic_at(self.nic(channel), count, place - begin)) as usize]
    }

    /// The place of a rank in a channel's chains.
    pub(super) fn place_in_chains(&self, channel: u16, rank: u32) -> u32 {
        let seat = self.seats[rank as usize];
        let (_, begin, count) = self.server_at(seat);
        begin + self.place_of(self.nic(channel), count, seat - begin)
    }

    /// The rank at a place of a channel's ring, which begins with the first rank of the group.
    pub(super) fn in_ring(&self, channel: u16, place: u32) -> u32 {
        let ranks = self.ranks.len() as u32;
        let place = (place + self.turn(channel, self.seats[0])) % ranks;
        let (server, begin, count) = self.server_at(place);
        let place = if server.is_multiple_of(2) { place - begin } else { begin + count - 1 - place };
        let nic = self.nic(channel);
        self.ranks[(begin + self.closing(server, nic, self.nic_at(nic, count, place))) as usize]
    }

    /// The place of a rank in a channel's ring.
    pub(super) fn place_in_ring(&self, channel: u16, rank: u32) -> u32 {
        let [own, first] = [rank, 0].map(|rank| self.turn(channel, self.seats[rank as usize]));
        let ranks = self.ranks.len() as u32;
        (own + ranks - first) % ranks
    }

    /// When a channel's ring passes a seat, if it begins at the first server. Even servers are passed from the channel's NIC
    /// upwards, odd ones downwards to it: two servers behind each other are left and entered by one rail.
    fn turn(&self, channel: u16, seat: u32) -> u32 {
        let (server, begin, count) = self.server_at(seat);
        let nic = self.nic(channel);
        let place = self.place_of(nic, count, self.closing(server, nic, seat - begin));
        if server.is_multiple_of(2) { begin + place } else { begin + count - 1 - place }
    }

    /// The rank by whose NIC a channel enters servers.
    fn nic(&self, channel: u16) -> u32 {
        u32::from(channel) % self.fewest
    }

    /// Which NIC is at a place of the chain of a server with so many: the channel's, those that smaller servers lack, and the
    /// others. The last is the one before the channel's, in small servers and large ones.
    fn nic_at(&self, first: u32, count: u32, place: u32) -> u32 {
        let more = count - self.fewest;
        match place {
            0 => first,
            _ if place <= more => self.fewest + place - 1,
            _ => (first + place - more) % self.fewest,
        }
    }

    /// At which place a NIC is.
    fn place_of(&self, first: u32, count: u32, nic: u32) -> u32 {
        if nic >= self.fewest {
            return nic - self.fewest + 1;
        }
        match (nic + self.fewest - first) % self.fewest {
            0 => 0,
            distance => distance + count - self.fewest,
        }
    }

    /// With an odd number of servers the last one would be left by another rail than the first one is entered by. Both take a
    /// third NIC, where there is one: here two NICs change places.
    fn closing(&self, server: u32, first: u32, nic: u32) -> u32 {
        let last = self.servers() - 1;
        if last == 0 || last % 2 == 1 || self.fewest < 3 || (server != 0 && server != last) {
            return nic;
        }
        let third = (first + 1) % self.fewest;
        let other = if server == 0 { first } else { (first + self.fewest - 1) % self.fewest };
        match nic {
            _ if nic == third => other,
            _ if nic == other => third,
            _ => nic,
        }
    }
}

/// The ranks of a server, each with its rail, in the order of the channels that take their NICs: each NIC once, then again for the
/// next rank that shares it. A channel finds the same rail in all servers where they have one in `common`.
fn by_channel(mut group: Vec<(u32, u32)>, common: &BTreeSet<u32>) -> Vec<u32> {
    let mut sharing: BTreeMap<u32, u32> = BTreeMap::new();
    group.sort_by_cached_key(|&(rail, _)| {
        let turn = sharing.entry(rail).or_default();
        *turn += 1;
        (*turn, !common.contains(&rail), rail)
    });
    group.into_iter().map(|(_, rank)| rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers with these rails.
    fn layout(servers: &[&[u32]]) -> Layout {
        let at = |(server, rails): (u32, &&[u32])| rails.iter().map(move |&rail| (server, rail)).collect::<Vec<_>>();
        Layout::new((0..).zip(servers).flat_map(at)).expect("servers")
    }

    /// The rails by which a ring leaves a server and enters the next, where they differ.
    fn crossings(servers: &[&[u32]], channel: u16) -> Vec<(u32, u32)> {
        let layout = layout(servers);
        let places: Vec<(usize, u32)> =
            (0..).zip(servers).flat_map(|(server, rails)| rails.iter().map(move |&rail| (server, rail))).collect();
        let ring: Vec<u32> = (0..places.len() as u32).map(|place| layout.in_ring(channel, place)).collect();
        assert_eq!(ring.iter().copied().collect::<BTreeSet<_>>().len(), places.len(), "{ring:?}");
        for (place, &rank) in (0..).zip(&ring) {
            assert_eq!(layout.place_in_ring(channel, rank), place, "{ring:?}");
            assert_eq!(layout.place_in_chains(channel, layout.in_chains(channel, place)), place, "{channel}");
        }
        assert_eq!(ring[0], 0);
        let edges = ring.iter().zip(ring.iter().cycle().skip(1));
        let edges = edges.map(|(&from, &to)| (places[from as usize], places[to as usize]));
        edges.filter(|(from, to)| from.0 != to.0).map(|(from, to)| (from.1, to.1)).collect()
    }

    const RAILS: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

    /// A ring passes each server once, by as many rails as the smallest has, and crosses no rails where it need not.
    #[test]
    fn rings_go_from_server_to_server_by_one_rail() {
        for servers in [2, 3, 4, 5, 16] {
            for of in [1, 2, 3, 8] {
                let list = [vec![&RAILS[..of]], vec![RAILS; 15]].concat();
                let rails = |channel| crossings(&list[..servers], channel);
                let all: Vec<(u32, u32)> = (0..of as u16).flat_map(rails).collect();
                assert_eq!(all.len(), servers * of, "each server is left once");
                // Two NICs cannot close a ring of an odd number of servers; one alone enters and leaves a small server only.
                if of > 2 || (of == 2 && servers % 2 == 0) {
                    assert!(all.iter().all(|(from, to)| from == to), "{servers} of {of}: {all:?}");
                    let used: BTreeSet<u32> = all.iter().map(|&(rail, _)| rail).collect();
                    assert_eq!(used.len(), of, "{servers} of {of}");
                }
            }
        }
        // Only some rails are in both.
        assert!(
            (0..2).all(|channel| crossings(&[&[0, 1, 2, 3], &[2, 3]], channel).iter().all(|(one, other)| one == other))
        );
        // A channel more than there are NICs takes the first again.
        assert_eq!(crossings(&[RAILS, RAILS], 8), crossings(&[RAILS, RAILS], 0));
    }

    /// Four GPUs, two NICs: two channels enter and leave servers by both.
    #[test]
    fn channels_take_all_nics_that_ranks_share() {
        let shared: &[u32] = &[0, 0, 1, 1];
        assert_eq!((layout(&[shared, shared]).nics(), layout(&[shared, shared]).fewest()), (2, 4));
        let [mut one, mut other] = [0, 1].map(|channel| crossings(&[shared, shared], channel));
        one.sort_unstable();
        other.sort_unstable();
        assert_eq!((one, other), (vec![(0, 0), (1, 1)], vec![(0, 0), (1, 1)]));
    }

    /// Ranks may be listed in any order: a server's are together, and in the order of rails.
    #[test]
    fn numbers_of_ranks_do_not_matter() {
        let listed = Layout::new([(7, 1), (4, 0), (7, 0), (4, 1)]).expect("servers");
        assert_eq!((0..4).map(|place| listed.in_chains(0, place)).collect::<Vec<_>>(), [2, 0, 1, 3]);
        assert_eq!((0..4).map(|place| listed.in_chains(1, place)).collect::<Vec<_>>(), [0, 2, 3, 1]);
        assert_eq!((listed.servers(), listed.per_server()), (2, Some(2)));
        assert_eq!(layout(&[RAILS, &[0, 1]]).per_server(), None);
        assert_eq!(Layout::new([(1, 0), (0, 0), (2, 5)]), None, "nobody shares a server");
    }
}
