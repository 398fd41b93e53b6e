"""Where code under test runs: without network, without the lab's files, gone when the lab is gone."""

from zerolap.sandbox.confinement import Confinement, available
from zerolap.sandbox.process import Process, launch, stop_all

__all__ = ["Confinement", "Process", "available", "launch", "stop_all"]
