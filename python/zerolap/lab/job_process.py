"""Executes jobs that come as JSON: `python -m zerolap.lab.job_process BUILDS BLOBS`, a job a line on standard input.

It has nothing but the builds in the directory BUILDS and writes what measurements refer to into the directory BLOBS.
What happens is written to standard output, an event a line.
"""

import sys
from pathlib import Path

from zerolap.build import Builds
from zerolap.engines import Place
from zerolap.host import read_processors
from zerolap.lab.worker import Worker
from zerolap.records import event_json, read_job
from zerolap.sandbox import Cancellation
from zerolap.store import open_blobs


def main(builds: str, blobs: str) -> None:
    """Execute the jobs one after the other."""
    place = Place(Builds(Path(builds)), open_blobs(None, Path(blobs)), read_processors(), Cancellation())
    for line in sys.stdin:
        for event in Worker().carry_out(read_job(line), place):
            print(event_json(event), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
