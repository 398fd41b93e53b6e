"""Examines the requests and replies of a case one by one, between the load generator and the server."""

from zerolap.engines.probing.probe import ProbedCase as ProbedCase, probe as probe
from zerolap.engines.probing.samples import CommandSamples as CommandSamples
