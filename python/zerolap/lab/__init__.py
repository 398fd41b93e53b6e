"""The planner, the worker, and the loop over both: a question in, a document with verdicts and reasons out."""

from zerolap.lab.check import CheckQuestion, check
from zerolap.lab.pictures import read_pictures, read_run_pictures
from zerolap.lab.planner import Planner
from zerolap.lab.requests import AskedServer, Lab, Options, Question, comparison_question, run_question
from zerolap.lab.results import Results
from zerolap.lab.selection import StartableServer
from zerolap.lab.submitted import KnownPlatform, Wish, request_of_submission, submit
from zerolap.lab.work import (
    begin_measuring,
    compare,
    conclude,
    interrupt,
    read_comparison,
    read_run,
    recorded_results,
    resume,
    run,
)
from zerolap.lab.worker import Worker

__all__ = [
    "AskedServer",
    "CheckQuestion",
    "KnownPlatform",
    "Lab",
    "Options",
    "Planner",
    "Question",
    "Results",
    "StartableServer",
    "Wish",
    "Worker",
    "begin_measuring",
    "check",
    "compare",
    "comparison_question",
    "conclude",
    "interrupt",
    "read_comparison",
    "read_pictures",
    "read_run",
    "read_run_pictures",
    "recorded_results",
    "request_of_submission",
    "resume",
    "run",
    "run_question",
    "submit",
]
