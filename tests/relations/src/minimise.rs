// SPDX-License-Identifier: GPL-2.0-only
//! Makes a scenario small that breaks a relation: parts are taken out, and numbers made smaller, as long as it is broken.

use crate::document::{Document, nanos, time};
use crate::relations::{Broken, Context, Relation, Verdict};
use hpcc_simulate::usage::cpu_time;
use std::time::Duration;
use toml::Value;

/// A way from the root of a tree to a value: keys of tables and places of lists.
type Path = Vec<Step>;

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Place(usize),
}

/// The smallest scenario that is found within this processor time, and how it breaks the relation; `None` if it does not.
pub fn minimise(
    relation: &Relation,
    document: &Document,
    context: &Context<'_>,
    limit: Duration,
) -> Option<(Document, Broken)> {
    let check = |document: &Document| match relation.check(document, context) {
        Verdict::Broken(broken) => Some(broken),
        Verdict::Holds | Verdict::Idle => None,
    };
    let end = cpu_time() + limit;
    let mut best = (document.clone(), check(document)?);
    // The words before the first number: another fault must not take this one's place.
    let kind = |why: &str| why.split(|letter: char| letter.is_ascii_digit()).next().map(str::to_owned);
    let wanted = kind(&best.1.why);
    loop {
        let mut is_smaller = false;
        for attempt in [without, simpler] {
            // Later parts first: places of earlier ones stay.
            for path in paths(&best.0).into_iter().rev() {
                if cpu_time() > end {
                    return Some(best);
                }
                let mut candidate = best.0.clone();
                if attempt(&mut candidate, &path)
                    && candidate != best.0
                    && let Some(broken) = check(&candidate)
                    && kind(&broken.why) == wanted
                {
                    best = (candidate, broken);
                    is_smaller = true;
                }
            }
        }
        if !is_smaller {
            return Some(best);
        }
    }
}

/// The ways to all values.
fn paths(document: &Document) -> Vec<Path> {
    let mut all = Vec::new();
    for (key, value) in &document.0 {
        below(vec![Step::Key(key.clone())], value, &mut all);
    }
    all
}

fn below(path: Path, value: &Value, all: &mut Vec<Path>) {
    all.push(path.clone());
    let with = |step: Step| path.iter().cloned().chain([step]).collect::<Path>();
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| below(with(Step::Key(key.clone())), value, all));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| below(with(Step::Place(place)), value, all));
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// What holds the last step of a way.
fn holder<'a>(document: &'a mut Document, path: &[Step]) -> Option<&'a mut Value> {
    let mut steps = path.iter();
    let Step::Key(first) = steps.next()? else { return None };
    let mut value = document.0.get_mut(first)?;
    for step in steps {
        value = match step {
            Step::Key(key) => value.get_mut(key.as_str())?,
            Step::Place(place) => value.get_mut(*place)?,
        };
    }
    Some(value)
}

/// Takes a value out; false if it is gone already.
fn without(document: &mut Document, path: &Path) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    if before.is_empty() {
        let Step::Key(key) = last else { return false };
        return document.0.remove(key).is_some();
    }
    match (holder(document, before), last) {
        (Some(Value::Table(table)), Step::Key(key)) => table.remove(key).is_some(),
        (Some(Value::Array(list)), Step::Place(place)) if *place < list.len() => {
            list.remove(*place);
            true
        }
        _ => false,
    }
}

/// Makes a value simpler: half of a number, rounded to few digits.
fn simpler(document: &mut Document, path: &Path) -> bool {
    let Some(value) = holder(document, path) else { return false };
    let smaller = |now: u64| {
        let digits = 10_u64.pow(now.checked_ilog10().unwrap_or(0));
        let round = now / digits * digits;
        if round == now { now / 2 } else { round }
    };
    let new = match &*value {
        Value::Integer(now) if *now > 1 => (smaller(now.unsigned_abs()) as i64).into(),
        text @ Value::String(_) => match nanos(text) {
            Some(now) if now > 1 => time(smaller(now)),
            _ => return false,
        },
        _ => return false,
    };
    *value = new;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relations::{Second, testing};
    use crate::run::Bench;

    /// Broken by any flow of more than 1,000 bytes to host 2.
    fn large(document: &Document, _: &Context<'_>) -> Verdict {
        let is_it = document.list("traffic").any(|flow| {
            let number = |key: &str| flow.get(key).and_then(Value::as_integer);
            number("size") > Some(1_000) && number("dst") == Some(2)
        });
        let broken = || Broken { why: "large".into(), second: Second::None };
        if is_it { Verdict::Broken(broken()) } else { Verdict::Holds }
    }

    #[test]
    fn what_a_relation_does_not_need_goes() {
        let text = "run = { seed = 7, stop = '3ms' }\n[wire]\nprofile = 'rocev2_ipv4'\n[[traffic]]\nsize = 5\ndst = 2\n\
                    [[traffic]]\nsrc = 0\nsize = 77123\ndst = 2\n";
        let document = Document::parse(text).expect("TOML");
        let (bench, relation) = (Bench::new(), testing(large));
        let context = Context { bench: &bench, seed: 1, hpcc: None };
        let (small, _) = minimise(&relation, &document, &context, Duration::from_secs(9)).expect("broken");
        assert_eq!(small.text(), "[[traffic]]\ndst = 2\nsize = 2000\n");
        assert!(minimise(&relation, &Document::default(), &context, Duration::from_secs(9)).is_none(), "holds");
    }
}
