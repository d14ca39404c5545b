"""A cluster of two workers on this machine, until standard input ends.

It says the scheduler's address and the process id of each worker's process.
"""

import sys


def main() -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        print(cluster.scheduler_address, *(n.pid for n in cluster.workers.values()), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
