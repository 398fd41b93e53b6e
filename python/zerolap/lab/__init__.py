"""Drives it all: plans, builds, runs trials, gates validity, asks the judge, has changes explained."""

from zerolap.lab.checking import CheckRequest, check
from zerolap.lab.compare import CompareRequest, compare
from zerolap.lab.picturing import read_pictures, read_run_pictures
from zerolap.lab.progress import Progress, Silent
from zerolap.lab.run import RunRequest, run

__all__ = [
    "CheckRequest",
    "CompareRequest",
    "Progress",
    "RunRequest",
    "Silent",
    "check",
    "compare",
    "read_pictures",
    "read_run_pictures",
    "run",
]
