//! The scripts under `examples/cluster`, on engines that are really started: one of four shards is
//! killed, the script runs it again and merges, and the rows equal the rows of one run.
//!
//! Nothing is installed here: a test whose engine is missing says so and is skipped.
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bench::{lines, plain};
use crate::support::program::{DONE, Place};
use crate::support::skipped;

const PROGRAM: &str = env!("CARGO_BIN_EXE_quadrille");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/cluster");
const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes");

/// Longest wait for an engine or a script: a watchdog, not a limit on their speed.
const PATIENCE: Duration = Duration::from_secs(900);

const SHARDS: usize = 4;
/// The shard that is killed when its first row is written.
const KILLED: usize = 2;
const JOBS: usize = 4 * 3;

/// Processes that end with the test.
#[derive(Default)]
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn place() -> Place {
    let place = Place::new();
    let suite = format!(
        "method = [\"baseline\", \"het\"]\n[matrix]\ntc.bins = [4, 8, 32]\n[[scene]]\n\
         name = \"island\"\npath = \"{SCENES}/island.ply\"\norbit = 4\nwidth = 96\nheight = 54\n"
    );
    fs::write(place.path("suite.toml"), suite).unwrap();
    place
}

fn wait_for<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "no {what}");
        sleep(Duration::from_millis(1));
    }
}

/// The process that runs a shard with these results.
fn process_of_shard(shard: usize, results: &Path) -> Option<i32> {
    let processes = fs::read_dir("/proc").unwrap();
    let mut ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.find(|id: &i32| {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        let has = |word: &str| words.contains(&word.as_bytes());
        words[0] == PROGRAM.as_bytes()
            && has(&format!("{shard}/{SHARDS}"))
            && has(results.to_str().unwrap())
    })
}

/// Runs a script, kills a shard, and compares the merged rows with the rows of one run.
fn survives_a_killed_shard(place: &Place, mut script: Command) {
    place.expect(DONE, &["bench", "suite.toml", "-q", "-o", "whole.jsonl"]);
    let results = place.path("rows.jsonl");
    let shard_file = place.path(&format!("rows.{KILLED}-of-{SHARDS}.jsonl"));
    let log = place.path("script.log");
    let output = File::create(&log).unwrap();
    script.stdout(output.try_clone().unwrap()).stderr(output);
    script.env("QUADRILLE", PROGRAM).current_dir(place.path(""));
    let mut running = Processes(vec![script.spawn().unwrap()]);
    let said = || fs::read_to_string(&log).unwrap_or_default();
    let process = wait_for("first row of the shard", || {
        let ended = running.0[0].try_wait().unwrap();
        assert!(ended.is_none(), "the script has ended: {}", said());
        let has_row = !lines(&shard_file).is_empty();
        has_row.then(|| process_of_shard(KILLED, &results)).flatten()
    });
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(killed.unwrap().success(), "the shard has ended before it was killed");
    let status = wait_for("end of the script", || running.0[0].try_wait().unwrap());
    assert!(status.success(), "{status}: {}", said());
    assert!(said().contains("attempt 1: "), "no shard was retried: {}", said());
    let shards: usize = (1..=SHARDS)
        .map(|i| lines(&place.path(&format!("rows.{i}-of-{SHARDS}.jsonl"))).len())
        .sum();
    assert_eq!(shards, JOBS);
    let rows = |name: &str| -> Vec<String> {
        let lines = lines(&place.path(name));
        lines.iter().map(|line| plain(line)).collect()
    };
    assert_eq!(rows("rows.jsonl"), rows("whole.jsonl"));
}

fn finds(program: &str) -> bool {
    let found = Command::new("which").arg(program).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Writes the configuration of a cluster of this machine alone, which needs neither systemd nor munge nor
/// cgroups.
fn write_slurm_conf(place: &Place) -> PathBuf {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim();
    let folder = place.path("slurm");
    fs::create_dir_all(folder.join("state")).unwrap();
    fs::create_dir_all(folder.join("spool")).unwrap();
    let folder = folder.display();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (controller, daemon) = (free_port(), free_port());
    let conf = place.path("slurm.conf");
    let text = format!(
        "ClusterName=quadrille
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={controller}
SlurmdPort={daemon}
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
    );
    fs::write(&conf, text).unwrap();
    conf
}

#[test]
fn slurm_retries_a_killed_shard() {
    let missing = ["slurmctld", "slurmd", "sbatch", "sinfo"];
    let missing: Vec<_> = missing.into_iter().filter(|p| !finds(p)).collect();
    if !missing.is_empty() {
        skipped::note(format!("needs Slurm in PATH: no {}", missing.join(", ")));
        return;
    }
    // SAFETY: the function has no preconditions.
    #[allow(unsafe_code, reason = "the standard library does not know the user")]
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        skipped::note("slurmd runs jobs only as root");
        return;
    }
    let place = place();
    let conf = write_slurm_conf(&place);
    let mut daemons = Processes::default();
    for arguments in [&["slurmctld", "-D"][..], &["slurmd", "-D", "-N", "node"]] {
        let log = File::create(place.path(&format!("{}.log", arguments[0]))).unwrap();
        let mut daemon = Command::new(arguments[0]);
        daemon.args(&arguments[1..]).env("SLURM_CONF", &conf);
        daemon.stdout(log.try_clone().unwrap()).stderr(log);
        daemons.0.push(daemon.spawn().unwrap());
    }
    let log = |name: &str| fs::read_to_string(place.path(name)).unwrap_or_default();
    wait_for("idle node", || {
        for daemon in &mut daemons.0 {
            let ended = daemon.try_wait().unwrap();
            let logs = log("slurmctld.log") + &log("slurmd.log");
            assert!(ended.is_none(), "Slurm does not start: {logs}");
        }
        let mut sinfo = Command::new("sinfo");
        let sinfo = sinfo.args(["-h", "-o", "%t"]).env("SLURM_CONF", &conf).output();
        (sinfo.unwrap().stdout == b"idle\n").then_some(())
    });
    let mut script = Command::new(format!("{SCRIPTS}/slurm.sh"));
    script.args([&place.path("suite.toml"), &place.path("rows.jsonl")]);
    script.arg(SHARDS.to_string()).env("SLURM_CONF", &conf);
    survives_a_killed_shard(&place, script);
}

#[test]
fn hyperqueue_retries_a_killed_shard() {
    let mut python = Command::new("python3");
    let imported = python.args(["-c", "import hyperqueue"]).output();
    if !imported.is_ok_and(|output| output.status.success()) {
        skipped::note("needs python3 with the package hyperqueue");
        return;
    }
    let place = place();
    let mut script = Command::new("python3");
    script.arg(format!("{SCRIPTS}/hyperqueue_run.py"));
    script.args([&place.path("suite.toml"), &place.path("rows.jsonl")]);
    script.arg(SHARDS.to_string()).args(["--local", "2"]);
    survives_a_killed_shard(&place, script);
}
