"""The verbs in the order of the help, each with a line of help and a module of its name."""

VERBS = {
    "run": "Measure one server: instructions, system calls, CPU time, throughput and latency, and the top functions.",
    "compare": "Compare two servers: which commands got slower or faster, by how much, with what certainty, and why.",
    "bisect": "Find the commit of a range that changed a case, however noisy the machine, and the reason.",
    "history": "Show how cases went over a range of commits, where they changed and why; measure what is missing.",
    "watch": "Follow a branch of any git remote, and measure each new commit.",
    "explain": "Show a stored comparison or run with its reasons, or a sweep of snapshots.",
    "opportunities": "Show what to optimise next in one version: where instructions are wasted over all cases.",
    "comment": "Show stored comparisons in a comment on a pull request of GitHub, which is kept up to date.",
    "profile": "Look once at where a case spends its time: functions, source lines, flame graph, files for profilers.",
    "snapshot": "Measure what BGSAVE, an AOF rewrite or a new replica costs the clients, over sizes of data.",
    "resume": "Continue a comparison, run, sweep or check that was interrupted or killed; nothing is measured twice.",
    "suites": "List the cases, show one, check case files, or show which commands of a server they cover.",
    "serve": "Carry out requests submitted with --platform: on this machine, or with the agents of a fleet.",
    "agent": "Join a fleet, and build or measure on this machine for its conductor.",
    "fleet": "Set a fleet up, admit and revoke agents, show its state, and retry, cancel or drain.",
    "store": "Show the size of the store, and remove results that are not kept.",
    "token": "Make, list and remove tokens of the HTTP API of zerolap serve.",
    "doctor": "Examine this machine: what it can measure, what each missing part costs, and how to fix it.",
}

PANELS = {
    "Measure": ("run", "compare", "bisect", "history", "profile", "snapshot", "resume"),
    "Look": ("explain", "opportunities", "suites", "doctor"),
    "By itself": ("watch", "serve", "comment"),
    "Run a lab": ("agent", "fleet", "store", "token"),
}
"""The parts of the help, each with its verbs."""


def panel_of(verb: str) -> str:
    """Return the part of the help that a verb is in."""
    return next(panel for panel, verbs in PANELS.items() if verb in verbs)
