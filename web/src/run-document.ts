/** The document of a run, as `zerolap.run/1` says. */

import type { Build, Platform, Settings, Skipped, Validity } from "./document.ts";

/** What a request costs in a function itself; null where that was not measured. */
export interface FunctionCost {
  function: string;
  file: string | null;
  self_instructions_per_op: number | null;
  calls_per_op: number | null;
  self_cpu_ns_per_op: number | null;
  /** Of the time where stacks say so, else of the instructions. */
  share: number;
}

export interface RunCase {
  case: string;
  commands: string[];
  group: string;
  topology: string;
  validity: Validity;
  metrics: Record<string, number>;
  functions: FunctionCost[];
  samples: number;
  limits: string[];
  failure: string | null;
}

export interface RunReport {
  schema: "zerolap.run/1";
  id: string;
  created: string;
  command_line: string;
  server: Build;
  platform: Platform;
  settings: Settings;
  machine_seconds: number;
  notes: string[];
  cases: RunCase[];
  skipped: Skipped[];
}
