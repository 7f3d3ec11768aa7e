// SPDX-License-Identifier: GPL-2.0-only
//! Controllers of the user's own: files in C++, which are compiled against ns-3's simulator and loaded into it, and in Rust, of
//! which a simulator is built.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};
use hpcc_core::cc::{Algorithm, CongestionControl, FlowLimits, LineRate, Needs, Reaction, Reads, TcpClass};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_core::settings::{Input, Kind, Setting, SettingError, Settings, Value};
use hpcc_core::units::BitRate;
use serde::{Deserialize, Serialize};

use crate::install;
use crate::simulator::{self, Simulator};
use crate::{human, script};
use std::sync::Arc;

/// What was made of all files.
#[derive(Debug, Default)]
struct Own {
    /// Libraries that ns-3's simulator loads.
    libraries: Vec<PathBuf>,
    /// The simulator with the controllers in Rust.
    program: Option<PathBuf>,
    in_cpp: Vec<Class>,
    in_rust: Vec<Class>,
}

impl Own {
    fn classes(&self) -> impl Iterator<Item = &Class> {
        self.in_cpp.iter().chain(&self.in_rust)
    }
}

static OWN: OnceLock<Own> = OnceLock::new();

/// The libraries that ns-3's simulator loads.
pub fn libraries() -> &'static [PathBuf] {
    OWN.get().map(|own| own.libraries.as_slice()).unwrap_or_default()
}

/// The simulator with the controllers in Rust, if there are any.
pub fn program() -> Option<&'static Path> {
    OWN.get()?.program.as_deref()
}

/// What `--control` has to name in a process that repeats this one's runs: all is compiled already.
pub fn files() -> impl Iterator<Item = &'static Path> {
    libraries().iter().map(PathBuf::as_path).chain(program())
}

/// Whether a controller of a file has this name.
pub fn is_own(name: &str) -> bool {
    OWN.get().is_some_and(|own| own.classes().any(|class| class.name == name))
}

/// Whether a class of a file in C++ has this name.
pub fn is_in_cpp(name: &str) -> bool {
    OWN.get().is_some_and(|own| own.in_cpp.iter().any(|class| class.name == name))
}

/// Libraries as the loader takes them.
pub fn preloaded(libraries: &[PathBuf]) -> OsString {
    libraries.iter().map(|library| library.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"))
}

/// Compiles files for all runs of this process, and asks for their classes.
///
/// # Errors
/// If the compiler, or what it made, says what is wrong.
pub fn choose(files: &[PathBuf]) -> Result<()> {
    let (mut own, mut sources) = (Own::default(), Vec::new());
    for file in files {
        let named = || file.display().to_string();
        ensure!(file.is_file(), "{}: no such file", named());
        let path = file.canonicalize().with_context(named)?;
        match file.extension().and_then(OsStr::to_str).unwrap_or_default() {
            "rs" if simulator::chosen() == Some(simulator::Kind::Ns3) => {
                bail!("{}: --simulator ns3 takes a controller in C++, *.cc", named())
            }
            "rs" => sources.push(path),
            "" if is_program(&path) => {
                ensure!(own.program.is_none(), "{}: expected one program with controllers in Rust", named());
                own.in_rust = classes_of(&path).with_context(named)?;
                own.program = Some(path);
            }
            "cc" | "so" if simulator::chosen() == Some(simulator::Kind::Core) => {
                bail!("{}: --simulator core takes a controller in Rust, *.rs", named())
            }
            end @ ("cc" | "so") => {
                let (library, classes) = of_cpp(&path, end == "cc").with_context(named)?;
                ensure!(!classes.is_empty(), "{}: {NO_CONTROLLER}", named());
                own.libraries.push(library);
                own.in_cpp.extend(classes);
            }
            _ => bail!("{}: expected a file in C++, *.cc, or Rust, *.rs, or what --control has made of one", named()),
        }
    }
    if !sources.is_empty() {
        let named = || sources.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
        ensure!(own.program.is_none(), "{}: expected the sources of all controllers in Rust, or one program", named());
        let (program, classes) = of_rust(&sources).with_context(named)?;
        ensure!(!classes.is_empty(), "{}: {NO_CONTROLLER}", named());
        (own.program, own.in_rust) = (Some(program), classes);
    }
    let known = hpcc_core::cc::all();
    if let Some(taken) = own.in_rust.iter().find(|class| known.iter().any(|known| known.name() == class.name)) {
        bail!("--control: {} is an algorithm of hpcc's own; expected another name", taken.name);
    }
    let mut names = HashSet::new();
    if let Some(twice) = own.classes().find(|class| !names.insert(&class.name)) {
        bail!("--control: two files have a controller {}; expected other names", twice.name);
    }
    OWN.get_or_init(|| own);
    Ok(())
}

const NO_CONTROLLER: &str =
    "it has no controller; expected one as in scratch/hpcc-own-control.cc, or in ns3-module/doc/adding-a-controller.md";

/// A library, and the classes that the simulator knows with it alone.
fn of_cpp(source: &Path, is_source: bool) -> Result<(PathBuf, Vec<Class>)> {
    let simulator = Simulator::find(simulator::Kind::Ns3)?;
    let library = if is_source { compile(source, simulator.path())? } else { source.to_owned() };
    let usual: HashSet<String> = ids(simulator.path(), None)?.into_iter().collect();
    let own = ids(simulator.path(), Some(&library))?.into_iter().filter(|name| !usual.contains(name));
    let classes = own.map(|name| ask(simulator.path(), &library, name)).collect::<Result<_>>()?;
    Ok((library, classes))
}

/// The manifest of a simulator with files of the user's.
const MANIFEST: &str = "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
    [dependencies]\nhpcc-core = { path = '{tree}/hpcc-core' }\nhpcc-analysis = { path = '{tree}/analysis' }\n\n";
/// Its only source; each of the user's files is a module of it.
fn main_of(sources: &[PathBuf]) -> Result<String> {
    let mut text = String::new();
    for (n, source) in sources.iter().enumerate() {
        let path = source.to_str().context("expected a name in Unicode")?;
        let _ = writeln!(text, "#[path = {path:?}]\nmod own_{n};");
    }
    let all = (0..sources.len()).map(|n| format!("own_{n}::controllers()")).collect::<Vec<_>>().join(", ");
    text += "\nfn main() -> std::process::ExitCode {\n";
    let _ = writeln!(text, "    hpcc_analysis::engine::main([{all}].into_iter().flatten().collect())\n}}");
    Ok(text)
}

/// Builds a simulator in the folder of this command's own build, which shares with it what is compiled already.
fn of_rust(sources: &[PathBuf]) -> Result<(PathBuf, Vec<Class>)> {
    let tree = script::source_tree()?;
    let own = env::current_exe().context("the program hpcc has no path")?;
    let target = own.ancestors().nth(2).context("the program hpcc is in no folder")?;
    let main = main_of(sources)?;
    let name = format!("own-{}", &blake3::hash(main.as_bytes()).to_hex()[..12]);
    let project = target.join("own-controls").join(&name);
    let read = |name: &str| fs::read_to_string(tree.join(name)).with_context(|| name.to_owned());
    let workspace = read("Cargo.toml")?;
    let profiles = workspace.find("[profile.").map_or("", |begin| &workspace[begin..]);
    let manifest = MANIFEST.replace("{name}", &name).replace("{tree}", &tree.display().to_string());
    fs::create_dir_all(project.join("src")).with_context(|| project.display().to_string())?;
    for (file, text) in
        [("Cargo.toml", manifest + profiles), ("Cargo.lock", read("Cargo.lock")?), ("src/main.rs", main)]
    {
        let file = project.join(file);
        // Cargo compiles again what is newer; the lock has the project's own entry, too, after the first time.
        let is_there = fs::read_to_string(&file).is_ok_and(|there| there == text || file.ends_with("Cargo.lock"));
        if !is_there {
            fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
    }
    let program = target.join("release").join(&name);
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    if sources.iter().any(|source| changed(source) >= changed(&program)) {
        let names = sources.iter().map(|source| source.display().to_string()).collect::<Vec<_>>().join(", ");
        human::note(format_args!("compiling {names}"));
    }
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tree).args(["build", "--release", "--quiet", "--manifest-path"]).arg(project.join("Cargo.toml"));
    let said = cargo.arg("--target-dir").arg(target).output().context("cargo")?;
    ensure!(said.status.success(), "it cannot be compiled\n{}", String::from_utf8_lossy(&said.stderr).trim_end());
    let classes = classes_of(&program)?;
    Ok((program, classes))
}

/// Whether a file is what [`of_rust`] makes.
fn is_program(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("own-")) && simulator::existing(path).is_ok()
}

fn classes_of(program: &Path) -> Result<Vec<Class>> {
    serde_json::from_str(&told(program, None, "--algorithms")?).context("its controllers")
}

/// A command of a compilation database.
#[derive(Deserialize)]
struct Compilation {
    file: String,
    command: String,
}

/// Compiles a file as the simulator's own was, into a library beside it that is named by what is in it.
fn compile(source: &Path, program: &Path) -> Result<PathBuf> {
    let folders = [program.parent(), program.ancestors().nth(3)].into_iter().flatten();
    let folders = folders.flat_map(|folder| [folder.to_owned(), folder.join("cmake-cache")]);
    let Some(build) = folders.into_iter().find(|folder| folder.join("build.ninja").exists()) else {
        bail!("--control compiles with what the simulator was built from, by ninja: use ./hpcc of a source tree");
    };
    let known = Command::new("ninja").arg("-C").arg(&build).args(["-t", "compdb"]).output().context("ninja")?;
    // What ninja says of the folder comes ahead.
    let json = known.stdout.iter().position(|byte| *byte == b'[').map_or(&[][..], |begin| &known.stdout[begin..]);
    let known: Vec<Compilation> = serde_json::from_slice(json).context("the commands of the build")?;
    let scenario = known.iter().find(|one| one.file.ends_with("scratch/hpcc-scenario.cc"));
    let how = &scenario.context("the build has no hpcc-scenario.cc")?.command;
    // Without the part of the object file; precompiled headers are of other options.
    let end = [" -MD ", " -o "].iter().filter_map(|part| how.find(part)).min().unwrap_or(how.len());
    let how = how[..end].replace(" -Winvalid-pch", "").replace(" -fdiagnostics-color=always", "");
    let folder = build.join("own-controls");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let stamp = folder.join(&blake3::hash(format!("{how} {}", source.display()).as_bytes()).to_hex()[..16]);
    if let Some(library) = compiled(&stamp, &build) {
        return Ok(library);
    }
    human::note(format_args!("compiling {}", source.display()));
    let begin = SystemTime::now();
    let draft = tempfile::Builder::new().suffix(".so").tempfile_in(&folder).context("a library")?.into_temp_path();
    let read = tempfile::NamedTempFile::new_in(&folder).context("a list of files")?;
    let mut compiler = Command::new("sh");
    compiler
        .current_dir(&build)
        .args(["-c", &format!("exec {how} -fPIC -shared -MD -MF \"$@\""), "sh"])
        .arg(read.path())
        .arg("-o")
        .arg(&draft)
        .arg(source);
    for (_, path) in
        install::libraries(program)?.iter().filter(|(name, _)| name.contains("ns3") || name.contains("hpcc"))
    {
        let place = path.parent().map(|folder| format!("-Wl,-rpath,{}", folder.display())).unwrap_or_default();
        compiler.arg(path).arg(place);
    }
    let said = compiler.output().context("the compiler")?;
    ensure!(said.status.success(), "it cannot be compiled\n{}", String::from_utf8_lossy(&said.stderr).trim_end());
    let hash = blake3::hash(&fs::read(&draft)?).to_hex();
    let library = folder.join(format!("{}.so", &hash[..16]));
    draft.persist(&library).with_context(|| library.display().to_string())?;
    let text = format!("{} {}", library.display(), fs::read_to_string(read.path())?);
    fs::write(&stamp, text).and_then(|()| fs::File::open(&stamp)?.set_modified(begin)).context("a stamp")?;
    Ok(library)
}

/// The library that a stamp names, if nothing that it was compiled from is newer. The stamp is as old as the beginning of that, and
/// lists the files behind a colon, as compilers do for make.
fn compiled(stamp: &Path, build: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(stamp).ok()?;
    let (library, files) = (text.split(' ').next()?, text.split_once(": ")?.1);
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
    let made = changed(stamp).ok()?;
    let mut files = files.split_whitespace().filter(|word| *word != "\\");
    let is_old = files.all(|file| changed(&build.join(file)).is_ok_and(|time| time < made));
    Some(PathBuf::from(library)).filter(|library| is_old && library.exists())
}

/// What the simulator prints with an option of ns-3.
fn told(program: &Path, library: Option<&Path>, option: &str) -> Result<String> {
    let mut command = Command::new(program);
    library.iter().for_each(|library| {
        command.env("LD_PRELOAD", library);
    });
    let output = command.arg(option).output().with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "it cannot be loaded: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ids(program: &Path, library: Option<&Path>) -> Result<Vec<String>> {
    let text = told(program, library, "--PrintTypeIds")?;
    Ok(text.lines().map(str::trim).filter(|line| line.contains("::")).map(str::to_owned).collect())
}

/// A class with its attributes, which ns-3 lists as `--NAME::ATTRIBUTE=[VALUE]`, the help in the line below.
fn ask(program: &Path, library: &Path, name: String) -> Result<Class> {
    let text = told(program, Some(library), &format!("--PrintAttributes={name}"))?;
    let begin = format!("--{name}::");
    let attribute = |(line, help): (&str, &str)| {
        let (key, value) = line.trim().strip_prefix(&begin)?.split_once("=[")?;
        Some((key.to_owned(), value.strip_suffix(']')?.to_owned(), help.trim().to_owned()))
    };
    let attributes = text.lines().zip(text.lines().skip(1)).filter_map(attribute).collect();
    Ok(Class { name, attributes })
}

/// The defaults of files, in which congestion controls of ns-3's TCP are known by their names, of whose attributes nothing is,
/// and those of the user's own file.
pub fn defaults() -> NodeSettings {
    NodeSettings::new(ControlSettings::with(Vec::new(), |name| {
        let classes = || OWN.get().into_iter().flat_map(Own::classes);
        if let Some(class) = classes().find(|class| class.name == name) {
            return Ok(Box::new(class.clone()));
        }
        if name.starts_with("ns3::Tcp") {
            return Ok(Box::new(TcpClass::new(name, LineRate)));
        }
        let own: Vec<&str> = classes().map(|class| class.name.as_str()).collect();
        Err(match own.as_slice() {
            [] => "for TCP the name of one of ns-3's classes such as ns3::TcpDctcp, or with --control FILE.cc a class of that file"
                .into(),
            own => format!("{} of --control", own.join(", ")),
        })
    }))
}

/// A controller of the file, as far as the command has to know it: the simulator checks its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Class {
    name: String,
    /// Name, value and help of each.
    attributes: Vec<(String, String, String)>,
}

impl Class {
    /// What is known of an algorithm.
    pub fn of(algorithm: &dyn Algorithm) -> Class {
        let attribute = |setting: Setting| (setting.key.to_owned(), setting.default.text(), setting.help);
        let attributes = algorithm.list().into_iter().map(attribute).collect();
        Class { name: algorithm.name().to_owned(), attributes }
    }
}

/// Units of times and rates, in which ns-3 shows them; it takes a number alone for seconds, or for bits per second.
const UNITS: [&str; 7] = ["ns", "us", "ms", "s", "ps", "fs", "bps"];

impl Settings for Class {
    fn list(&self) -> Vec<Setting> {
        let setting = |(key, value, help): &(String, String, String)| Setting {
            // There are few, and they are asked for once or twice in a run of the command.
            key: key.clone().leak(),
            kind: Kind::Text,
            auto: false,
            default: Value::Text(value.clone()),
            condition: None,
            of_network: false,
            assumed: None,
            help: help.clone(),
        };
        self.attributes.iter().map(setting).collect()
    }

    fn get(&self, key: &str) -> Option<Value> {
        let (_, value, _) = self.attributes.iter().find(|(name, ..)| name == key)?;
        Some(Value::Text(value.clone()))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        let new = match input {
            Input::Switch(on) => on.to_string(),
            Input::Whole(number) => number.to_string(),
            Input::Large(number) => number.to_string(),
            Input::Real(number) => number.to_string(),
            Input::Text(text) => text.into(),
        };
        let (_, value, _) = self.attributes.iter_mut().find(|(name, ..)| name == key).ok_or(SettingError::Unknown)?;
        let unit = value.trim_start_matches(|letter: char| letter.is_ascii_digit() || "+-.e".contains(letter));
        let is_bare = new.parse().is_ok_and(|number: f64| number != 0.0);
        if UNITS.contains(&unit) && is_bare {
            return Err(SettingError::Value(format!("the value is {new}; expected one with a unit, such as {value}")));
        }
        *value = new;
        Ok(())
    }
}

impl Algorithm for Class {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &'static str {
        "a class of --control"
    }

    /// The simulator starts flows, not the command.
    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        LineRate.start(limits)
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    /// What a class can need, as ns-3 does not say what this one does.
    fn needs(&self) -> Needs {
        let (reads, reaction) = (Reads::Records, Reaction::Mark);
        Needs { reads, reaction, rtt: true, sent: true, ecn: Some(EcnThreshold::USUAL), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_a_class_are_keys_whose_values_the_simulator_checks() {
        let attributes = vec![("Target".to_owned(), "10000".to_owned(), "Bytes that are welcome".to_owned())];
        let mut class = Class { name: "ns3::Own".into(), attributes };
        class.set("Target", Input::Whole(5)).expect("an attribute");
        assert_eq!(class.get("Target").map(|value| value.text()), Some("5".into()));
        assert!(class.set("Target2", Input::Whole(5)).is_err() && class.list()[0].help == "Bytes that are welcome");
    }

    #[test]
    fn a_time_or_a_rate_needs_a_unit() {
        let attributes = [("Every", "+55000ns"), ("Rate", "5000000bps"), ("Gain", "0.5"), ("Name", "slow-us")];
        let attributes = attributes.map(|(key, value)| (key.to_owned(), value.to_owned(), String::new())).into();
        let mut class = Class { name: "ns3::Own".into(), attributes };
        let mut set = |key, text| class.set(key, Input::Text(text));
        let wrong = |given: &str, such: &str| {
            Err(SettingError::Value(format!("the value is {given}; expected one with a unit, such as {such}")))
        };
        assert_eq!(set("Every", "55"), wrong("55", "+55000ns"));
        assert_eq!(set("Rate", "1e9"), wrong("1e9", "5000000bps"));
        for (key, text) in [("Every", "5us"), ("Every", "0"), ("Rate", "1Gbps"), ("Gain", "2"), ("Name", "7")] {
            assert_eq!(set(key, text), Ok(()), "{key}");
        }
    }
}
