// The records of python/zerolap/records and queries, written by `python scripts/web_types.py`. Do not edit.

/** A caller of the function, and its calls per request on each side. */
export interface Caller {
  function: string;
  file: string | null;
  calls_per_op: PerSide;
  in_diff: boolean;
}

/** The unchanged function that a changed caller gives more or less to do; calls are null where it is inlined. */
export interface Carrier {
  function: string;
  file: string | null;
  calls_per_op: PerSide | null;
  instructions_per_op: PerSide;
}

/**
 * The pictures of a case, by side; null if an engine did not measure the case.
 *
 * `latency` has points of a share of requests and the microseconds within which they were answered; share 1 is the
 * maximum. `throughput` has a point for each slice, or for several: seconds of measured time of both sides, requests
 * per second; `starts_at` are the times at which servers were restarted. `missing` is the reason why pictures of
 * measured data are missing. A run has only pictures of the head.
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
 * `work` is what the code does, `time` what its user feels; each is null where it was not measured, and in an invalid
 * case. `verdict` is what is certain: time where it is decided, else a change of work, else `unsure` where time was
 * measured, else work; of identical code it is the same, unless time changed. `deciding`, `work_deciding` and
 * `time_deciding` are the metrics that they rest on, null where there is none. `confirmed` is a change of time that
 * does not rest on one layout of code and data on each side. `failed_sides` are the sides that make a case invalid: a
 * trial failed there, or the server's replies were not those that the case expects. There are none where the machine
 * or the load is the reason, or where one side failed before a trial of the other succeeded.
 */
export interface CaseResult {
  case: string;
  commands: Array<string>;
  group: string;
  topology: string;
  verdict: "regression" | "improvement" | "same" | "unsure" | "invalid";
  work: "regression" | "improvement" | "same" | "identical" | "unsure" | null;
  time: "regression" | "improvement" | "same" | "unsure" | null;
  deciding: string | null;
  work_deciding: string | null;
  time_deciding: string | null;
  confirmed: boolean;
  validity: Validity;
  verdicts: Array<Verdict>;
  findings: Array<Finding>;
  failure: string | null;
  failed_sides: Array<string>;
}

/** One condition of validity: the value seen and the limit it is held against. */
export interface Check {
  check: string;
  ok: boolean;
  value: number | string | null;
  limit: string;
}

/** The document of one comparison; `reading` is added where it is written for others. */
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
  reading: Reading | null;
}

/**
 * A reason why a case changed, or did not.
 *
 * `culprit` names a function whose cost changed, or, with a `carrier`, the one whose change is behind that; `moved` a
 * cost that moved between functions; `diffuse` reports that no few functions explain the change; `cause` names a kind
 * of cause, inferred from a difference between counting and timing; `limits` reports what could not be examined and
 * why; `identity` whether both sides execute the same instructions, with the evidence. `instructions_per_op` includes
 * the function's callees, `self_instructions_per_op` does not; likewise the sampled times `cpu_ns_per_op` and
 * `self_cpu_ns_per_op`. `share_of_change` is the part of the case's total change that the finding explains; it is
 * negative for what counteracts it. `calls_per_op` is null for a function that is inlined.
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
  carrier: Carrier | null;
  callers: Array<Caller>;
  text: string;
}

/** How many agents there are, how many of them are silent, draining or refused, and how many requests are open. */
export interface FleetHealth {
  agents: number;
  silent: number;
  draining: number;
  refused: number;
  open_requests: number;
}

/**
 * A function's own instructions, calls and sampled time per request, each null if it was not measured.
 *
 * `share` is its part of the case's sampled time, or of the instructions if the case was not sampled.
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
 * A comparison or run in the list; `state` is the reason where its document cannot be read.
 *
 * `outcomes` is empty for a run and for a comparison that is not done. `base` is null for a run.
 */
export interface ListedReport {
  id: string;
  path: "comparisons" | "runs";
  created: string;
  base: string | null;
  head: string;
  state: string;
  outcomes: Array<OutcomeCount>;
}

/**
 * A side of a comparison, or the server of a run, in documents: its build, and the name that the user gave.
 *
 * `config` holds the settings of the server except those of the case.
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
  engine: string;
  answer: "work" | "time";
  decides: "always" | "for same" | "where changed" | "beyond doubt" | "others same" | "never";
  less_is_better: boolean;
  unit: string;
  label: string;
  heading: string;
}

/** How a metric is judged in a comparison: which engine measures it, which way is better, what it decides. */
export interface MetricRule {
  name: string;
  engine: string;
  answer: "work" | "time";
  decides: "always" | "for same" | "where changed" | "beyond doubt" | "others same" | "never";
  less_is_better: boolean;
}

/** A request of which nothing was measured yet, or that is being measured; `reason` states why it waits. */
export interface OpenRequest {
  id: string;
  kind: "compare" | "run";
  platform: string;
  sides: Array<string>;
  state: string;
  reason: string;
}

/** How many cases have an outcome. */
export interface OutcomeCount {
  outcome: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical";
  count: number;
}

/** What the first page shows; `is_empty` where nothing was ever measured or asked for. */
export interface Overview {
  is_empty: boolean;
  newest: Array<ListedReport>;
  open_requests: Array<OpenRequest>;
  fleet: FleetHealth;
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
 * `fingerprint` is a digest of what identifies it: processors, caches, memory, virtualisation. `facts` holds all
 * known facts by name, including those that may change: kernel, microcode, governor, mitigations.
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
 * How a comparison is read, in the words of all reports, so that these cannot differ.
 *
 * `answers` are the outcomes by work and time where both were measured, `effort` is how much was measured, `state`
 * states why a comparison is not complete. `order` has the names of the cases, those with a change first;
 * `statements` are sentences on the work and the time of each.
 */
export interface Reading {
  headline: string;
  answers: Array<string>;
  effort: string;
  state: string | null;
  order: Array<string>;
  statements: Record<string, Array<string>>;
}

/** The newest reports, the newest first. */
export interface ReportList {
  reports: Array<ListedReport>;
}

/** The state of a request; `reasons` state why it waits or ended. */
export interface RequestStatus {
  id: string;
  platform: string;
  sides: Array<string>;
  state: "waiting" | "running" | "done" | "interrupted" | "failed" | "cancelled" | "superseded";
  has_ended: boolean;
  reasons: Array<string>;
}

/**
 * One case of a run: the metrics' means over its trials and the functions that cost most.
 *
 * `limits` are the parts that could not be measured, and why.
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
 * `load_policy` names whose oddities the load generator kept: nobody's (`lab`), as without its `--compat`.
 * `load_tool` is the program that the engine `loaded` uses, all others use the lab's own. `plugin_metrics` are the
 * ones of engines of plugins, by which these compare.
 *
 * How verdicts are concluded stands in the documents of comparisons, null in what older versions wrote: `level` is
 * the confidence of all intervals, `equivalence_level` the error of the test by which a metric is the same, and
 * `regression_rule` states what a regression is. Both levels hold for all looks at a case together: `look_shares` is
 * the part of their error that a look has, by engine and number of blocks or starts.
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
  plugin_metrics: Array<MetricRule>;
  level: number | null;
  equivalence_level: number | null;
  regression_rule: string | null;
  look_shares: Record<string, Record<string, number>> | null;
}

/** A case that could not be measured on this machine or with this server; `text` is what it needs. */
export interface Skipped {
  case: string;
  reason: "memory" | "unknown command" | "unsupported tool" | "arguments" | "topology";
  text: string;
}

/** A function in a stack, with the file that defines it and its binary. */
export interface StackFrame {
  function: string;
  file: string | null;
  object: string;
  inlined: boolean;
}

/**
 * A call tree in columns.
 *
 * A node's parent precedes it and is -1 for the root of a thread; samples are the node's own.
 */
export interface StackNodes {
  thread: Array<number>;
  parent: Array<number>;
  frame: Array<number>;
  samples: Array<number>;
}

/**
 * The sampled stacks of one side; frames are indices into `Pictures.frames`.
 *
 * `cpu_ns_per_op` is null if it was not measured; `cpu_error` is its relative standard error.
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

/** Cases by verdict, an identical one counted as same, and the seconds of machine time that trials took. */
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
 * same and identical; `detectable` is the smallest relative change that these samples could have detected; `samples`
 * counts the trials of a side. `margin` is within which a change counts as the same, null where that is the minimum
 * effect.
 */
export interface Verdict {
  metric: string;
  engine: string;
  verdict: "regression" | "improvement" | "same" | "identical" | "unsure";
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
  margin: number | null;
}

/** The table of metrics. */
export const METRICS: Record<string, Metric> = {
  "instructions_per_op": {
    "name": "instructions_per_op",
    "engine": "counted",
    "answer": "work",
    "decides": "always",
    "less_is_better": true,
    "unit": "instructions",
    "label": "instructions per request",
    "heading": "instructions/request"
  },
  "allocations_per_op": {
    "name": "allocations_per_op",
    "engine": "counted",
    "answer": "work",
    "decides": "others same",
    "less_is_better": true,
    "unit": "allocations",
    "label": "allocations per request",
    "heading": "allocations/request"
  },
  "syscalls_per_op": {
    "name": "syscalls_per_op",
    "engine": "counted",
    "answer": "work",
    "decides": "always",
    "less_is_better": true,
    "unit": "system calls",
    "label": "system calls per request",
    "heading": "system calls/request"
  },
  "clock_readings_per_op": {
    "name": "clock_readings_per_op",
    "engine": "counted",
    "answer": "work",
    "decides": "others same",
    "less_is_better": true,
    "unit": "readings",
    "label": "clock readings per request",
    "heading": "clock readings/request"
  },
  "instructions_alone_per_op": {
    "name": "instructions_alone_per_op",
    "engine": "counted",
    "answer": "work",
    "decides": "others same",
    "less_is_better": true,
    "unit": "instructions",
    "label": "instructions per request that comes alone",
    "heading": "instructions/request alone"
  },
  "instructions_per_tick": {
    "name": "instructions_per_tick",
    "engine": "counted",
    "answer": "work",
    "decides": "others same",
    "less_is_better": true,
    "unit": "instructions",
    "label": "instructions per tick of the timers",
    "heading": "instructions/tick"
  },
  "cpu_ns_per_op": {
    "name": "cpu_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "always",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request",
    "heading": "CPU ns/request"
  },
  "whole_cpu_ns_per_op": {
    "name": "whole_cpu_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "where changed",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request of the whole server",
    "heading": "whole CPU ns/request"
  },
  "full_speed_cpu_ns_per_op": {
    "name": "full_speed_cpu_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "for same",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request in unequal batches",
    "heading": "full speed CPU ns/request"
  },
  "as_built_cpu_ns_per_op": {
    "name": "as_built_cpu_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request of the programs as built",
    "heading": "as built CPU ns/request"
  },
  "elapsed_ns_per_op": {
    "name": "elapsed_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "for same",
    "less_is_better": true,
    "unit": "ns",
    "label": "elapsed ns per request",
    "heading": "elapsed ns/request"
  },
  "main_thread_ns_per_op": {
    "name": "main_thread_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request of the main thread",
    "heading": "main thread ns/request"
  },
  "io_threads_ns_per_op": {
    "name": "io_threads_ns_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per request of the I/O threads",
    "heading": "I/O threads ns/request"
  },
  "cycles_per_op": {
    "name": "cycles_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "always",
    "less_is_better": true,
    "unit": "cycles",
    "label": "cycles per request",
    "heading": "cycles/request"
  },
  "kernel_cycles_per_op": {
    "name": "kernel_cycles_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "cycles",
    "label": "kernel cycles per request",
    "heading": "kernel cycles/request"
  },
  "retired_instructions_per_op": {
    "name": "retired_instructions_per_op",
    "engine": "timed",
    "answer": "work",
    "decides": "never",
    "less_is_better": true,
    "unit": "instructions",
    "label": "retired instructions per request",
    "heading": "retired instructions/request"
  },
  "kernel_instructions_per_op": {
    "name": "kernel_instructions_per_op",
    "engine": "timed",
    "answer": "work",
    "decides": "never",
    "less_is_better": true,
    "unit": "instructions",
    "label": "kernel instructions per request",
    "heading": "kernel instructions/request"
  },
  "branch_misses_per_op": {
    "name": "branch_misses_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "misses",
    "label": "branch misses per request",
    "heading": "branch misses/request"
  },
  "cache_misses_per_op": {
    "name": "cache_misses_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "misses",
    "label": "cache misses per request",
    "heading": "cache misses/request"
  },
  "tlb_misses_per_op": {
    "name": "tlb_misses_per_op",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "misses",
    "label": "TLB misses per request",
    "heading": "TLB misses/request"
  },
  "usec_per_call": {
    "name": "usec_per_call",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "us",
    "label": "us per call, by the server",
    "heading": "µs/call"
  },
  "ops_per_sec": {
    "name": "ops_per_sec",
    "engine": "timed",
    "answer": "time",
    "decides": "beyond doubt",
    "less_is_better": false,
    "unit": "requests",
    "label": "requests per second",
    "heading": "requests/s"
  },
  "latency_p50_us": {
    "name": "latency_p50_us",
    "engine": "timed",
    "answer": "time",
    "decides": "beyond doubt",
    "less_is_better": true,
    "unit": "us",
    "label": "latency p50 in us",
    "heading": "p50, µs"
  },
  "latency_p99_us": {
    "name": "latency_p99_us",
    "engine": "timed",
    "answer": "time",
    "decides": "beyond doubt",
    "less_is_better": true,
    "unit": "us",
    "label": "latency p99 in us",
    "heading": "p99, µs"
  },
  "latency_p99_9_us": {
    "name": "latency_p99_9_us",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "us",
    "label": "latency p99.9 in us",
    "heading": "p99.9, µs"
  },
  "latency_max_us": {
    "name": "latency_max_us",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "us",
    "label": "latency maximum in us",
    "heading": "max, µs"
  },
  "control_ns": {
    "name": "control_ns",
    "engine": "timed",
    "answer": "time",
    "decides": "never",
    "less_is_better": true,
    "unit": "ns",
    "label": "CPU ns per step of the reference work",
    "heading": "reference ns/step"
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
