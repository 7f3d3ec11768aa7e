// SPDX-License-Identifier: GPL-2.0-only
//! Workloads of SimAI: the layers of a model, each with computations and collectives of its passes.
//!
//! Forward, layer by layer: a computation, then a collective that the next layer waits for. Backward, from the last layer: the
//! weights' computation, whose collective runs beside what follows, then the inputs' computation and its collective, which the next
//! layer waits for; the first layer has no inputs' part. A layer's next forward pass waits for its weights' collective and update.
//! Stages of a pipeline have the same layers; a pass goes from stage to stage, by messages of `pp_comm` bytes, and passes follow each
//! other as in 1F1B.

use super::plans::{Group, Plans};
use super::schedule::{Phase, Pipeline};
use super::{CollectiveOptions, JobFile, digest};
use crate::error::{InputError, suggestion};
use crate::flow::MOST_BYTES;
use crate::memory::Budget;
use crate::place::Place;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use hpcc_core::workload::{GraphBuilder, Work};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

const POLICIES: [&str; 2] = ["HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER"];
const LAYER: &str = "NAME DEP FP_NS FP_COLL FP_BYTES IG_NS IG_COLL IG_BYTES WG_NS WG_COLL WG_BYTES UPDATE_NS";

/// Tags of the two ways of a pass.
const FORWARD: u64 = 0;
const BACKWARD: u64 = 1;

/// A computation and the collective behind it.
#[derive(Clone, Copy, Debug)]
struct Part {
    time: Nanos,
    together: Option<(Kind, Group, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Layer {
    line: u32,
    forward: Part,
    inputs: Part,
    weights: Part,
    update: Nanos,
}

/// How ranks are divided: tensor-parallel ones are neighbours, then expert-parallel ones, then data-parallel ones, then stages.
#[derive(Clone, Copy, Debug)]
struct Division {
    ranks: u32,
    tensor: u32,
    expert: u32,
    data: u32,
    /// Bytes that stages send each other; 0: they do not.
    between_stages: u64,
}

impl Division {
    /// The ranks with the same part of the stages before and behind.
    fn neighbours(&self, rank: u32) -> [Option<u32>; 2] {
        let of_stage = self.tensor * self.data;
        let sends = self.between_stages > 0;
        let behind = rank + of_stage;
        [rank.checked_sub(of_stage).filter(|_| sends), Some(behind).filter(|&behind| sends && behind < self.ranks)]
    }

    /// How many stages wait for each other, and which of them a rank is in.
    fn pipeline(&self, rank: u32) -> (u32, u32) {
        let of_stage = self.tensor * self.data;
        if self.between_stages > 0 { (self.ranks / of_stage, rank / of_stage) } else { (1, 0) }
    }

    /// The group of a rank.
    fn group(&self, rank: u32, group: Group) -> Arc<[u32]> {
        let &Division { tensor, expert, data, .. } = self;
        let copy = rank / tensor % data;
        let of = |copy: u32| rank - rank / tensor % data * tensor + copy * tensor;
        match group {
            Group::Tensor => (rank - rank % tensor..rank - rank % tensor + tensor).collect(),
            Group::Data => (0..data).map(of).collect(),
            Group::Expert => (copy - copy % expert..copy - copy % expert + expert).map(of).collect(),
            Group::DataOfExperts => (copy % expert..data).step_by(expert as usize).map(of).collect(),
            Group::Context | Group::Tables | Group::ExpertOfServer => [rank].into(),
        }
    }
}

/// A rank's graph in the making.
struct Rank<'a> {
    number: u32,
    builder: GraphBuilder,
    /// What the next operation waits for.
    last: Option<u32>,
    division: &'a Division,
    /// How many collectives there are before in the order of all ranks.
    order: u32,
}

impl Rank<'_> {
    fn add(&mut self, work: Work) -> u32 {
        let node = self.builder.add(work, None);
        if let Some(last) = self.last {
            self.builder.require_end(node, last);
        }
        node
    }

    /// The collective of a part, if it has one with others.
    fn together(&mut self, part: Part, plans: &mut Plans<'_>) -> Result<Option<u32>, String> {
        let Some((kind, group, size)) = part.together else { return Ok(None) };
        self.order += 1;
        let ranks = self.division.group(self.number, group);
        let collective = plans.collective(self.order, (group, ranks), self.number, (kind, size));
        let collective = collective.map_err(|(key, message)| format!("{key}: {message}"))?;
        Ok(collective.map(|collective| self.add(Work::Collective(Box::new(collective)))))
    }

    /// A computation, and a collective that what follows waits for.
    fn part(&mut self, part: Part, plans: &mut Plans<'_>) -> Result<(), String> {
        self.last = Some(self.add(Work::Compute(part.time)));
        self.last = self.together(part, plans)?.or(self.last);
        Ok(())
    }

    /// What comes from another stage, if there is one, is there before what follows.
    fn hear(&mut self, from: Option<u32>, tag: u64) {
        if let Some(from) = from {
            self.last = Some(self.add(Work::Receive { from: Some(from), tag: Some(tag) }));
        }
    }

    /// Another stage, if there is one, gets what this one has; nothing here waits for that.
    fn tell(&mut self, to: Option<u32>, tag: u64) {
        if let Some(to) = to {
            self.add(Work::Send { to, tag, size: self.division.between_stages, channel: 0 });
        }
    }

    /// All passes, in the order of a pipeline if there is one. `updated` has, by layer, what its next pass waits for.
    fn passes(
        &mut self,
        count: u32,
        layers: &[Layer],
        updated: &mut [Option<u32>],
        plans: &mut Plans<'_>,
    ) -> Result<(), (u32, String)> {
        let (stages, stage) = self.division.pipeline(self.number);
        for turn in (Pipeline { stages, chunks: 1, batches: count, is_split: false }).turns(stage) {
            match turn.phase {
                Phase::Forward => self.forward(layers, updated, plans)?,
                Phase::Backward | Phase::Inputs | Phase::Weights => self.backward(layers, updated, plans)?,
            }
        }
        Ok(())
    }

    fn forward(
        &mut self,
        layers: &[Layer],
        updated: &[Option<u32>],
        plans: &mut Plans<'_>,
    ) -> Result<(), (u32, String)> {
        let [before, behind] = self.division.neighbours(self.number);
        self.hear(before, FORWARD);
        for (layer, updated) in layers.iter().zip(updated) {
            let wait = self.add(Work::Nothing);
            if let Some(updated) = updated {
                self.builder.require_end(wait, *updated);
            }
            self.last = Some(wait);
            self.part(layer.forward, plans).map_err(|message| (layer.line, message))?;
        }
        self.tell(behind, FORWARD);
        Ok(())
    }

    fn backward(
        &mut self,
        layers: &[Layer],
        updated: &mut [Option<u32>],
        plans: &mut Plans<'_>,
    ) -> Result<(), (u32, String)> {
        let [before, behind] = self.division.neighbours(self.number);
        self.hear(behind, BACKWARD);
        for (number, layer) in layers.iter().enumerate().rev() {
            let mut backward = || {
                self.last = Some(self.add(Work::Compute(layer.weights.time)));
                let begin = self.last;
                self.last = self.together(layer.weights, plans)?.or(begin);
                updated[number] = Some(self.add(Work::Compute(layer.update)));
                self.last = begin;
                if number > 0 { self.part(layer.inputs, plans) } else { Ok(()) }
            };
            backward().map_err(|message| (layer.line, message))?;
        }
        self.tell(before, BACKWARD);
        Ok(())
    }
}

/// Reads a file of at most so many ranks, whose layers are passed so often.
///
/// # Errors
/// What is no workload, or one of a kind that is not known here.
pub fn read(
    path: &Path,
    passes: u32,
    most_ranks: u32,
    ways: &dyn Fn(Kind) -> CollectiveOptions,
    budget: &Budget,
) -> Result<JobFile, InputError> {
    let place = Place::file(path);
    let text = crate::text::read(path)?;
    let (division, layers) = parse(&place, &text)?;
    if division.ranks > most_ranks {
        let message =
            format!("there are {} GPUs and {most_ranks} hosts for them; expected at most {most_ranks}", division.ranks);
        return Err(place.at(1).error(message));
    }
    let operations = (9 * layers.len() as u128 + 4) * u128::from(passes) * u128::from(division.ranks);
    budget.operations(operations).map_err(|message| place.error(message))?;
    let mut plans = Plans::new(ways);
    let mut graphs = Vec::new();
    for number in 0..division.ranks {
        let mut rank = Rank { number, builder: GraphBuilder::default(), last: None, division: &division, order: 0 };
        let mut updated = vec![None; layers.len()];
        let all = rank.passes(passes, &layers, &mut updated, &mut plans);
        all.map_err(|(line, message)| place.at(line).error(message))?;
        let graph = rank.builder.build();
        graphs.push(graph.map_err(|_| place.error("layers wait for each other in a circle"))?);
    }
    let all: Vec<CollectiveOptions> = Kind::ALL.iter().map(|kind| ways(*kind)).collect();
    let digest = digest([text.as_bytes(), format!("{passes}{all:?}").as_bytes()]);
    Ok(JobFile { graphs, collectives: plans.finish(), digest, notes: Vec::new() })
}

fn parse(place: &Place, text: &str) -> Result<(Division, Vec<Layer>), InputError> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let mut next = |what: &str| lines.next().ok_or_else(|| place.error(format!("the file ends; expected {what}")));
    let (head, line) =
        next("a first line such as HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 ...")?;
    let division = division(head).map_err(|message| place.at(line).error(message))?;
    let (count, line) = next("the number of layers")?;
    let count: u32 = count.trim().parse().map_err(|_| {
        place.at(line).error(format!("the value is \"{}\"; expected the number of layers", count.trim()))
    })?;
    let mut layers = Vec::new();
    for (text, line) in lines {
        layers.push(layer(text, line).map_err(|message| place.at(line).error(message))?);
    }
    if layers.len() as u32 != count || count == 0 {
        return Err(place.error(format!(
            "there are {} layers; expected {count}, as line {line} says, and at least 1",
            layers.len()
        )));
    }
    Ok((division, layers))
}

fn division(head: &str) -> Result<Division, String> {
    let mut words = head.split_whitespace();
    let policy = words.next().unwrap_or_default();
    if !POLICIES.contains(&policy) {
        return Err(format!("\"{policy}\" is no way to train that is known here{}", suggestion(policy, &POLICIES)));
    }
    let mut values: HashMap<&str, u64> = HashMap::new();
    while let Some(word) = words.next() {
        let value = words.next().and_then(|word| word.parse().ok());
        values.insert(word.trim_end_matches(':'), value.ok_or_else(|| format!("{word} has no number; expected one"))?);
    }
    if values.get("checkpoints").is_some_and(|count| *count > 0) {
        return Err("there are checkpoints, from which passes are repeated; expected 0".into());
    }
    let value = |key: &str| match values.get(key) {
        Some(value) => u32::try_from(*value)
            .ok()
            .filter(|value| *value > 0)
            .ok_or_else(|| format!("{key} is {value}; expected at least 1")),
        None => Err(format!("{key} is missing; expected {key}: N")),
    };
    let (tensor, expert) = (value("model_parallel_NPU_group")?, value("ep")?);
    let (stages, ranks) = (value("pp")?, value("all_gpus")?);
    let of_data = u64::from(tensor) * u64::from(stages);
    let data = u64::from(ranks) / of_data;
    if u64::from(ranks) % of_data != 0 || data % u64::from(expert) != 0 {
        return Err(format!(
            "{ranks} GPUs cannot be divided among {tensor} tensor-parallel ones, {stages} stages and {expert} expert-parallel ones"
        ));
    }
    let missing =
        || format!("pp is {stages} and pp_comm is missing; expected the bytes that a stage sends the next one");
    let between_stages = if stages > 1 { *values.get("pp_comm").ok_or_else(missing)? } else { 0 };
    Ok(Division { ranks, tensor, expert, data: data as u32, between_stages })
}

fn layer(text: &str, line: u32) -> Result<Layer, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let count = words.len();
    let Ok([_, _, forward @ .., i1, i2, i3, w1, w2, w3, update]) = <[&str; 12]>::try_from(words) else {
        return Err(format!("there are {count} words; expected 12: {LAYER}"));
    };
    let number = |word: &str, what: &str, most: u64| {
        let number = word.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| format!("the value is \"{word}\"; expected {what}, at most {most}"))
    };
    let time = |word: &str| number(word, "nanoseconds", Nanos::LONGEST.0).map(Nanos);
    let part = |words: [&str; 3], usual: Group| {
        let [length, together, size] = words;
        Ok::<_, String>(Part {
            time: time(length)?,
            together: collective(together, usual, number(size, "bytes", MOST_BYTES)?)?,
        })
    };
    Ok(Layer {
        line,
        forward: part(forward, Group::Tensor)?,
        inputs: part([i1, i2, i3], Group::Tensor)?,
        weights: part([w1, w2, w3], Group::Data)?,
        update: time(update)?,
    })
}

/// What a word says of a collective; the group is the usual one unless the word ends with another.
fn collective(word: &str, usual: Group, size: u64) -> Result<Option<(Kind, Group, u64)>, String> {
    let ends = [("_DP_EP", Group::DataOfExperts), ("_EP", Group::Expert)];
    let end = ends.into_iter().find_map(|(end, group)| Some((word.strip_suffix(end)?, group)));
    let (name, group) = end.unwrap_or((word, usual));
    let kind = match name {
        "NONE" => return Ok(None),
        "ALLREDUCE" => Kind::AllReduce,
        "ALLGATHER" => Kind::AllGather,
        "REDUCESCATTER" => Kind::ReduceScatter,
        "ALLTOALL" => Kind::AllToAll,
        _ => {
            let known = "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, perhaps with _EP or _DP_EP behind";
            return Err(format!("\"{word}\" is no collective that is known here; expected {known}"));
        }
    };
    Ok(Some((kind, group, size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::ideal;
    use crate::jobs::testing::job;

    const USUAL: &dyn Fn(Kind) -> CollectiveOptions = &|_| CollectiveOptions::default();

    fn head(tensor: u32, expert: u32, stages: u32, ranks: u32) -> String {
        format!(
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tensor} ep: {expert} pp: {stages} vpp: 1 ga: 1 \
             all_gpus: {ranks} checkpoints: 0 checkpoint_initiates: 0 pp_comm: 5\n"
        )
    }

    fn load(text: &str, passes: u32) -> Result<JobFile, String> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.txt");
        std::fs::write(&path, text).expect("written");
        let prefix = format!("{}/", folder.path().display());
        read(&path, passes, 16, USUAL, &Budget::new().expect("memory"))
            .map_err(|error| error.to_string().replace(&prefix, ""))
    }

    /// The time of a file where a message takes 1 us and a nanosecond a byte.
    fn time(text: &str, passes: u32) -> u64 {
        let file = load(text, passes).expect("a workload");
        let course = ideal::run(job(&file.graphs), None, |message| Nanos(1000 + message.size), |time| time);
        assert!(course.unfinished.is_empty());
        course.time.0
    }

    #[test]
    fn layers_go_forward_and_backward() {
        let one = |layer: &str, passes| time(&format!("{}1\n{layer}\n", head(2, 1, 1, 4)), passes);
        // An all-reduce of 2 ranks: 2 steps of half the bytes.
        assert_eq!(one("a -1 100 ALLREDUCE 400 1 NONE 0 1 NONE 0 1", 1), 100 + 2 * 1200 + 1 + 1);
        // The first layer has no inputs' part; weights are of the data-parallel group.
        assert_eq!(one("a -1 100 NONE 0 7 ALLREDUCE 400 20 REDUCESCATTER 600 3", 1), 100 + 20 + 1300 + 3);
        // The next pass waits for the update.
        assert_eq!(one("a -1 100 NONE 0 7 NONE 0 20 ALLREDUCE 400 3", 2), 2 * (100 + 20 + 2400 + 3));
        let two = format!(
            "{}2\na -1 100 NONE 0 7 NONE 0 20 NONE 0 1\nb -1 200 NONE 0 5000 ALLTOALL 400 30 ALLREDUCE 4000 4\n",
            head(2, 1, 1, 4)
        );
        // Behind b's weights: their collective of 6000 beside b's inputs (5000), their collective (1200) and a's weights.
        assert_eq!(time(&two, 1), 100 + 200 + 30 + 5000 + 1200 + 20 + 1);
        assert_eq!(time(&two.replace(" 5000 ", " 50 "), 1), 100 + 200 + 30 + 6000 + 4);
    }

    /// Three stages of a rank: forward through all of them, and back.
    #[test]
    fn stages_wait_for_each_other() {
        let layer = "1\na -1 100 NONE 0 7 NONE 0 20 NONE 0 1\n";
        let message = 1000 + 5;
        assert_eq!(time(&format!("{}{layer}", head(1, 1, 3, 3)), 1), 3 * 100 + 4 * message + 3 * 20 + 1);
        // Eight passes of 100 forward and 20 backward with an update, in three stages: two more are under way, to and fro.
        let slow = layer.replace("100", "1000000").replace(" 20 ", " 2000000 ");
        let eight = time(&format!("{}{slow}", head(1, 1, 3, 3)), 8);
        assert!(eight.abs_diff((8 + 2) * 3_000_000) < 8 * 2 * message, "{eight}");
        let silent = head(1, 1, 3, 3).replace("pp_comm: 5", "pp_comm: 0");
        assert_eq!(time(&format!("{silent}{layer}"), 1), 100 + 20 + 1);
    }

    #[test]
    fn ranks_are_divided_as_megatron_does() {
        let division = Division { ranks: 16, tensor: 2, expert: 2, data: 4, between_stages: 0 };
        let groups = |rank| {
            [Group::Tensor, Group::Data, Group::Expert, Group::DataOfExperts]
                .map(|group| division.group(rank, group).to_vec())
        };
        assert_eq!(groups(0), [vec![0, 1], vec![0, 2, 4, 6], vec![0, 2], vec![0, 4]]);
        assert_eq!(groups(13), [vec![12, 13], vec![9, 11, 13, 15], vec![13, 15], vec![9, 13]]);
        let layer = "a -1 1 ALLTOALL_EP 8 1 NONE 0 1 ALLREDUCE_DP_EP 8 1";
        let file = load(&format!("{}1\n{layer}\n", head(2, 2, 2, 16)), 1).expect("a workload");
        let groups: Vec<_> = file.collectives.iter().map(|plan| (plan.pattern.kind, plan.group.to_vec())).collect();
        assert_eq!(groups.len(), 16);
        assert!(groups.contains(&(Kind::AllToAll, vec![13, 15])) && groups.contains(&(Kind::AllReduce, vec![9, 13])));
    }

    #[test]
    fn bad_lines_are_named() {
        let with = |layer: &str| format!("{}1\n{layer}\n", head(2, 1, 1, 4));
        for (text, expected) in [
            ("MICRO\n".to_owned(), "a.txt:1: \"MICRO\" is no way to train that is known here; expected one of HYBRID_"),
            (head(2, 1, 1, 5), "a.txt:1: 5 GPUs cannot be divided among 2 tensor-parallel ones"),
            (head(2, 3, 1, 4), "a.txt:1: 4 GPUs cannot be divided"),
            (head(0, 1, 1, 4), "a.txt:1: model_parallel_NPU_group is 0; expected at least 1"),
            (head(2, 1, 1, 4).replace("checkpoints: 0", "checkpoints: 2"), "a.txt:1: there are checkpoints"),
            (head(2, 1, 1, 4).replace("all_gpus: 4 ", ""), "a.txt:1: all_gpus is missing"),
            (head(2, 1, 2, 4).replace("pp_comm: 5", ""), "a.txt:1: pp is 2 and pp_comm is missing"),
            (
                format!("{}1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", head(2, 1, 1, 32)),
                "a.txt:1: there are 32 GPUs and 16 hosts",
            ),
            (format!("{}x\n", head(2, 1, 1, 4)), "a.txt:2: the value is \"x\"; expected the number of layers"),
            (format!("{}2\n", head(2, 1, 1, 4)), "a.txt: there are 0 layers; expected 2, as line 2 says"),
            (with("a -1 1 NONE 0"), "a.txt:3: there are 5 words; expected 12: NAME DEP"),
            (with("a"), "a.txt:3: there are 1 words"),
            (with("a -1 1 NONE 0 1 NONE 0 1 NONE x 1"), "a.txt:3: the value is \"x\"; expected bytes"),
            (with("a -1 1 NONE 0 1 NONE 0 1.5 NONE 0 1"), "a.txt:3: the value is \"1.5\"; expected nanoseconds"),
            (with("a -1 1 ALLREDUCEALLTOALL 0 1 NONE 0 1 NONE 0 1"), "a.txt:3: \"ALLREDUCEALLTOALL\" is no collective"),
        ] {
            let told = load(&text, 1).map(|_| ()).expect_err(expected);
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
