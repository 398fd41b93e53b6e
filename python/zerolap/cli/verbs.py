"""The verbs in the order of the help, each with a line of help and a module of its name."""

VERBS = {
    "run": "Measure one server: instructions, system calls, CPU time, throughput and latency, and the top functions.",
    "compare": "Compare two servers: which commands got slower or faster, by how much, with what certainty, and why.",
    "explain": "Show a stored comparison or run with its reasons.",
    "resume": "Continue a comparison or run that was interrupted or killed; nothing is measured twice.",
    "suites": "List the cases, show one, or check case files.",
    "doctor": "Examine this machine: what it can measure, what each missing part costs, and how to fix it.",
}
