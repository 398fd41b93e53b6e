"""Drives it all: plans, builds, runs trials, gates validity, asks the judge, has changes explained."""

from zerolap.lab.compare import CompareRequest, compare
from zerolap.lab.picturing import read_pictures, read_run_pictures
from zerolap.lab.progress import Progress, Silent
from zerolap.lab.run import RunRequest, run

__all__ = ["CompareRequest", "Progress", "RunRequest", "Silent", "compare", "read_pictures", "read_run_pictures", "run"]
