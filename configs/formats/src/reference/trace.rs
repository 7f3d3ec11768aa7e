// SPDX-License-Identifier: GPL-2.0-only
//! The list of nodes whose packets are traced.

use hpcc_model::error::InputError;
use hpcc_model::words::Words;
use std::path::Path;

/// The ids in the file, whether or not such nodes exist, and a note on the part that is not read.
pub(crate) fn read(path: &Path) -> Result<(Vec<u64>, Option<String>), InputError> {
    let mut words = Words::open(path)?;
    let count = words.expect("the number of nodes")?.integer("the number of nodes", u64::MAX)?;
    let mut nodes = Vec::new();
    for index in 1..=count {
        let what = format!("traced node {index} of {count}");
        nodes.push(words.expect(&what)?.integer(&what, u64::MAX)?);
    }
    let note = words.finish(format_args!("the {count} nodes that the first line announces"))?;
    Ok((nodes, note))
}
