"""Reader of the public format: one suite per file, its client given by memtier_benchmark's arguments.

Faults in a file are warnings with the line, and the case runs as far as possible.
"""

from zerolap.cases.public.suite import case_of as case_of, is_public as is_public
