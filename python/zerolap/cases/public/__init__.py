"""Reader of the public format: one suite a file, its client in memtier_benchmark's arguments.

What is wrong with a file is told as a warning with its line, and the case runs as far as it can.
"""

from zerolap.cases.public.suite import case_of, is_public

__all__ = ["case_of", "is_public"]
