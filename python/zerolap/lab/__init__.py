"""The planner, the worker, and the loop over both: a question in, a document with verdicts and reasons out."""

from zerolap.lab.check import CheckQuestion, check
from zerolap.lab.pictures import read_pictures, read_run_pictures
from zerolap.lab.requests import AskedServer, Lab, Options, Question, comparison_question, run_question
from zerolap.lab.work import compare, read_comparison, read_run, resume, run
from zerolap.lab.worker import Worker

__all__ = [
    "AskedServer",
    "CheckQuestion",
    "Lab",
    "Options",
    "Question",
    "Worker",
    "check",
    "compare",
    "comparison_question",
    "read_comparison",
    "read_pictures",
    "read_run",
    "read_run_pictures",
    "resume",
    "run",
    "run_question",
]
