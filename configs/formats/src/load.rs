// SPDX-License-Identifier: GPL-2.0-only
//! From a file of either format to a scenario.

use crate::error::InputError;
use crate::kind::{is_toml, refuse_sweep};
use crate::scenario::Scenario;
use crate::{reference, toml_format};
use hpcc_core::node::NodeSettings;
use std::path::Path;

/// Reads and checks a scenario.
///
/// A `.toml` file is TOML, and so is any file whose first line of content opens a section or assigns a value;
/// everything else is the reference's `config.txt`. Each override is `KEY=VALUE` and replaces what the file
/// says: a dotted path for TOML (`congestion_control.eta=0.98`), a key for the reference (`U_TARGET=0.98`). In
/// both, `compatibility.NAME=false` corrects one of the reference's faults.
///
/// # Errors
/// Anything that is misspelt, missing, out of range or inconsistent, with file and line where there is one.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, InputError> {
    load_with(path, overrides, NodeSettings::default())
}

/// The same with other defaults, and perhaps more algorithms to choose from.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, overrides: &[String], defaults: NodeSettings) -> Result<Scenario, InputError> {
    let text = crate::text::read(path)?;
    let draft = if is_toml(path, &text) {
        refuse_sweep(path, &text)?;
        toml_format::read(path, &text, overrides, defaults)?
    } else {
        reference::read(path, &text, overrides)?
    };
    draft.finish()
}
