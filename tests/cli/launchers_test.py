"""--shard auto under a real Slurm and a real Open MPI: the shards, merged, are the result of one run.

Slurm's daemons are started for it, with a key and folders of their own and three nodes on this host;
so only COALPROF_LAUNCHERS=1 runs these tests. Debian: slurmctld slurmd slurm-client munge openmpi-bin."""
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness
from harness import Case

SWEEP = ("stride", "--range", "1..40")
PATIENCE = 300  # seconds, of jobs
SLURM = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "sinfo")

CONFIG = """
ClusterName=coalprof
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PartitionName=all Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
"""


def why_not(programs):
    """Why these tests are skipped; empty where they are not."""
    missing = [name for name in programs if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        return f"no {', '.join(missing)}"
    return "" if os.environ.get("COALPROF_LAUNCHERS") else "COALPROF_LAUNCHERS is not set"


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Launched(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**harness.environment(), "PATH": os.environ["PATH"] + ":/usr/sbin", "HOME": self.folder,
                            "COALPROF": harness.PROGRAM}

    def launch(self, *words, code=0):
        ran = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                             timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout

    def check_shards(self, count, sweep=SWEEP):
        """That so many shards were written, and are one run together."""
        names = [name for name in os.listdir(self.folder) if name.startswith("shard.")]
        self.assertEqual(len(names), count, names)
        merged = self.run_ok("merge", *names, "--json", cwd=self.folder).out
        whole = self.run_ok(*sweep, "--json").out
        # But for the line with the command line and the time.
        self.assertEqual(merged.splitlines()[2:], whole.splitlines()[2:])
        for name in names:
            os.remove(f"{self.folder}/{name}")

    def command(self, *variables, shard="auto"):
        name = ".".join(f"${variable}" for variable in variables)
        return f'exec "$COALPROF" {" ".join(SWEEP)} --shard {shard} --resume -q -o "shard.{name}.json" > /dev/null'


@unittest.skipIf(why_not(SLURM), why_not(SLURM))
class Slurm(Launched):
    def setUp(self):
        super().setUp()
        ports = free_ports(4)
        with open(f"{self.folder}/slurm.conf", "w", encoding="ascii") as file:
            file.write(CONFIG.format(folder=self.folder, ports=ports, host=socket.gethostname(),
                                     user=subprocess.check_output(["id", "-un"], text=True).strip()))
            for node in (1, 2, 3):
                file.write(f"NodeName=n{node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 "
                           f"Port={ports[node]} CPUs=4\n")
        with open(f"{self.folder}/munge.key", "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(f"{self.folder}/munge.key", 0o600)
        os.chmod(self.folder, 0o755)
        os.mkdir(f"{self.folder}/state")
        self.environment["SLURM_CONF"] = f"{self.folder}/slurm.conf"
        self.start("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.sock", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
        self.wait_until(lambda: os.path.exists(f"{self.folder}/munge.sock"))
        self.start("slurmctld", "-D")
        for node in (1, 2, 3):
            os.mkdir(f"{self.folder}/spool.n{node}")
            self.start("slurmd", "-D", "-N", f"n{node}")
        self.wait_until(lambda: self.idle_nodes() == 3)

    def start(self, *words):
        process = subprocess.Popen(words, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def wait_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, "Slurm does not start")
            time.sleep(0.1)

    def idle_nodes(self):
        ran = subprocess.run(["sinfo", "-h", "-o", "%D", "-t", "idle"], env=self.environment, capture_output=True,
                             text=True, check=False)
        return sum(int(line) for line in ran.stdout.split()) if ran.returncode == 0 else 0

    def submit(self, script, *options, code=0):
        with open(f"{self.folder}/job.sh", "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        self.launch("sbatch", "--wait", "--output", "job.%A.%a.txt", *options, "job.sh", code=code)

    def test_splits_and_merges(self):
        with self.subTest("a step on three nodes"):
            self.launch("srun", "-N", "3", "-n", "6", "sh", "-c", self.command("SLURM_PROCID"))
            self.check_shards(6)
        with self.subTest("a step through PMI"):
            self.launch("srun", "--mpi=pmi2", "-n", "4", "sh", "-c", self.command("PMI_RANK"))
            self.check_shards(4)
        with self.subTest("an array"):
            self.submit(self.command("SLURM_ARRAY_TASK_ID"), "--array=0-4")
            self.check_shards(5)
        with self.subTest("an array of which tasks are submitted again"):
            for tasks in ("1,4", "3", "2"):
                self.submit(self.command("SLURM_ARRAY_TASK_ID", shard="auto/4"), f"--array={tasks}")
            self.check_shards(4)
        with self.subTest("an array that may be a part of another"):
            for tasks in ("3", "1", "2-3", "1,3", "0-4:2"):
                self.submit(self.command("SLURM_ARRAY_TASK_ID"), f"--array={tasks}", code=harness.USAGE)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("shard.")], [])
        with self.subTest("a step in each task of an array"):
            self.submit(f"srun sh -c '{self.command('SLURM_ARRAY_TASK_ID', 'SLURM_PROCID')}'", "--array=0-2", "-n2")
            self.check_shards(6)
        with self.subTest("a step smaller than its job"):
            self.submit(f"srun -n 3 sh -c '{self.command('SLURM_PROCID')}'", "-n4")
            self.check_shards(3)
        with self.subTest("the script of a job is no step"):
            self.submit('"$COALPROF" stride --shard auto -o shard.json; echo $? > code', "-n4")
            with open(f"{self.folder}/code", encoding="ascii") as file:
                self.assertEqual(int(file.read()), harness.USAGE)
            self.assertFalse(os.path.exists(f"{self.folder}/shard.json"))

    def test_a_task_that_is_requeued_goes_on(self):
        """The first start is killed behind some points, as by a preemption; the second goes on behind them."""
        sweep = "formula '(i*k*k + i/3) % 1000003' --var k=1..200 --size 1MiB --threads 1"
        run = f'"$COALPROF" {sweep} --shard auto --resume -q -o "$shard.json" > /dev/null'
        self.submit('shard="shard.$SLURM_ARRAY_TASK_ID"\n'
                    'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then\n'
                    f'  {run} &\n'
                    '  while [ ! -s "$shard.json.part.jsonl" ] && kill -0 $!; do sleep 0.01; done\n'
                    '  kill -KILL $!\n'
                    '  scontrol requeue "$SLURM_JOB_ID"; sleep 60\n'
                    f'fi\n{run}', "--array=1-2", "--requeue")
        self.check_shards(2, ("formula", "(i*k*k + i/3) % 1000003", "--var", "k=1..200", "--size", "1MiB"))


@unittest.skipIf(why_not(("mpirun",)), why_not(("mpirun",)))
class OpenMpi(Launched):
    def test_splits_and_merges(self):
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.launch("mpirun", "--oversubscribe", "-n", "4", "sh", "-c", self.command("OMPI_COMM_WORLD_RANK"))
        self.check_shards(4)


if __name__ == "__main__":
    harness.main()
