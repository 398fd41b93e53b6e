"""Looks at single requests and their replies, between a load generator and a server: what does a case really do?"""

from zerolap.probing.probe import ProbedCase, ProbeTrial, probe
from zerolap.probing.samples import CommandSamples, Sample

__all__ = ["CommandSamples", "ProbeTrial", "ProbedCase", "Sample", "probe"]
