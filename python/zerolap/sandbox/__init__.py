"""Where code under test runs: no network unless a topology needs it, none of the lab's files, gone with the lab."""

from zerolap.sandbox.cancellation import Cancellation, current_cancellation
from zerolap.sandbox.confinement import Confinement, available
from zerolap.sandbox.process import Process, launch

__all__ = ["Cancellation", "Confinement", "Process", "available", "current_cancellation", "launch"]
