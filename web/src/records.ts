// The records of python/zerolap/records, written by `python scripts/web_types.py`. Do not edit.

/** Who calls the function, and how often per request on each side. */
export interface Caller {
  function: string;
  file: string | null;
  calls_per_op: PerSide;
  in_diff: boolean;
}

/**
 * The pictures of a case, by side; null where an engine did not measure it.
 *
 * Latency: by share of requests, the microseconds within which they were answered; share 1 is the longest.
 * Throughput: a point for each slice or several, seconds of measured time of both sides and requests per second;
 * `starts_at` says when on that axis servers were started anew. `missing` says why pictures are not there that once
 * were measured. A run has pictures of the head alone.
 */
export interface CasePictures {
  latency: Partial<Record<"base" | "head", Array<[number, number]>>> | null;
  throughput: Partial<Record<"base" | "head", Array<[number, number]>>> | null;
  stacks: Partial<Record<"base" | "head", StackTree>> | null;
  starts_at: Array<number>;
  missing: string | null;
}

/**
 * What a comparison concludes for a case; an invalid one has no verdicts.
 *
 * `deciding` is the metric whose verdict decided the case's, none for an invalid one. `work` is `identical` where
 * both sides execute the same instructions.
 */
export interface CaseResult {
  case: string;
  commands: Array<string>;
  group: string;
  topology: string;
  verdict: "regression" | "improvement" | "same" | "unsure" | "invalid";
  deciding: string | null;
  work: "regression" | "improvement" | "same" | "identical" | "unsure" | null;
  confirmed: boolean;
  validity: Validity;
  verdicts: Array<Verdict>;
  findings: Array<Finding>;
  failure: string | null;
}

/** One condition of validity: the value seen and the limit it is held against. */
export interface Check {
  check: string;
  ok: boolean;
  value: number | string | null;
  limit: string;
}

/** The document of one comparison. */
export interface Comparison {
  schema: "zerolap.comparison/1";
  id: string;
  created: string;
  command_line: string;
  state: "running" | "done" | "interrupted" | "failed";
  base: MeasuredServer;
  head: MeasuredServer;
  platform: Platform;
  settings: Settings;
  summary: Summary;
  notes: Array<string>;
  cases: Array<CaseResult>;
  skipped: Array<Skipped>;
}

/**
 * Why a case changed.
 *
 * `culprit` names a function whose cost changed; `moved` a cost that only changed its place; `diffuse` says that no
 * few functions explain the change; `cause` which kind of cause it points to that counting and timing differ;
 * `limits` says what could not be seen and why; `identity` whether both sides execute the same instructions, with the
 * evidence. `instructions_per_op` counts the function with all it calls, `self_instructions_per_op` without;
 * `cpu_ns_per_op` and `self_cpu_ns_per_op` are its sampled time likewise. `share_of_change` is the part of the case's
 * whole change that this finding explains.
 */
export interface Finding {
  kind: "culprit" | "moved" | "diffuse" | "cause" | "limits" | "identity";
  rank: number;
  function: string | null;
  file: string | null;
  lines: Array<number> | null;
  instructions_per_op: PerSide | null;
  self_instructions_per_op: PerSide | null;
  calls_per_op: PerSide | null;
  cpu_ns_per_op: PerSide | null;
  self_cpu_ns_per_op: PerSide | null;
  share_of_change: number | null;
  in_diff: boolean | null;
  callers: Array<Caller>;
  text: string;
}

/**
 * A function's own instructions, calls and sampled time per request, each null where it was not measured.
 *
 * `share` is its part of the case's time where that was sampled, else of the instructions.
 */
export interface FunctionCost {
  function: string;
  file: string | null;
  self_instructions_per_op: number | null;
  calls_per_op: number | null;
  self_cpu_ns_per_op: number | null;
  share: number;
}

/**
 * A side of a comparison, or the server of a run, as documents describe it: its build under the user's name.
 *
 * `config` holds the settings that the server was started with beside the case's own.
 */
export interface MeasuredServer {
  name: string;
  commit: string | null;
  version: string;
  build: string;
  build_id: string;
  flags: string;
  compiler: string;
  stripped: boolean;
  variant: string;
  allocator: string;
  architecture: string;
  libc: string;
  config: Record<string, string>;
}

/** What is measured; `unit` is what one of its values counts, `heading` its label where there is little room. */
export interface Metric {
  name: string;
  engine: "counted" | "timed" | "sampled" | "traced";
  unit: string;
  less_is_better: boolean;
  label: string;
  heading: string;
}

/** A value per request on each side; null where the side has no such function. */
export interface PerSide {
  base: number | null;
  head: number | null;
}

/** The document behind the page's pictures. */
export interface Pictures {
  schema: "zerolap.pictures/1";
  frames: Array<StackFrame>;
  cases: Record<string, CasePictures>;
}

/**
 * A machine.
 *
 * `fingerprint` is a digest of what makes it this machine: processors, caches, memory, virtualisation. `facts` holds
 * all that is known of it, by name, those that change with time included: kernel, microcode, governor, mitigations.
 */
export interface Platform {
  name: string;
  fingerprint: string;
  cpu: string;
  cores: number;
  kernel: string;
  facts: Record<string, string>;
}

/**
 * One case of a run: the metrics' means over its trials and the functions that cost most.
 *
 * `limits` says what of it could not be measured, and why.
 */
export interface RunCase {
  case: string;
  commands: Array<string>;
  group: string;
  topology: string;
  validity: Validity;
  metrics: Record<string, number>;
  functions: Array<FunctionCost>;
  samples: number;
  limits: Array<string>;
  failure: string | null;
}

/** The document of one run. */
export interface RunReport {
  schema: "zerolap.run/1";
  id: string;
  created: string;
  command_line: string;
  server: MeasuredServer;
  platform: Platform;
  settings: Settings;
  machine_seconds: number;
  notes: Array<string>;
  cases: Array<RunCase>;
  skipped: Array<Skipped>;
}

/**
 * What the comparison was asked to do; `min_effect` by engine, as a fraction.
 *
 * `load_policy` says whose oddities the load generator kept: nobody's (`lab`), as without its `--compat`. `load_tool`
 * is the program that the engine `loaded` uses, all others use the lab's own.
 */
export interface Settings {
  engines: Array<string>;
  min_effect: Record<string, number>;
  q: number;
  budget_seconds: number | null;
  seed: string;
  quick: boolean;
  load_policy: "lab";
  load_tool: string;
}

/** A case that could not be measured on this machine or with this server; `text` says what it would have needed. */
export interface Skipped {
  case: string;
  reason: "memory" | "unknown command" | "unsupported tool" | "arguments" | "topology";
  text: string;
}

/** A function in a stack, where it was defined and in which binary. */
export interface StackFrame {
  function: string;
  file: string | null;
  object: string;
  inlined: boolean;
}

/**
 * A call tree in columns.
 *
 * A node's parent precedes it, -1 is above the root of a thread; samples are the node's own.
 */
export interface StackNodes {
  thread: Array<number>;
  parent: Array<number>;
  frame: Array<number>;
  samples: Array<number>;
}

/**
 * The sampled stacks of one side; frames are those of all pictures, by index.
 *
 * `cpu_ns_per_op` is null where nothing was timed; `cpu_error` is its standard error as a part of it.
 */
export interface StackTree {
  event: string;
  samples: number;
  lost: number;
  cpu_ns_per_op: number | null;
  cpu_error: number;
  threads: Array<string>;
  nodes: StackNodes;
}

/** Cases by verdict, and the seconds of machine time that trials took. */
export interface Summary {
  regression: number;
  improvement: number;
  same: number;
  unsure: number;
  invalid: number;
  machine_seconds: number;
}

/** Whether a measurement may be used, and why not. */
export interface Validity {
  valid: boolean;
  checks: Array<Check>;
}

/**
 * A verdict with its evidence.
 *
 * `change` is (head - base) / base, `low` and `high` bound it; `q` is the adjusted p over cases and metrics, null for
 * same; `detectable` is the smallest relative change that these samples could have told from none; `samples` counts
 * the trials of a side.
 */
export interface Verdict {
  metric: string;
  engine: "counted" | "timed" | "sampled" | "traced";
  verdict: "regression" | "improvement" | "same" | "unsure";
  base: number | null;
  head: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  q: number | null;
  samples: number;
  pairs: number;
  min_effect: number;
  detectable: number | null;
}

/** The table of metrics. */
export const METRICS: Record<string, Metric> = {
  "instructions_per_op": {
    "name": "instructions_per_op",
    "engine": "counted",
    "unit": "instructions",
    "less_is_better": true,
    "label": "instructions per request",
    "heading": "instructions/request"
  },
  "allocations_per_op": {
    "name": "allocations_per_op",
    "engine": "counted",
    "unit": "allocations",
    "less_is_better": true,
    "label": "allocations per request",
    "heading": "allocations/request"
  },
  "syscalls_per_op": {
    "name": "syscalls_per_op",
    "engine": "counted",
    "unit": "system calls",
    "less_is_better": true,
    "label": "system calls per request",
    "heading": "system calls/request"
  },
  "cpu_ns_per_op": {
    "name": "cpu_ns_per_op",
    "engine": "timed",
    "unit": "ns",
    "less_is_better": true,
    "label": "CPU ns per request",
    "heading": "CPU ns/request"
  },
  "main_thread_ns_per_op": {
    "name": "main_thread_ns_per_op",
    "engine": "timed",
    "unit": "ns",
    "less_is_better": true,
    "label": "CPU ns per request of the main thread",
    "heading": "main thread ns/request"
  },
  "io_threads_ns_per_op": {
    "name": "io_threads_ns_per_op",
    "engine": "timed",
    "unit": "ns",
    "less_is_better": true,
    "label": "CPU ns per request of the I/O threads",
    "heading": "I/O threads ns/request"
  },
  "usec_per_call": {
    "name": "usec_per_call",
    "engine": "timed",
    "unit": "us",
    "less_is_better": true,
    "label": "us per call, by the server",
    "heading": "µs/call"
  },
  "ops_per_sec": {
    "name": "ops_per_sec",
    "engine": "timed",
    "unit": "requests",
    "less_is_better": false,
    "label": "requests per second",
    "heading": "requests/s"
  },
  "latency_p50_us": {
    "name": "latency_p50_us",
    "engine": "timed",
    "unit": "us",
    "less_is_better": true,
    "label": "latency p50 in us",
    "heading": "p50, µs"
  },
  "latency_p99_us": {
    "name": "latency_p99_us",
    "engine": "timed",
    "unit": "us",
    "less_is_better": true,
    "label": "latency p99 in us",
    "heading": "p99, µs"
  },
  "latency_p99_9_us": {
    "name": "latency_p99_9_us",
    "engine": "timed",
    "unit": "us",
    "less_is_better": true,
    "label": "latency p99.9 in us",
    "heading": "p99.9, µs"
  },
  "latency_max_us": {
    "name": "latency_max_us",
    "engine": "timed",
    "unit": "us",
    "less_is_better": true,
    "label": "latency maximum in us",
    "heading": "max, µs"
  }
};

/** The metrics of a run's table. */
export const RUN_TABLE: readonly string[] = [
  "instructions_per_op",
  "cpu_ns_per_op",
  "ops_per_sec",
  "latency_p50_us",
  "latency_p99_us"
];
