"""Examines the requests and replies of a case one by one, between the load generator and the server."""

from zerolap.probing.probe import ProbedCase as ProbedCase, probe as probe
from zerolap.probing.samples import CommandSamples as CommandSamples
