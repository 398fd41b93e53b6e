/** The document of a comparison, as `zerolap.comparison/1` says. */

export type Verdict = "regression" | "improvement" | "same" | "unsure";
export type CaseVerdict = Verdict | "invalid";

export interface Build {
  name: string;
  commit: string | null;
  version: string;
  build: string;
  build_id: string;
  flags: string;
  compiler: string;
  stripped: boolean;
  config: Record<string, string>;
}

export interface Check {
  check: string;
  ok: boolean;
  value: number | string | null;
  limit: string;
}

/** Numbers that are not finite are null. */
export interface MetricVerdict {
  metric: string;
  engine: string;
  verdict: Verdict;
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

export interface PerSide {
  base: number | null;
  head: number | null;
}

export interface Caller {
  function: string;
  file: string | null;
  calls_per_op: PerSide;
  in_diff: boolean;
}

export interface Finding {
  kind: "culprit" | "moved" | "diffuse" | "cause" | "limits";
  rank: number;
  function: string | null;
  file: string | null;
  lines: number[] | null;
  instructions_per_op: PerSide | null;
  self_instructions_per_op: PerSide | null;
  calls_per_op: PerSide | null;
  cpu_ns_per_op: PerSide | null;
  self_cpu_ns_per_op: PerSide | null;
  share_of_change: number | null;
  in_diff: boolean | null;
  callers: Caller[];
  text: string;
}

export interface CaseResult {
  case: string;
  commands: string[];
  group: string;
  topology: string;
  verdict: CaseVerdict;
  confirmed: boolean;
  validity: Validity;
  verdicts: MetricVerdict[];
  findings: Finding[];
  failure: string | null;
}

export interface Platform {
  name: string;
  fingerprint: string;
  cpu: string;
  cores: number;
  kernel: string;
}

export interface Settings {
  engines: string[];
  min_effect: Record<string, number>;
  q: number;
  budget_seconds: number | null;
  seed: string;
  quick: boolean;
  load_policy: "lab";
}

export interface Validity {
  valid: boolean;
  checks: Check[];
}

export interface Skipped {
  case: string;
  reason: string;
  text: string;
}

export interface Comparison {
  schema: "zerolap.comparison/1";
  id: string;
  created: string;
  command_line: string;
  state: "running" | "done" | "interrupted" | "failed";
  base: Build;
  head: Build;
  platform: Platform;
  settings: Settings;
  summary: { machine_seconds: number };
  notes: string[];
  cases: CaseResult[];
  skipped: Skipped[];
}
