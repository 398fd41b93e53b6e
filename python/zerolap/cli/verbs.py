"""The verbs, in the order in which one meets them, each with its help in a line; each has a module of its name."""

VERBS = {
    "run": "Measure one server: instructions, system calls, CPU time, throughput and latency, and where they go.",
    "compare": "Compare two servers: which commands got slower or faster, by how much, how sure, and why.",
    "explain": "Show a stored comparison or run with its reasons; needs nothing but the store.",
    "resume": "Continue a comparison or run that was interrupted or killed; nothing is measured twice.",
    "suites": "The cases there are: list them, show one, check files of cases.",
    "doctor": "Examine this machine: what it can measure, what each missing piece costs, and how to mend it.",
}
