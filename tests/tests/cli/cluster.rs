// SPDX-License-Identifier: GPL-2.0-only
//! A Slurm cluster of this one machine, by the programs of the distribution, in a temporary folder and on the loopback. It ends jobs that
//! take more memory than they asked for, without control groups, which a container may not have.

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Its programs.
const PROGRAMS: [&str; 7] = ["munged", "slurmctld", "slurmd", "sinfo", "sbatch", "squeue", "scancel"];
/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cluster; it ends with this.
pub struct Cluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts it; nothing where Slurm is not installed.
    pub fn start() -> Option<Cluster> {
        if !PROGRAMS.iter().all(|program| is_installed(program)) {
            return None;
        }
        let mut cluster = Cluster { folder: tempfile::tempdir().expect("temporary folder"), daemons: Vec::new() };
        cluster.configure();
        let path = |name: &str| cluster.folder.path().join(name).display().to_string();
        let munge = ["socket", "key-file", "pid-file", "log-file", "seed-file"]
            .map(|option| format!("--{option}={}", path(&format!("munge.{}", option.trim_end_matches("-file")))));
        let config = path("slurm.conf");
        cluster.daemon("munged", munge.iter().map(String::as_str).chain(["--foreground", "--force"]));
        cluster.wait_for("munged", |cluster| cluster.folder.path().join("munge.socket").exists());
        cluster.daemon("slurmctld", ["-D", "-f", &config]);
        cluster.daemon("slurmd", ["-D", "-f", &config]);
        cluster.wait_for("a node", |cluster| cluster.answer("sinfo", &["--noheader", "--format=%T"]).trim() == "idle");
        Some(cluster)
    }

    /// Lets a command find it.
    pub fn admit(&self, command: &mut Command) {
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
    }

    /// The output of a command of Slurm.
    pub fn answer(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        self.admit(command.args(arguments));
        String::from_utf8(command.output().expect("it starts").stdout).expect("text")
    }

    /// Waits until all jobs have ended.
    pub fn wait(&self) {
        self.wait_for("the end of all jobs", |cluster| cluster.answer("squeue", &["--noheader"]).is_empty());
    }

    /// Waits until something is so.
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Cluster) -> bool) {
        let since = Instant::now();
        while !is_so(self) {
            assert!(since.elapsed() < PATIENCE, "no {what}; daemons say:\n{}", self.words());
            sleep(Duration::from_millis(20));
        }
    }

    fn configure(&self) {
        let root = self.folder.path();
        let user = Command::new("id").arg("-un").output().expect("id").stdout;
        let (user, host) = (String::from_utf8(user).expect("a name"), fs::read_to_string("/proc/sys/kernel/hostname"));
        let [server, node] = [free_port(), free_port()];
        let config = format!(
            "ClusterName=test\n\
             SlurmctldHost=localhost(127.0.0.1)\n\
             SlurmctldPort={server}\n\
             SlurmdPort={node}\n\
             SlurmUser={user}\n\
             SlurmdUser={user}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={root}/munge.socket\n\
             CredType=cred/munge\n\
             StateSaveLocation={root}/state\n\
             SlurmdSpoolDir={root}/spool\n\
             SlurmctldPidFile={root}/slurmctld.pid\n\
             SlurmdPidFile={root}/slurmd.pid\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/linux\n\
             JobAcctGatherFrequency=task=1\n\
             JobAcctGatherParams=OverMemoryKill\n\
             AccountingStorageType=accounting_storage/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core_Memory\n\
             MpiDefault=none\n\
             SlurmdParameters=config_overrides\n\
             NodeName=localhost NodeAddr=127.0.0.1 NodeHostname={host} CPUs={processors} RealMemory=1000\n\
             PartitionName=batch Nodes=localhost Default=YES MaxTime=INFINITE State=UP\n",
            user = user.trim(),
            host = host.expect("a name").trim(),
            root = root.display(),
            processors = available_parallelism().map_or(1, usize::from),
        );
        for folder in ["state", "spool"] {
            fs::create_dir(root.join(folder)).expect("folder");
        }
        fs::write(root.join("slurm.conf"), config).expect("written");
        let mut key = [0; 128];
        File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut key)).expect("random bytes");
        write_secret(&root.join("munge.key"), &key);
    }

    fn daemon<'a>(&mut self, program: &str, arguments: impl IntoIterator<Item = &'a str>) {
        let words = File::create(self.folder.path().join(format!("{program}.out"))).expect("file");
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", path()).stdin(Stdio::null());
        command.stdout(words.try_clone().expect("file")).stderr(words);
        self.admit(&mut command);
        self.daemons.push(command.spawn().expect("it starts"));
    }

    fn words(&self) -> String {
        let read = |program: &&str| fs::read_to_string(self.folder.path().join(format!("{program}.out")));
        PROGRAMS.iter().filter_map(|program| read(program).ok()).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Of a test that failed, jobs may be left.
        self.answer("scancel", &["--full", "--partition=batch"]);
        let since = Instant::now();
        while !self.answer("squeue", &["--noheader"]).is_empty() && since.elapsed() < Duration::from_secs(10) {
            sleep(Duration::from_millis(50));
        }
        for daemon in self.daemons.iter_mut().rev() {
            // One that has ended needs no end.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The folders of daemons are not in everybody's.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

fn is_installed(program: &str) -> bool {
    path().split(':').any(|folder| Path::new(folder).join(program).is_file())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

fn write_secret(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, bytes).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
}
