#!/usr/bin/env python3
"""Runs a suite under HyperQueue, one task per shard, and merges the results.

    examples/cluster/hyperqueue_run.py SUITE.toml RESULTS.jsonl SHARDS

needs the package `hyperqueue` from PyPI. Without --local, the tasks go to the running server that `hq server
start` has started, on whose workers the suite, its scenes and the folder of the results are visible under
the same paths. With --local N, a server and a worker with N cores are started on this machine for the run.

Shards that fail or are killed are submitted again; they continue with their first missing row.
"""

import argparse
import contextlib
import os
import subprocess
import sys
from pathlib import Path

from hyperqueue import Client, Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest


@contextlib.contextmanager
def client_of(options):
    """A client of the running server, or of a server that lives as long as the context."""
    if options.local is None:
        yield Client(options.server_dir)
        return
    with LocalCluster(options.server_dir, WorkerConfig(cores=options.local)) as cluster:
        yield cluster.client()


def run(client, bench, shards, options):
    """Runs some shards and returns those that have failed."""
    job = Job(max_fails=None, default_workdir=Path.cwd(), name="quadrille")
    tasks = {}
    for shard in shards:
        log = f"{options.results}.{shard}.log"
        arguments = ["--quiet", "--threads", str(options.cpus), "--shard", f"{shard}/{options.shards}"]
        task = job.program(
            bench + arguments,
            stdout=log,
            stderr=log,
            name=f"shard-{shard}",
            resources=ResourceRequest(cpus=options.cpus),
        )
        tasks[task.task_id] = shard
    submitted = client.submit(job)
    if client.wait_for_jobs([submitted], raise_on_error=False):
        return []
    return [tasks[task] for task in client.get_failed_tasks(submitted)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite")
    parser.add_argument("results")
    parser.add_argument("shards", type=int)
    parser.add_argument("--local", type=int, metavar="CORES", help="start a server on this machine")
    parser.add_argument("--server-dir", metavar="DIR", help="folder of the server's files")
    parser.add_argument("--cpus", type=int, default=1, help="cores per shard")
    parser.add_argument("--tries", type=int, default=3, help="runs of a shard in all")
    parser.add_argument("--program", default=os.environ.get("QUADRILLE", "quadrille"))
    options = parser.parse_args()

    bench = [options.program, "bench", options.suite, "-o", options.results]
    shards = list(range(1, options.shards + 1))
    with client_of(options) as client:
        for attempt in range(1, options.tries + 1):
            shards = run(client, bench, shards, options)
            if not shards:
                break
            print(f"attempt {attempt}: shards {shards} have failed", file=sys.stderr)
    return subprocess.run(bench + ["--merge"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
