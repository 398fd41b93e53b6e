"""The planner, the worker, and the loop over both: a question in, a document with verdicts and reasons out."""

from zerolap.lab.check import CheckQuestion, check
from zerolap.lab.pictures import read_pictures, read_run_pictures
from zerolap.lab.requests import AskedServer, Lab, Question
from zerolap.lab.work import compare, read_comparison, read_run, resume, run
from zerolap.lab.worker import Worker

__all__ = [
    "AskedServer",
    "CheckQuestion",
    "Lab",
    "Question",
    "Worker",
    "check",
    "compare",
    "read_comparison",
    "read_pictures",
    "read_run",
    "read_run_pictures",
    "resume",
    "run",
]
