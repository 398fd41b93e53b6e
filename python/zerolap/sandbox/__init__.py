"""Where code under test runs: no network unless a topology needs it, none of the lab's files, gone with the lab."""

from zerolap.sandbox.confinement import Confinement, available
from zerolap.sandbox.process import Process, launch, stop_all

__all__ = ["Confinement", "Process", "available", "launch", "stop_all"]
