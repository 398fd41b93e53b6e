// The records of python/zerolap/records and queries, written by `python scripts/web_types.py`. Do not edit.

/**
 * The amounts that a job asks for; the engine chooses those that are None.
 *
 * Counted trials have `windows` and a factor on them, `scale`. Timed trials have `pairs` of slices per start,
 * `slice_requests`, the equal rate `per_second` for all sides, and `alone`: only one side runs at a time, because
 * memory does not hold all sides. Those `as_built` run the programs as they were built, in no other layout. The loads
 * of an `open_loop` follow the pairs; none are chosen yet where it is empty, and there is no open loop where it is
 * None.
 */
export interface Amounts {
  windows: Windows | null;
  scale: number;
  pairs: number | null;
  slice_requests: number | null;
  per_second: number | null;
  alone: boolean;
  as_built: boolean;
  open_loop: Array<OpenLoad> | null;
}

/**
 * A line of source code; `text` is null where the source was not at hand when samples were taken.
 *
 * Lines of both sides with one text are one, in the order of the source; without text, those with one number.
 */
export interface AnnotatedLine {
  file: string;
  text: string | null;
  sides: Array<LineShare>;
}

/**
 * What a side has of the function, in the passes that recorded lines: `lined_passes` of all.
 *
 * `own` are samples in the function itself, without callees, weighted as in the stacks; `share` is their part of all
 * samples. `cpu_ns_per_op` is the CPU time of the function itself in a request, null where that is not known.
 */
export interface AnnotatedSide {
  side: "base" | "head";
  own: number;
  share: number;
  cpu_ns_per_op: number | null;
  passes: number;
  lined_passes: number;
}

/**
 * Another build of the same code that was faster, as measured: no prediction, and no part of any sum.
 *
 * `variant` is in the words of `--variant`; `flags`, `compiler` and `allocator` are those that took effect. `gain` is
 * the mean over `commands`, each weighted equally. `improvements` and `losses` are the cases with confirmed changes
 * of time, the largest first; `unchanged` and `undecided` count the others.
 */
export interface BuildVariant {
  detector: "build-variants";
  category: "build";
  variant: string;
  flags: string;
  compiler: string;
  allocator: string;
  gain: Estimate;
  commands: Array<CommandGain>;
  improvements: Array<VariantCase>;
  losses: Array<VariantCase>;
  unchanged: number;
  undecided: number;
  comparisons: Array<string>;
}

/**
 * How the savings of known edits compare with what their detector predicted.
 *
 * `edits` is the number of edits whose savings are counted; of these, `smallest_ratio` and `largest_ratio` are the
 * measured saving as a multiple of the predicted saving, null where there are none. `uncounted_edits` are the others.
 */
export interface Calibration {
  edits: number;
  smallest_ratio: number | null;
  largest_ratio: number | null;
  uncounted_edits: number;
}

/** A comparison or a run with a row a case; `subject` is what was measured, on which platform. */
export interface CaseList {
  subject: string;
  command_line: string;
  engines: Array<string>;
  sheet: Sheet;
  cases: Array<ListedCase>;
}

/**
 * A case of the same two builds, or builds of the same two commits, on both platforms.
 *
 * Both results are of one metric, on which the verdict of a platform rests, or of no metric. `agreement` states
 * whether the verdicts agree, where `identical` counts as `same`; it is `invalid` if a platform has no verdict on a
 * change, such as for an invalid case. Cases whose verdicts differ come first.
 */
export interface CaseOnBoth {
  case: string;
  base_name: string;
  head_name: string;
  agreement: "same" | "different" | "invalid";
  here: PlatformResult;
  there: PlatformResult;
}

/**
 * The pictures of a case, by side; null if an engine did not measure the case.
 *
 * `latency` has points of a share of requests and the microseconds within which they were answered; share 1 is the
 * maximum. `throughput` has a point for each slice, or for several: seconds of measured time of both sides, requests
 * per second; `starts_at` are the times at which servers were restarted. `stacks` are of the time on the processor,
 * `waits` of the time off it. `lines` are those of some functions of `stacks`: of those that findings name, and of
 * those with the most samples of their own. `missing` is the reason why pictures of measured data are missing. A run
 * has only pictures of the head.
 */
export interface CasePictures {
  latency: Partial<Record<"base" | "head", Array<[number, number]>>> | null;
  throughput: Partial<Record<"base" | "head", Array<[number, number]>>> | null;
  stacks: Partial<Record<"base" | "head", StackTree>> | null;
  waits: Partial<Record<"base" | "head", StackTree>> | null;
  lines: Array<SampledLines>;
  starts_at: Array<number>;
  missing: string | null;
}

/**
 * A cell of a table; `link` is the address of a page of the lab, relative to its root.
 *
 * `detail` stands behind the text, such as the interval of a change; it is left out where there is little room.
 * `is_part` is set in the first cell of a row that is a part of the row above it, such as a case of a command.
 * `order` is what a reader can sort rows by, the largest first; without, they are sorted by the text.
 */
export interface Cell {
  text: string;
  detail: string;
  is_name: boolean;
  is_part: boolean;
  mark: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical" | "worse" | "better" | "warning" | "strong" | "quiet" | null;
  link: string | null;
  order: number | null;
  drawn: DrawnChange | null;
}

/**
 * What a commit did to a metric of a group of cases, beside the commit before it that is measured.
 *
 * Of `cases` that are measured there, `identical` execute the same. `change` is the geometric mean of their changes,
 * `least` and `most` are the extremes, with the cases that have them.
 */
export interface ChangedGroup {
  group: string;
  metric: string;
  cases: number;
  identical: number;
  change: number;
  least: number;
  least_case: string;
  most: number;
  most_case: string;
}

/**
 * A commit with points; `index` is its index among all commits of the chart, in their order.
 *
 * `is_release` where a tag of a release names it.
 */
export interface ChartCommit {
  commit: string;
  name: string;
  time: string;
  subject: string;
  author: string;
  index: number;
  is_release: boolean;
}

/**
 * A series by columns, each as long as `commits`, which are indices of the chart's commits.
 *
 * `least`, `most` and `counts` are empty where each point is of one commit.
 *
 * `changes` are relative to the commit that the chart begins at, with 95 % bounds `lows` and `highs`. Each point is
 * the mean of `counts` points in a row up to its commit, of which `least` and `most` are the extremes. `values` are
 * those of the metric itself at that commit, null for time. `base_index` is the index of the commit that changes are
 * since, which need not be shown.
 */
export interface ChartLine {
  case: string;
  group: string;
  metric: string;
  engine: string;
  topology: string;
  source: string;
  better: "less" | "more" | null;
  history: number;
  labels: Record<string, string>;
  point_count: number;
  base_index: number;
  commits: Array<number>;
  changes: Array<number>;
  lows: Array<number>;
  highs: Array<number>;
  least: Array<number>;
  most: Array<number>;
  counts: Array<number>;
  values: Array<number | null>;
}

/** One condition of validity: the value seen and the limit it is held against. */
export interface Check {
  check: string;
  ok: boolean;
  value: number | string | null;
  limit: string;
}

/** A system call of the child's main thread in all of its life. */
export interface ChildCall {
  call: string;
  calls: number;
  ns: number;
}

/** A system call that the child made so often in a row, when the first began after the fork did, and their time. */
export interface ChildStep {
  call: string;
  calls: number;
  at_ns: number;
  ns: number;
}

/**
 * All of a case but its pictures: its section, how many trials it has, and the metric that decides it, if any.
 *
 * `workload` is what it sends, null where that is not recorded.
 */
export interface ChosenCase {
  section: Section;
  metric: string | null;
  trials: Record<string, number>;
  workload: MeasuredWorkload | null;
}

/**
 * A column of a table.
 *
 * `rank` is by which columns are left out where there is little room: the highest goes first, 0 always stays.
 * `detail` of the heading is left out before.
 */
export interface Column {
  key: string;
  heading: string;
  detail: string;
  unit: string;
  is_number: boolean;
  rank: number;
  has_name: boolean;
  is_code: boolean;
}

/** What another build brings for a command: the mean over its cases, 0 for those that did not change. */
export interface CommandGain {
  command: string;
  gain: Estimate;
  cases: number;
}

/**
 * A commit in the histories that have it, those judged last first.
 *
 * `comparisons` are the newest of which it is the head.
 */
export interface CommitChanges {
  commit: NamedCommit;
  tags: Array<string>;
  histories: Array<CommitInHistory>;
  comparisons: Array<ListedReport>;
}

/**
 * A commit in a history.
 *
 * `after` is the commit before, null for the first; `is_same_program`: both have the same program. `drifts` contain
 * the commit, or begin after it.
 */
export interface CommitInHistory {
  history: PublishedHistory;
  after: ListedCommit | null;
  failure: string | null;
  is_built: boolean;
  is_same_program: boolean;
  measured: number;
  changed: number;
  groups: Array<ChangedGroup>;
  steps: Array<ListedChange>;
  drifts: Array<ListedChange>;
}

/** The newest commits of a history, in its order; `earlier` is how many it has before them. */
export interface CommitStrip {
  history: PublishedHistory;
  commits: Array<StripCommit>;
  earlier: number;
}

/**
 * A comparison with a row a case, in the order in which they are read.
 *
 * `cause` is what asked for it, null where that is not recorded; `differences` is the page with what differs between
 * both commits, null where that is not known. `is_final` states that nothing of it will change.
 */
export interface ComparisonInShort {
  subject: string;
  command_line: string;
  engines: Array<string>;
  sheet: Sheet;
  cases: Array<ListedCase>;
  is_final: boolean;
  cause: RequestCause | null;
  differences: string | null;
}

/** A function and its shares; `file` is null where it is not known. */
export interface CostlyFunction {
  function: string;
  file: string | null;
  object: string;
  sides: Array<FunctionShares>;
}

/**
 * The pictures of a case, null without any.
 *
 * `frames` are the functions that its stacks refer to, `sources` the lines of source code that its lines refer to.
 */
export interface DrawnCase {
  frames: Array<StackFrame>;
  sources: Array<SourceText>;
  pictures: CasePictures | null;
}

/** A change as a page draws it: fractions, the largest that counts as none, and the values of both sides. */
export interface DrawnChange {
  change: number | null;
  low: number | null;
  high: number | null;
  least: number;
  values: string;
}

/**
 * A slice of a trial, or several in a row; `at_seconds` is where it begins, in measured time of this side.
 *
 * `client_busy` and `server_busy` are parts of its time. `is_disturbed`: others had the processors in a part of it.
 */
export interface DrawnSlice {
  at_seconds: number;
  requests_per_sec: number;
  client_busy: number;
  server_busy: number;
  requests_per_read: number | null;
  requests_per_cycle: number | null;
  is_disturbed: boolean;
}

/**
 * A sweep of snapshots with its reading; of each point, the first repetition alone has a series.
 *
 * `seed` is that of the settings as text, as it has 64 bits.
 */
export interface DrawnSweep {
  report: SnapshotReport | EmulatedSnapshotReport;
  seed: string;
  sheet: Sheet;
}

/**
 * A side at a size of data: the counts of each run by name, as the guest reports them.
 *
 * `is_repeated` is whether all runs counted the same; null for a single run.
 */
export interface EmulatedPoint {
  side: string;
  size_bytes: number;
  keys: number;
  runs: Array<Record<string, number>>;
  is_repeated: boolean | null;
}

/** How the machines were emulated; counts depend on the versions of emulator and server, and on the seed. */
export interface EmulatedSettings {
  sizes_bytes: Array<number>;
  value_bytes: number;
  repetitions: number;
  seed: string;
  emulator: string;
  machine: string;
  processor: string;
}

/**
 * What is measured beside each other in one kernel; `name` is empty where there is one side alone.
 *
 * `fits` are lines of counts over the resident memory.
 */
export interface EmulatedSide {
  name: string;
  fork: "copy" | "async";
  huge_pages: "always" | "never" | null;
  config: Record<string, string>;
  fits: Record<string, LineFit>;
}

/**
 * The document of forks in emulated machines, over sizes of data; `id` is as that of a `SnapshotReport`.
 *
 * Counts are instructions, entries of page tables and requests, never times: what an emulated machine takes for a
 * second means nothing. `reading` is null until it is written down.
 */
export interface EmulatedSnapshotReport {
  schema: "zerolap.emulated-snapshot/1";
  id: string;
  created: string;
  command_line: string;
  server: MeasuredServer;
  kernel: Kernel;
  platform: Platform;
  settings: EmulatedSettings;
  machine_seconds: number;
  sides: Array<EmulatedSide>;
  points: Array<EmulatedPoint>;
  failed: Array<FailedSize>;
  notes: Array<string>;
  reading: SweepReading | null;
}

/** A value with the bounds that it is expected in. */
export interface Estimate {
  low: number;
  expected: number;
  high: number;
}

/** A fact beside its label, such as the base of a comparison; names in both stand in backticks. */
export interface Fact {
  label: string;
  text: string;
}

/** A fact that became another; `before` or `after` is null where there was no such fact. */
export interface FactChange {
  name: string;
  before: string | null;
  after: string | null;
}

/** A size at which the sweep could not be carried out, and why. */
export interface FailedSize {
  size_bytes: number;
  reason: string;
}

/**
 * A change of time that was reported for a case in which nothing can have changed.
 *
 * `change`, `low` and `high` are shares. `same_build` is whether both sides were one build, otherwise their executed
 * code was identical.
 */
export interface FalseAlarm {
  comparison: string;
  created: string;
  case: string;
  verdict: "regression" | "improvement" | "same" | "identical" | "unsure";
  metric: string | null;
  change: number | null;
  low: number | null;
  high: number | null;
  confirmed: boolean;
  same_build: boolean;
}

/** Counts of false alarms; `low` and `high` bound the share of alarms with 95 %. */
export interface FalseAlarmCount {
  same_build: boolean;
  comparisons: number;
  timed: number;
  alarms: number;
  confirmed_alarms: number;
  since: string;
  low: number;
  high: number;
}

/**
 * An agent; `since` is when its state began, empty where that is not known.
 *
 * `seen` is its last report, `refusal` why it is given no jobs, `fingerprint` that of its machine, empty where its
 * report cannot be read. `runs` is its current job, `ran` its last one.
 */
export interface FleetAgent {
  name: string;
  lab: string;
  platform: string;
  state: "busy" | "idle" | "draining" | "refused" | "gone";
  since: string;
  draining: boolean;
  seen: string;
  seen_seconds_ago: number;
  refusal: string;
  version: string;
  cpu: string;
  fingerprint: string;
  runs: FleetJob | null;
  ran: FleetJob | null;
}

/** How many agents there are, how many of them are gone, draining or refused, and how many requests are open. */
export interface FleetHealth {
  agents: number;
  gone: number;
  draining: number;
  refused: number;
  open_requests: number;
}

/**
 * A try of an agent at a job.
 *
 * `subject` is the case that is measured or the source that is built, empty for load and where it cannot be read.
 * `path` leads to the page of the `request`. `publications` is how often the job was given to the bus, `starts` how
 * often an agent has begun it, `since` when it was taken or, before that, recorded.
 */
export interface FleetJob {
  attempt: string;
  job: string;
  kind: "build" | "trials" | "load";
  engine: string | null;
  subject: string;
  request: string;
  path: "comparisons" | "runs" | "snapshots" | "checks";
  platform: string;
  state: "ready" | "claimed" | "done" | "failed" | "given up" | "cancelled";
  agent: string | null;
  since: string;
  ended: string | null;
  publications: number;
  starts: number;
  reason: string;
}

/**
 * A platform: its builder, its agents that take jobs, and its open jobs.
 *
 * `oldest` is when the oldest open job was recorded.
 */
export interface FleetQueue {
  platform: string;
  builder: string;
  agents: number;
  waiting: number;
  held: number;
  oldest: string;
}

/** A request to the fleet; `jobs` are counted by the state of the last try at each. */
export interface FleetRequest {
  id: string;
  path: "comparisons" | "runs" | "snapshots" | "checks";
  platform: string;
  sides: Array<string>;
  head_commit: NamedCommit | null;
  state: "waiting" | "running" | "done" | "interrupted" | "failed" | "cancelled" | "superseded";
  is_open: boolean;
  priority: "release" | "pull" | "backfill";
  cause: string;
  reason: string;
  submitted: string;
  ended: string;
  jobs: Partial<Record<"ready" | "claimed" | "done" | "failed" | "given up" | "cancelled", number>>;
}

/**
 * The fleet. `held` are the jobs that agents hold, `lost` the newest that were given up or have failed.
 *
 * `requests` are the newest, that first which was asked for last.
 */
export interface FleetState {
  agents: Array<FleetAgent>;
  queues: Array<FleetQueue>;
  held: Array<FleetJob>;
  lost: Array<FleetJob>;
  requests: Array<FleetRequest>;
}

/**
 * What the parent does while its child works that need not be done then, or not by the thread that answers.
 *
 * `share_of_pause` is the part of the pause that its calls took, null where no end of the pause was seen. `frames` is
 * the most frequent stack of the call that took most of the time, from the leaf to the root.
 */
export interface ForkFinding {
  kind: "files" | "memory" | "waiting";
  calls: number;
  ns: number;
  ns_in_pause: number;
  share_of_pause: number | null;
  frames: Array<string>;
  text: string;
}

/**
 * A part of the fork.
 *
 * All but `off the processor` are estimated: the time on the processor, by the share of its samples.
 */
export interface ForkPart {
  part: "page tables" | "memory areas" | "other" | "off the processor";
  ns: number;
}

/**
 * What a function has of each case on a side: shares of the case's samples by case, null where it has none.
 *
 * `own` is without callees, `inclusive` with them, a recursion counted once. Of a case that several results have, a
 * share is the mean of theirs, weighted by what a request costs in each where that is known.
 */
export interface FunctionShares {
  side: "base" | "head";
  own: Array<number | null>;
  inclusive: Array<number | null>;
}

/** Why a job has failed: the reason, what to do, and the end of its log; `is_cut` where there was more of it. */
export interface JobFailure {
  job: string;
  reason: string;
  hint: string;
  log: string;
  is_cut: boolean;
}

/**
 * A kernel that was built of a source, patches and a configuration; `digest` names all that went in.
 *
 * `name` is that of the source's file or directory. `without_effect` are settings of the user's configuration that
 * the kernel was not built with: it does not know them, or what they depend on is missing.
 */
export interface Kernel {
  digest: string;
  name: string;
  version: string;
  patches: Array<KernelPatch>;
  compiler: string;
  without_effect: Array<string>;
}

/** A function of the kernel, and in which share of the samples of the fork it ran itself. */
export interface KernelFunction {
  function: string;
  share: number;
}

/** A patch that a kernel was built with: the name of its file, and the digest of its content. */
export interface KernelPatch {
  name: string;
  digest: string;
}

/** How many requests were answered within a range of microseconds. */
export interface LatencyBar {
  from_us: number;
  to_us: number;
  requests: number;
}

/** A case of which no stacks are shown, and why. */
export interface LeftOutCase {
  case: string;
  result: string;
  reason: string;
}

/**
 * The least squares line of a metric over the resident memory of the server, by all repetitions of all sizes.
 *
 * `slope_per_gib` and `intercept` are in the metric's unit; `r2` is the share of its variance that the line explains.
 */
export interface LineFit {
  slope_per_gib: number;
  intercept: number;
  r2: number;
  repetitions: number;
}

/** What a side has of a line: its number there, null without samples, and its share of the function itself. */
export interface LineShare {
  side: "base" | "head";
  line: number | null;
  samples: number;
  share: number;
  cpu_ns_per_op: number | null;
}

/**
 * What a side has of a function in the passes that recorded lines, `lined_passes` of all.
 *
 * `own` are samples in the function itself, without callees, of `samples` in all functions.
 */
export interface LinedSide {
  samples: number;
  own: number;
  passes: number;
  lined_passes: number;
}

/** A case by what it is chosen; its row is the one of its number in the table of the section `cases`. */
export interface ListedCase {
  case: string;
  commands: Array<string>;
  group: string;
  outcomes: Array<string>;
  metrics: Array<string>;
  engines: Array<string>;
}

/**
 * A change of a series with what it is of.
 *
 * It lies after the commit `after` and up to `commit`, in `commit_count` commits. `confirmed` is false for a step of
 * time that no fresh comparison has shown yet.
 */
export interface ListedChange {
  case: string;
  group: string;
  metric: string;
  engine: string;
  topology: string;
  source: string;
  better: "less" | "more" | null;
  id: string;
  kind: "step" | "drift";
  change: number;
  low: number;
  high: number;
  confirmed: boolean;
  comparison: string | null;
  reasons: Array<string>;
  accepted: string | null;
  is_opposed: boolean;
  history: number;
  platform_name: string;
  variant: string;
  after: ListedCommit | null;
  commit: ListedCommit | null;
  commit_count: number;
  is_worse: boolean;
  is_open: boolean;
}

/** A commit in short; `name` is its first tag, or the beginning of its id. `author` is empty where it is unknown. */
export interface ListedCommit {
  commit: string;
  name: string;
  time: string;
  subject: string;
  author: string;
}

/** The document of `zerolap opportunities --json` with the first of its `all_opportunities`. */
export interface ListedOpportunities {
  schema: "zerolap.opportunities/1";
  created: string;
  command_line: string;
  server: MeasuredServer;
  platform: Platform;
  results: Array<string>;
  weights: StatedWeights;
  cases: Array<WeighedCase>;
  detectors: Array<string>;
  saved_share: number;
  opportunities: Array<ListedOpportunity>;
  variants: Array<BuildVariant>;
  functions: Array<WeighedFunction>;
  categories: Array<WeighedCategory>;
  limits: Array<string>;
  all_opportunities: number;
}

/**
 * An opportunity with the first of its `all_cases` cases; `commands` are those of all of them.
 *
 * `tested` is how far the predictions of its detector were right, in words.
 */
export interface ListedOpportunity {
  rank: number;
  detector: string;
  function: string;
  file: string;
  category: "allocation" | "formatting" | "parsing" | "dictionary" | "strings" | "reply" | "event loop" | "system calls" | "time" | "statistics and access checks" | "command" | "other";
  confidence: "high" | "medium" | "low";
  saved_share: Estimate;
  additional_share: number;
  is_refuted: boolean;
  calibration: Calibration;
  cases: Array<ListedOpportunityCase>;
  text: string;
  all_cases: number;
  commands: Array<string>;
  tested: string;
}

/** A case of an opportunity; `saving` and `bounds` are what it would save, in words. */
export interface ListedOpportunityCase {
  case: string;
  commands: Array<string>;
  instructions_per_op: number;
  saved_instructions_per_op: Estimate;
  uncounted_instructions_per_op: Estimate;
  saved_share: Estimate;
  gain: Estimate;
  lines: Array<string>;
  frames: Array<string>;
  evidence: Record<string, number>;
  text: string;
  saving: string;
  bounds: string;
}

/**
 * A platform: when it was seen first, when its facts changed last, in how many states it was seen.
 *
 * `reports` are its comparisons and runs.
 */
export interface ListedPlatform {
  fingerprint: string;
  name: string;
  cpu: string;
  cores: number;
  kernel: string;
  first_seen: string;
  last_change: string;
  states: number;
  reports: number;
}

/**
 * A comparison, run, sweep or check in the list; `state` is the reason where its document cannot be read.
 *
 * `outcomes` is empty but for comparisons that are done. `base` is null for a single server. `platform` is the name
 * of the machine, or that of the fleet's platform that was asked for, while no machine has taken it. `head_commit` is
 * null where the head is no commit.
 */
export interface ListedReport {
  id: string;
  path: "comparisons" | "runs" | "snapshots" | "checks";
  created: string;
  base: string | null;
  head: string;
  state: string;
  outcomes: Array<OutcomeCount>;
  platform: string;
  head_commit: NamedCommit | null;
}

/**
 * A sweep in the list; `headline` is the reason where its document cannot be read.
 *
 * `sides` are what was measured beside each other, empty for one server. `kernel` is the one that was built for a
 * sweep in emulated machines, empty where it was the machine's own.
 */
export interface ListedSweep {
  id: string;
  created: string;
  servers: string;
  sides: Array<string>;
  kernel: string;
  headline: string;
  platform: string;
}

/**
 * A trial in a list; `placement` states where its code lay, `failed` the checks that do not hold.
 *
 * `metrics` has those of the table of a run that were measured. `unreadable` is why the rest is missing.
 */
export interface ListedTrial {
  number: number;
  side: string;
  engine: string;
  block: number;
  per_second: number | null;
  valid: boolean;
  failed: Array<string>;
  began: string;
  seconds: number;
  placement: string;
  load_host: string;
  metrics: Record<string, number>;
  unreadable: string;
}

/**
 * A trigger with what came of it.
 *
 * `delivery` is GitHub's id of the webhook that caused it, empty for another cause. `pull_request` is the address of
 * its pull request on GitHub, null if there is none or the address is not known. `requests` are the first 20 of its
 * `request_count` requests.
 */
export interface ListedTrigger {
  id: string;
  kind: string;
  repository: string;
  subject: string;
  actor: string;
  delivery: string;
  pull_request: string | null;
  created: string;
  state: "waiting" | "working" | "done" | "refused" | "failed";
  reason: string;
  tries: number;
  request_count: number;
  requests: Array<TriggeredRequest>;
}

/**
 * A command or case by columns, with an entry for each version.
 *
 * `changes` are the relative changes up to the version with their 95 % bounds `lows` and `highs`, null where it is
 * not measured; each is the geometric mean over `measured` of the `cases`. What counting itself makes is 0.
 */
export interface MapRow {
  name: string;
  groups: Array<string>;
  cases: Array<string>;
  changes: Array<number | null>;
  lows: Array<number | null>;
  highs: Array<number | null>;
  measured: Array<number>;
}

/** A case by its name: whether it has series, and the newest result with it, null where that is old. */
export interface MatchingCase {
  case: string;
  has_series: boolean;
  result: ListedReport | null;
}

/**
 * A side of a comparison, or the server of a run, in documents: its build, and the name that the user gave.
 *
 * `config` holds the settings of the server except those of the case. `subject` is the first line of the commit's
 * message, `author` who wrote the commit; both are empty where they are not known.
 */
export interface MeasuredServer {
  name: string;
  commit: string | null;
  subject: string;
  author: string;
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

/**
 * What a case sends, of what the request recorded.
 *
 * `commands` are the first 20 of `command_count`, with the words that stand for keys and data; `ratios` is how many
 * of each are sent in turn. `keys` are the range of keys and how they are chosen, empty where no command has one;
 * `data_bytes` is null where no command has data. `dataset` is the name of the data that are stored before, with
 * `dataset_keys` for each command that loads them; empty and null without.
 */
export interface MeasuredWorkload {
  description: string;
  commands: Array<string>;
  ratios: Array<number>;
  command_count: number;
  keys: string;
  data_bytes: number | null;
  connections: number;
  pipeline: number;
  dataset: string;
  dataset_keys: number | null;
  companions: number;
  config: Record<string, string>;
}

/**
 * The median over repetitions, with the interval of order statistics that holds it with at least 93 %.
 *
 * With less than five repetitions there is no such interval: `low` and `high` are then the least and greatest value.
 */
export interface MedianEstimate {
  median: number;
  low: number;
  high: number;
}

/**
 * A case with what all results together have of it.
 *
 * Of each side samples, passes and weights are sums; a request costs the mean of what it costs in the results.
 */
export interface MergedCase {
  case: string;
  results: Array<string>;
  sides: Array<ProfiledSide>;
}

/**
 * A commit with the page at the host of its repository, null where that is not known.
 *
 * `pull_request` is the number at the end of its subject, null without one.
 */
export interface NamedCommit {
  commit: string;
  name: string;
  time: string;
  subject: string;
  author: string;
  page: string | null;
  pull_request: number | null;
  pull_request_page: string | null;
}

/** The lines of a function that a finding of a case names, and what it states. */
export interface NamedLines {
  case: string;
  function: string;
  file: string | null;
  lines: Array<number>;
  text: string;
}

/** A load of an open loop: requests a second over all connections, and the requests of a slice. */
export interface OpenLoad {
  per_second: number;
  requests: number;
}

/** A request of which nothing was measured yet, or that is being measured; `reason` states why it waits. */
export interface OpenRequest {
  id: string;
  path: "comparisons" | "runs" | "snapshots" | "checks";
  platform: string;
  sides: Array<string>;
  state: string;
  reason: string;
}

/**
 * The opportunities of a version that was counted, null where nothing was.
 *
 * `result` is what was asked for, `newest` are the newest comparisons and runs that have call graphs. Of
 * `counted_cases`, those in `waiting_cases` are not part of the document yet: their call graphs are looked through
 * when this is asked again. `sampled` has the comparison or run with sampled stacks of this side, by case;
 * `weightings` are those that these cases permit. `sheet` is the document as it is shown: the rows of its first table
 * are the opportunities of `document`.
 */
export interface OpportunityList {
  result: ProfiledResult | null;
  side: "base" | "head";
  newest: Array<ProfiledResult>;
  counted_cases: number;
  waiting_cases: Array<string>;
  sampled: Record<string, string>;
  weightings: Array<"command" | "equal" | "priority">;
  document: ListedOpportunities | null;
  sheet: Sheet | null;
}

/** How many cases have an outcome. */
export interface OutcomeCount {
  outcome: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical";
  count: number;
}

/**
 * What the first page shows; `is_empty` where nothing was ever measured or asked for.
 *
 * `strips` are those of the histories that were judged last, `open_changes` the largest of the `open_count`
 * regressions and drifts that are neither accepted nor made good.
 */
export interface Overview {
  is_empty: boolean;
  strips: Array<CommitStrip>;
  open_changes: Array<ListedChange>;
  open_count: number;
  newest: Array<ListedReport>;
  sweeps: Array<ListedSweep>;
  open_requests: Array<OpenRequest>;
  fleet: FleetHealth;
}

/** Page faults of a kind, of all threads of the parent and of the child, between the fork and the child's exit. */
export interface PageFaultCounts {
  kind: "copy on write" | "first write" | "first read" | "other" | "any";
  parent: number;
  child: number;
}

/**
 * A system call of the parent's main thread between the fork and the child's exit.
 *
 * `target` is the file that it is of, as the server named it, null for calls of no file. `in_pause` and `ns_in_pause`
 * are those before the thread waited for requests again; `stacks` the most frequent ones.
 */
export interface ParentCall {
  call: string;
  target: string | null;
  calls: number;
  ns: number;
  longest_ns: number;
  in_pause: number;
  ns_in_pause: number;
  stacks: Array<TracedStack>;
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
  sources: Array<SourceText>;
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

/** A new state of a platform: when it was seen first, and its differences from the state before. */
export interface PlatformChange {
  first_seen: string;
  changes: Array<FactChange>;
}

/**
 * A platform. `facts` are those of the newest state, `changes` begin with the newest.
 *
 * Alarms and spreads are of its newest 500 comparisons.
 */
export interface PlatformDetails {
  platform: ListedPlatform;
  facts: Array<PlatformFact>;
  changes: Array<PlatformChange>;
  false_alarm_counts: Array<FalseAlarmCount>;
  false_alarms: Array<FalseAlarm>;
  spreads: Array<StartSpread>;
}

/** A fact of a platform, such as its governor. */
export interface PlatformFact {
  name: string;
  value: string;
}

/** All platforms, that whose facts changed last first. */
export interface PlatformListing {
  platforms: Array<ListedPlatform>;
}

/**
 * Two platforms: facts that differ, where `before` is the first's, and cases that both measured.
 *
 * `comparisons` is how many comparisons of the same two builds or commits there are among the newest 500 of the first
 * platform, at most 20; `is_cut` where they have more cases than are shown. `agreements` count all cases.
 */
export interface PlatformPair {
  platform: ListedPlatform;
  other: ListedPlatform;
  facts: Array<FactChange>;
  same_facts: number;
  comparisons: number;
  cases: Array<CaseOnBoth>;
  agreements: Partial<Record<"same" | "different" | "invalid", number>>;
  is_cut: boolean;
}

/**
 * The verdict on a case on a platform: a metric with its verdict, its values and the change as a share.
 *
 * `metric` is null where the verdict rests on none.
 */
export interface PlatformResult {
  comparison: string;
  verdict: string | null;
  metric: string | null;
  base: number | null;
  head: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
}

/** A step in the times of one build in nearly all cases, also in words: the platform changed. */
export interface PlatformStep {
  history: number;
  before: string;
  since: string;
  change: number;
  facts_changed: boolean;
  text: string;
}

/** A call tree in columns: a node's caller precedes it and is -1 at the root of a thread. */
export interface ProfileCalls {
  thread: Array<number>;
  parent: Array<number>;
  frame: Array<number>;
}

/**
 * What a side has in each node of the tree, without the nodes below.
 *
 * `own` are samples, weighted by case so that their sum is `samples`, the number that was taken, or, of waits, the
 * nanoseconds; these have no variance, and `cpu_ns_per_op` is their time off the processor. `variance` is that of
 * each: a sample of a case that counts s adds s squared, as in a Poisson process. `cpu_ns_per_op` is the CPU time of
 * a request, of several cases the mean; null where it is not known. `cpu_error` is its relative standard error.
 */
export interface ProfileSide {
  side: "base" | "head";
  samples: number;
  lost: number;
  cpu_ns_per_op: number | null;
  cpu_error: number;
  pruned_share: number;
  own: Array<number>;
  variance: Array<number>;
}

/** A case of a result whose stacks are among those that are shown. */
export interface ProfiledCase {
  case: string;
  result: string;
  sides: Array<ProfiledSide>;
}

/**
 * A comparison or run whose stacks or call graphs are shown.
 *
 * `platform_name` is empty where it was asked for by its id.
 */
export interface ProfiledResult {
  id: string;
  path: "comparisons" | "runs";
  created: string;
  base: string | null;
  head: string;
  platform_name: string;
}

/**
 * What there is of a case on a side; `weight` is its part of the side's merged stacks.
 *
 * `passes` are those that are merged, of `recorded_passes`. `cpu_error` is the relative standard error of
 * `cpu_ns_per_op`, which is null for a case that was not timed.
 */
export interface ProfiledSide {
  side: "base" | "head";
  samples: number;
  passes: number;
  recorded_passes: number;
  cpu_ns_per_op: number | null;
  cpu_error: number;
  weight: number;
}

/** A published history; `created` is when it was judged (ISO 8601), `platform` a fingerprint. */
export interface PublishedHistory {
  number: number;
  repository: string;
  range: string;
  variant: string;
  config: Record<string, string>;
  platform: string;
  platform_name: string;
  created: string;
}

/**
 * Reports, the newest first; `next_before` is where older ones begin, null where there are none.
 *
 * A text is sought in some thousand requests at once: then there may be older ones although few are listed.
 */
export interface ReportList {
  reports: Array<ListedReport>;
  next_before: number | null;
  platforms: Array<string>;
}

/**
 * The trigger that asked for a comparison or run: its id, what it is about, and the repository to find it by.
 *
 * `pull_request` is the number of the pull request that it is about, null without one. Without a trigger `subject` is
 * what the request recorded, as `command line`, and the others are empty.
 */
export interface RequestCause {
  trigger: string;
  kind: string;
  subject: string;
  repository: string;
  pull_request: number | null;
}

/**
 * The state of a request; `reasons` state why it waits or ended.
 *
 * `cases_asked` are the cases that were asked for, `cases` those that have a result; further jobs are planned as
 * results come in. `has_report` states whether there is a report of it yet. `trials_seconds` is the machine time of
 * all trials. `seconds_left` is null where it is not known, `change` differs whenever there is more to see than
 * before.
 */
export interface RequestStatus {
  id: string;
  platform: string;
  sides: Array<string>;
  state: "waiting" | "running" | "done" | "interrupted" | "failed" | "cancelled" | "superseded";
  has_ended: boolean;
  has_report: boolean;
  reasons: Array<string>;
  cases_asked: number;
  cases: number;
  jobs: number;
  jobs_ended: number;
  trials: number;
  trials_seconds: number;
  seconds_left: number | null;
  change: string;
}

/** A comparison or run with the cases of which it has stacks, the first 200 by name; `platform` is a fingerprint. */
export interface ResultWithStacks {
  result: ProfiledResult;
  platform: string;
  cases: Array<string>;
  all_cases: number;
  head_commit: NamedCommit | null;
}

/** A run with a row a case; `is_final` states that nothing of it will change. */
export interface RunInShort {
  subject: string;
  command_line: string;
  engines: Array<string>;
  sheet: Sheet;
  cases: Array<ListedCase>;
  is_final: boolean;
}

/**
 * The source lines of one function with their samples, in columns; lines of both sides with one text are one.
 *
 * `source` are indices into `Pictures.sources`. By side, `line` has the number of each, null without samples, and
 * `own` its samples. `left_out` is the number of lines that are not here, those with the fewest samples.
 */
export interface SampledLines {
  function: string;
  file: string | null;
  object: string;
  sides: Partial<Record<"base" | "head", LinedSide>>;
  source: Array<number>;
  line: Partial<Record<"base" | "head", Array<number | null>>>;
  own: Partial<Record<"base" | "head", Array<number>>>;
  left_out: number;
}

/** What a text names, at most 20 of each kind. */
export interface SearchResults {
  commits: Array<NamedCommit>;
  histories: Array<PublishedHistory>;
  requests: Array<ListedReport>;
  cases: Array<MatchingCase>;
}

/**
 * A part of a sheet, in the order in which it is read.
 *
 * `title` is a sentence, `remark` stands beside it. What `is_folded` is opened by the reader: a terminal shows it
 * where everything is asked for. `key` is the name of what the section is about, such as a case. `is_ranked` is
 * whether its sentences are in the order of their importance, which numbers show.
 */
export interface Section {
  key: string;
  title: string;
  remark: string;
  mark: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical" | "worse" | "better" | "warning" | "strong" | "quiet" | null;
  is_folded: boolean;
  is_ranked: boolean;
  facts: Array<Fact>;
  sentences: Array<Sentence>;
  tables: Array<Table>;
  stacks: Array<Stacks>;
  sections: Array<Section>;
  notes: Array<string>;
}

/** A sentence, after a word that says what it is, such as `accepted`; names in both stand in backticks. */
export interface Sentence {
  text: string;
  label: string;
  mark: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical" | "worse" | "better" | "warning" | "strong" | "quiet" | null;
  links: Array<WebLink>;
}

/** A case with the metrics and the histories (by number) that it has series in. */
export interface SeriesCase {
  case: string;
  group: string;
  commands: Array<string>;
  metrics: Array<string>;
  histories: Array<number>;
}

/**
 * Series for one chart.
 *
 * `left_out` is how many more series are asked for than are shown. `commits` are those of the points, changes and
 * releases, in order; `total` is how many there are with those that are not shown. `legend` has a row for each line.
 * `platform_steps` are those of the histories of which times are shown.
 */
export interface SeriesChart {
  histories: Array<PublishedHistory>;
  commits: Array<ChartCommit>;
  total: number;
  lines: Array<ChartLine>;
  legend: Table;
  change_points: Array<ListedChange>;
  platform_steps: Array<PlatformStep>;
  left_out: number;
}

/** All series by cases; `metrics` are those of any, the one with most series first. */
export interface SeriesList {
  histories: Array<PublishedHistory>;
  cases: Array<SeriesCase>;
  metrics: Array<string>;
}

/** A few milliseconds: when they begin, in seconds from the event on, the replies that came, and their latencies. */
export interface SeriesSlot {
  at_seconds: number;
  replies: number;
  p50_us: number | null;
  p99_us: number | null;
  max_us: number | null;
}

/**
 * A document as it is shown; `kind` is what it is of, `closing` is at its end, such as how to repeat it.
 *
 * The title goes on with `continuation`, which is less important. `addresses` are those of pages of the lab or of
 * others that names in its sentences and facts lead to.
 */
export interface Sheet {
  key: string;
  title: string;
  remark: string;
  mark: "regression" | "improvement" | "unsure" | "failed" | "invalid" | "same" | "identical" | "worse" | "better" | "warning" | "strong" | "quiet" | null;
  is_folded: boolean;
  is_ranked: boolean;
  facts: Array<Fact>;
  sentences: Array<Sentence>;
  tables: Array<Table>;
  stacks: Array<Stacks>;
  sections: Array<Section>;
  notes: Array<string>;
  kind: string;
  continuation: string;
  closing: Array<Fact>;
  addresses: Record<string, string>;
}

/**
 * Who looks at the pages: `name` is that of a token or a login at GitHub, null for nobody.
 *
 * `scopes` are what is permitted. `by_github` is whether people can sign in by GitHub, `reports_need_token` whether
 * those who have not signed in can read nothing.
 */
export interface SignedIn {
  name: string | null;
  actor: string | null;
  source: "token" | "github" | null;
  scopes: Array<"read" | "submit" | "admin">;
  by_github: boolean;
  reports_need_token: boolean;
}

/**
 * One size of data under one load.
 *
 * `size_bytes` is the size that was asked for; `data_bytes` what the server reports to use once it is filled, null if
 * it does not report it. `metrics` are the medians of the repetitions. `side` is the name of its side, empty where
 * there is one alone; repetitions of the same place in the points of two sides are a pair.
 */
export interface SnapshotPoint {
  side: string;
  size_bytes: number;
  data_bytes: number | null;
  keys: number;
  load: "open" | "closed";
  metrics: Record<string, MedianEstimate>;
  repetitions: Array<SnapshotRepetition>;
}

/**
 * One event under load: its metrics, by names with units, and the series of latencies around it.
 *
 * `checks` are of the machine; where one fails, and in what `warnings` state, figures are not the server's alone.
 */
export interface SnapshotRepetition {
  began: string;
  metrics: Record<string, number>;
  checks: Array<Check>;
  warnings: Array<string>;
  series: Array<SeriesSlot>;
}

/**
 * The document of a sweep over sizes of data; `id` names it in a store, and is empty where it is in none.
 *
 * `fits` are lines over the resident memory by metric: `fork_us` over the repetitions of all loads, and
 * `open_longest_pause_us` and `closed_longest_pause_us` over those of one. `sides` is empty where one server was
 * measured in one way, else `fits` is, and `server` is the last of them. `traces` are of events that were traced
 * apart. `starts` are those of servers that have settled by an event, in the order in which they were measured.
 * `reading` is null until it is written down.
 */
export interface SnapshotReport {
  schema: "zerolap.snapshot/1";
  id: string;
  created: string;
  command_line: string;
  server: MeasuredServer;
  platform: Platform;
  settings: SnapshotSettings;
  machine_seconds: number;
  points: Array<SnapshotPoint>;
  fits: Record<string, LineFit>;
  sides: Array<SnapshotSide>;
  starts: Array<SnapshotStart>;
  verdicts: Array<SnapshotVerdicts>;
  traces: Array<SnapshotTrace>;
  failed: Array<FailedSize>;
  notes: Array<string>;
  reading: SweepReading | null;
}

/**
 * How a sweep was carried out; `rate_per_second` is that of the open loop.
 *
 * `min_effect` is the smallest change that matters, as a fraction, and `q` the share of false ones among the changes
 * that is accepted; both are null without verdicts.
 */
export interface SnapshotSettings {
  event: "bgsave" | "bgrewriteaof" | "replica" | "none";
  sizes_bytes: Array<number>;
  loads: Array<"open" | "closed">;
  rate_per_second: number;
  connections: number;
  value_bytes: number;
  repetitions: number;
  slot_seconds: number;
  seed: string;
  min_effect: number | null;
  q: number | null;
}

/**
 * One of several servers or settings that a sweep measures beside each other; the first is the base of verdicts.
 *
 * `name` is base or head for two servers, else what was varied, such as `io-threads=4`. `huge_pages` is null where
 * server and kernel decide on them. `fits` are its lines, as those of the report.
 */
export interface SnapshotSide {
  name: string;
  server: MeasuredServer;
  huge_pages: "always" | "never" | null;
  fits: Record<string, LineFit>;
}

/**
 * A start of a server that was filled, and the first time that it forked, before anything is measured.
 *
 * `first_fork_us` is the `latest_fork_usec` of that event, null where the server does not report it.
 */
export interface SnapshotStart {
  side: string;
  size_bytes: number;
  began: string;
  first_fork_us: number | null;
}

/**
 * One event that was traced, apart from the measured ones, as tracing takes time.
 *
 * `fork_ns` is the system call in the parent; `pause_ns` is from its beginning until the main thread waits for
 * requests again, null if that was not seen; `child_ns` is from its beginning until the child's exit. `fork_samples`
 * is the number of samples by which the fork is divided. `page_table_bytes` and `memory_areas` are those of the
 * server before the event, null where the kernel does not report them. `no_stacks` is why stacks are missing.
 */
export interface SnapshotTrace {
  side: string;
  size_bytes: number;
  began: string;
  fork_ns: number;
  fork_samples: number;
  fork_parts: Array<ForkPart>;
  fork_functions: Array<KernelFunction>;
  page_table_bytes: number | null;
  memory_areas: number | null;
  pause_ns: number | null;
  child_ns: number;
  calls: Array<ParentCall>;
  time_off: Array<TimeOff>;
  faults: Array<PageFaultCounts>;
  child_steps: Array<ChildStep>;
  child_calls: Array<ChildCall>;
  findings: Array<ForkFinding>;
  no_stacks: string | null;
}

/**
 * What a sweep concludes of a side, beside its base, at a size and under a load, for each of `SNAPSHOT_RULES`.
 *
 * A metric that a side did not report has no verdict; fewer than two pairs have none.
 */
export interface SnapshotVerdicts {
  base: string;
  head: string;
  size_bytes: number;
  load: "open" | "closed";
  verdicts: Array<Verdict>;
}

/** A line of source code with its file; `text` is null where the source was not at hand. */
export interface SourceText {
  file: string;
  text: string | null;
}

/** A stack: its share, what it is a stack of, and its functions, from the innermost to the outermost. */
export interface Stack {
  share: string;
  label: string;
  frames: Array<string>;
}

/** A function in a stack, with the file that defines it and its binary. */
export interface StackFrame {
  function: string;
  file: string | null;
  object: string;
  inlined: boolean;
}

/**
 * The functions with the largest own costs over all cases, of `all_functions`; shares are in the order of `cases`.
 *
 * A share times the CPU time of the case's requests is the function's time per request.
 */
export interface StackFunctions {
  results: Array<ProfiledResult>;
  cases: Array<MergedCase>;
  all_cases: Array<string>;
  left_out: Array<LeftOutCase>;
  weights: "time" | "case";
  functions: Array<CostlyFunction>;
  all_functions: number;
}

/**
 * The lines of a function that have samples of its own, of all threads; `left_out` are those with the fewest.
 *
 * Lines are recorded of the functions with the most own samples of each pass.
 */
export interface StackLines {
  function: string;
  file: string | null;
  sides: Array<AnnotatedSide>;
  lines: Array<AnnotatedLine>;
  left_out: number;
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
 * Stacks of one case or of several; `time` is what they are of, of `times` that there are.
 *
 * `all_cases` are the names of all cases of these results that have passes. `frame_cases` states in how many cases
 * each frame has samples. Nodes below `least_share` of every side are put together as `[other]` below their caller;
 * there were `pruned_nodes` of them. `lines` are those that findings name; those that have samples are in `stack-
 * lines`.
 */
export interface StackProfile {
  results: Array<ProfiledResult>;
  cases: Array<ProfiledCase>;
  all_cases: Array<string>;
  left_out: Array<LeftOutCase>;
  weights: "time" | "case";
  time: "cpu" | "waits";
  times: Array<"cpu" | "waits">;
  events: Array<string>;
  threads: Array<string>;
  frames: Array<StackFrame>;
  frame_cases: Array<number>;
  nodes: ProfileCalls;
  sides: Array<ProfileSide>;
  least_share: number;
  pruned_nodes: number;
  lines: Array<NamedLines>;
}

/** The newest results with stacks, the newest first. */
export interface StackResults {
  results: Array<ResultWithStacks>;
}

/**
 * The stacks of one side; frames are indices into `Pictures.frames`.
 *
 * Samples are of the time on the processor, and `cpu_ns_per_op` is the CPU time of a request. Where `event` is `off-
 * cpu`, samples are nanoseconds off the processor, and `cpu_ns_per_op` is that time of a request. It is null if it
 * was not measured; `cpu_error` is its relative standard error.
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

/** Stacks below a heading. */
export interface Stacks {
  heading: string;
  stacks: Array<Stack>;
}

/**
 * How much starts of one build differ in a metric: the standard deviation as a share, over `spreads` cases.
 *
 * `circumstances` are what comparable starts have in common, `degrees` the degrees of freedom that it is based on.
 */
export interface StartSpread {
  metric: string;
  circumstances: string;
  spreads: number;
  standard_deviation: number;
  degrees: number;
}

/**
 * What the cases are weighted by.
 *
 * `command` gives each command the same weight, however many cases it has. `usage` is the time that a server of the
 * user spent in each command; `source` is where that was read from, `covered` the part of it in these commands.
 */
export interface StatedWeights {
  kind: "command" | "equal" | "priority" | "usage";
  source: string;
  covered: number | null;
}

/**
 * A commit of a strip.
 *
 * `state` is what is known of it: it could not be built or measured, is not measured, has the program of the commit
 * before or executes the same in all series, or has no confirmed step; else the worst step, of `case` and `metric`,
 * is one for the worse or for the better. `change` is that step, `steps` how many there are.
 */
export interface StripCommit {
  commit: string;
  name: string;
  time: string;
  subject: string;
  author: string;
  state: "failed" | "not measured" | "identical" | "unchanged" | "worse" | "better";
  change: number | null;
  case: string;
  metric: string;
  steps: number;
  is_release: boolean;
}

/** Sweeps of snapshots, the newest first; `next_before` is where older ones begin, null where there are none. */
export interface SweepList {
  sweeps: Array<ListedSweep>;
  next_before: number | null;
}

/**
 * How a sweep is read: its headline, what was measured, what follows from it, and what to bear in mind.
 *
 * Earlier versions wrote further fields, which are ignored.
 */
export interface SweepReading {
  headline: string;
  subject: string;
  sentences: Array<string>;
  warnings: Array<string>;
}

/** A table; `left_out` is how many rows are not in it, `remark` stands below it. */
export interface Table {
  key: string;
  heading: string;
  columns: Array<Column>;
  rows: Array<Array<Cell>>;
  left_out: number;
  remark: string;
}

/** How often and how long the main thread was off its processor; `queue_ns` is when it could have run. */
export interface TimeOff {
  reason: "waiting for requests" | "in a system call" | "elsewhere";
  times: number;
  ns: number;
  queue_ns: number;
}

/**
 * A system call of the threads of one name.
 *
 * `ns_per_op` is from its entry to its exit, waiting included, of calls that ended while they were traced.
 * `bytes_per_op` is what these read or wrote; null of calls that move no bytes, and where it was not recorded.
 */
export interface TracedCall {
  thread: string;
  call: string;
  calls_per_op: number;
  ns_per_op: number;
  bytes_per_op: number | null;
}

/**
 * What traced passes recorded, those with the most calls or time first.
 *
 * `no_stacks` is why some stacks are missing, `no_tcp` why the metrics of TCP are.
 */
export interface TracedCase {
  schema: "zerolap.traced/1";
  threads: Array<TracedThread>;
  calls: Array<TracedCall>;
  stacks: Array<TracedStacks>;
  no_stacks: string | null;
  no_tcp: string | null;
}

/** What the passes of a side recorded: the mean of each metric, its least and its largest value, and the rest. */
export interface TracedSide {
  metrics: Record<string, [number, number, number]>;
  passes: number;
  traced: TracedCase;
}

/** A stack of a thread; `frames` are functions of the program from the leaf to the root, `share` its part of all. */
export interface TracedStack {
  thread: string;
  frames: Array<string>;
  share: number;
}

/** The most frequent stacks of an event, of `samples` that were recorded; of waits, the longest of so many ns. */
export interface TracedStacks {
  event: "system calls" | "switches" | "waits";
  samples: number;
  stacks: Array<TracedStack>;
}

/**
 * The threads of one name, `threads` in number, together.
 *
 * `off_per_op` is how often one left the processor, `off_ns_per_op` the time until it ran again; `queue_ns_per_op` is
 * the part of that time in which it could have run. All are per request; `block_io_per_op` is null where the kernel
 * does not report it.
 */
export interface TracedThread {
  thread: string;
  threads: number;
  off_per_op: number;
  off_ns_per_op: number;
  queue_ns_per_op: number;
  faults_per_op: number;
  block_io_per_op: number | null;
}

/** The build of a trial's server, with the flags that took effect; empty where they are not known. */
export interface TrialBuild {
  build: string;
  version: string;
  build_id: string;
  compiler: string;
  flags: string;
  libc: string;
  allocator: string;
  architecture: string;
  variant: string;
  is_stripped: boolean;
}

/**
 * A trial with all that was recorded of it.
 *
 * `latency` has points of a share of requests and the microseconds within which they were answered; `together` is how
 * many slices a point of `slices` stands for. `missing` states what could not be read, and why.
 */
export interface TrialDetails {
  number: number;
  request: string;
  path: string;
  case: string;
  commands: Array<string>;
  side: string;
  sides: Array<string>;
  engine: string;
  block: number;
  per_second: number | null;
  valid: boolean;
  checks: Array<Check>;
  metrics: Record<string, number>;
  seconds: number;
  began: string;
  method: number;
  zerolap: string;
  instrument: string;
  load_host: string;
  placement: string;
  amounts: Amounts;
  topology: string;
  config: Record<string, string>;
  build: TrialBuild | null;
  platform: Platform | null;
  bars: Array<LatencyBar>;
  latency: Array<[number, number]>;
  slices: Array<DrawnSlice>;
  together: number;
  stacks: boolean;
  log: string;
  missing: Array<string>;
}

/**
 * A series by columns: each point is the mean of `counts` trials in a row, with 95 % bounds and extremes.
 *
 * `times` are when the last of them began (ISO 8601, UTC), empty where that is not recorded. A single trial has no
 * bounds.
 */
export interface TrialLine {
  series: string;
  case: string;
  metric: string;
  engine: string;
  topology: string;
  variant: string;
  platform_name: string;
  times: Array<string>;
  means: Array<number>;
  lows: Array<number | null>;
  highs: Array<number | null>;
  least: Array<number>;
  most: Array<number>;
  counts: Array<number>;
}

/** Trials in the order of recording; `next_after` is where the next ones begin, null where there are none. */
export interface TrialList {
  id: string;
  case: string;
  trials: Array<ListedTrial>;
  next_after: number | null;
}

/** The series that are asked for; `left_out` is true where there are more. `most_values` of each are read. */
export interface TrialValues {
  lines: Array<TrialLine>;
  left_out: boolean;
  most_values: number;
}

/**
 * Triggers, the newest first; `cursor` is that of the next ones, none where there are no more.
 *
 * `counts` are those of all triggers by state, `repositories` the names that there are.
 */
export interface TriggerList {
  triggers: Array<ListedTrigger>;
  cursor: string | null;
  counts: Partial<Record<"waiting" | "working" | "done" | "refused" | "failed", number>>;
  repositories: Array<string>;
}

/**
 * A request that a trigger has led to; `outcomes` count the cases of one that is done by their outcome.
 *
 * `state` is `removed` where the request is not kept any more.
 */
export interface TriggeredRequest {
  id: string;
  path: "comparisons" | "runs" | "snapshots" | "checks";
  state: string;
  outcomes: Array<OutcomeCount>;
  head_commit: NamedCommit | null;
}

/**
 * A case whose time changed in another build, confirmed: `gain` is by how much that is faster, below 0 for a loss.
 *
 * It is the ratio of throughputs, or that of costs upside down, less 1. `metric` is what the verdict rests on, and
 * `comparison` the id of the comparison that has it.
 */
export interface VariantCase {
  case: string;
  commands: Array<string>;
  metric: string;
  gain: Estimate;
  comparison: string;
}

/**
 * A verdict with its evidence.
 *
 * `change` is (head - base) / base, `low` and `high` bound it; `q` is the adjusted p over cases and metrics, null for
 * same and identical; `detectable` is the smallest relative change that these samples could have detected; `samples`
 * counts the trials of a side. `margin` is within which a change counts as the same, null where that is the minimum
 * effect. `wild_starts` are those of a timed verdict, null where there are none and those of other cases leave the
 * verdict as it is.
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
  wild_starts: WildStarts | null;
}

/**
 * The table; `since` is the index of the version that changes are since. `total` is the mean over all cases.
 *
 * `histories` are those with two releases or more, `metrics` those of the shown one. `versions_left_out` is how many
 * older versions there are, `series_left_out` how many more cases. `accepted` are the largest accepted changes of the
 * history and metric: the cells contain them.
 */
export interface VersionMap {
  histories: Array<PublishedHistory>;
  history: PublishedHistory | null;
  metrics: Array<string>;
  metric: string;
  better: string | null;
  versions: Array<ListedCommit>;
  since: number;
  rows: Array<MapRow>;
  total: MapRow | null;
  versions_left_out: number;
  series_left_out: number;
  accepted: Array<ListedChange>;
}

/** An address outside of the lab, such as that of changed lines; names in its text stand in backticks. */
export interface WebLink {
  text: string;
  address: string;
}

/** A case that was looked at, its part of all weights, and what all opportunities together would bring for it. */
export interface WeighedCase {
  case: string;
  commands: Array<string>;
  result: string;
  weight: number;
  instructions_per_op: number;
  gain: number;
}

/** The part of the instructions that is spent in the functions of a category, the weighted mean over all cases. */
export interface WeighedCategory {
  category: "allocation" | "formatting" | "parsing" | "dictionary" | "strings" | "reply" | "event loop" | "system calls" | "time" | "statistics and access checks" | "command" | "other";
  share: number;
}

/**
 * A function's part of the instructions, the weighted mean over all cases, and in how many cases it is over 1 %.
 *
 * `self_share` is without the functions that it calls.
 */
export interface WeighedFunction {
  function: string;
  file: string;
  category: "allocation" | "formatting" | "parsing" | "dictionary" | "strings" | "reply" | "event loop" | "system calls" | "time" | "statistics and access checks" | "command" | "other";
  self_share: number;
  share: number;
  cases: number;
}

/**
 * The starts that lie far from the others, of which a verdict's estimate takes no more than their bound.
 *
 * `base` and `head` count those in which this side was slower beside the other than usual, `largest` is by what
 * factor at most; `mean_change` is the change with all of them in full. `reason` is why they leave the verdict
 * unsure, null where they do not.
 */
export interface WildStarts {
  base: number;
  head: number;
  largest: number;
  mean_change: number;
  reason: "mean" | "sides" | "other cases" | null;
}

/** The requests of the two windows of a counted trial; each is a multiple of the cycle of commands. */
export interface Windows {
  small: number;
  large: number;
}

/** What metrics are called, and their units. */
export const METRICS: Record<string, Record<"unit" | "label" | "heading", string>> = {
  "instructions_per_op": {
    "unit": "instructions",
    "label": "instructions per request",
    "heading": "instructions/request"
  },
  "allocations_per_op": {
    "unit": "allocations",
    "label": "allocations per request",
    "heading": "allocations/request"
  },
  "syscalls_per_op": {
    "unit": "system calls",
    "label": "system calls per request",
    "heading": "system calls/request"
  },
  "clock_readings_per_op": {
    "unit": "readings",
    "label": "clock readings per request",
    "heading": "clock readings/request"
  },
  "instructions_alone_per_op": {
    "unit": "instructions",
    "label": "instructions per request, sent one at a time",
    "heading": "instructions/request alone"
  },
  "instructions_per_tick": {
    "unit": "instructions",
    "label": "instructions per tick of the timers",
    "heading": "instructions/tick"
  },
  "memory_bytes_per_key": {
    "unit": "bytes",
    "label": "bytes per key",
    "heading": "bytes/key"
  },
  "used_memory_bytes": {
    "unit": "bytes",
    "label": "bytes that the server uses for the data",
    "heading": "bytes used"
  },
  "peak_memory_bytes": {
    "unit": "bytes",
    "label": "bytes that the server used at most",
    "heading": "bytes at most"
  },
  "client_memory_bytes": {
    "unit": "bytes",
    "label": "bytes that the clients of the load take",
    "heading": "bytes of clients"
  },
  "allocator_overhead_bytes": {
    "unit": "bytes",
    "label": "bytes that lie unused in the allocator's pages",
    "heading": "bytes unused in pages"
  },
  "rss_bytes": {
    "unit": "bytes",
    "label": "resident bytes",
    "heading": "resident bytes"
  },
  "cpu_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request",
    "heading": "CPU ns/request"
  },
  "whole_cpu_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request of the whole server",
    "heading": "whole CPU ns/request"
  },
  "full_speed_cpu_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request in unequal batches",
    "heading": "full speed CPU ns/request"
  },
  "as_built_cpu_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request, code where the build put it",
    "heading": "as built CPU ns/request"
  },
  "elapsed_ns_per_op": {
    "unit": "ns",
    "label": "ns per request until all replies came",
    "heading": "elapsed ns/request"
  },
  "main_thread_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request of the main thread",
    "heading": "main thread ns/request"
  },
  "io_threads_ns_per_op": {
    "unit": "ns",
    "label": "CPU ns per request of the I/O threads",
    "heading": "I/O threads ns/request"
  },
  "cycles_per_op": {
    "unit": "cycles",
    "label": "cycles per request",
    "heading": "cycles/request"
  },
  "kernel_cycles_per_op": {
    "unit": "cycles",
    "label": "kernel cycles per request",
    "heading": "kernel cycles/request"
  },
  "retired_instructions_per_op": {
    "unit": "instructions",
    "label": "retired instructions per request",
    "heading": "retired instructions/request"
  },
  "kernel_instructions_per_op": {
    "unit": "instructions",
    "label": "kernel instructions per request",
    "heading": "kernel instructions/request"
  },
  "branch_misses_per_op": {
    "unit": "misses",
    "label": "branch misses per request",
    "heading": "branch misses/request"
  },
  "cache_misses_per_op": {
    "unit": "misses",
    "label": "cache misses per request",
    "heading": "cache misses/request"
  },
  "tlb_misses_per_op": {
    "unit": "misses",
    "label": "TLB misses per request",
    "heading": "TLB misses/request"
  },
  "usec_per_call": {
    "unit": "us",
    "label": "µs per call, as the server counts",
    "heading": "µs/call"
  },
  "ops_per_sec": {
    "unit": "requests",
    "label": "requests per second",
    "heading": "requests/s"
  },
  "latency_p50_us": {
    "unit": "us",
    "label": "latency p50 in µs",
    "heading": "p50, µs"
  },
  "latency_p99_us": {
    "unit": "us",
    "label": "latency p99 in µs",
    "heading": "p99, µs"
  },
  "latency_p99_9_us": {
    "unit": "us",
    "label": "latency p99.9 in µs",
    "heading": "p99.9, µs"
  },
  "latency_max_us": {
    "unit": "us",
    "label": "latency maximum in µs",
    "heading": "max, µs"
  },
  "latency_at_50_p99_us": {
    "unit": "us",
    "label": "latency p99 in µs at half of the base's full speed",
    "heading": "p99 at 50 %, µs"
  },
  "latency_at_80_p99_us": {
    "unit": "us",
    "label": "latency p99 in µs at 80 % of the base's full speed",
    "heading": "p99 at 80 %, µs"
  },
  "latency_at_80_p99_9_us": {
    "unit": "us",
    "label": "latency p99.9 in µs at 80 % of the base's full speed",
    "heading": "p99.9 at 80 %, µs"
  },
  "latency_at_80_max_us": {
    "unit": "us",
    "label": "longest pause in µs at 80 % of the base's full speed",
    "heading": "longest pause, µs"
  },
  "control_ns": {
    "unit": "ns",
    "label": "CPU ns per step of the reference work",
    "heading": "reference ns/step"
  },
  "traced_syscalls_per_op": {
    "unit": "system calls",
    "label": "system calls per request, all threads, traced",
    "heading": "traced system calls/request"
  },
  "off_cpu_ns_per_op": {
    "unit": "ns",
    "label": "ns per request of the main thread off the processor",
    "heading": "off-CPU ns/request"
  },
  "run_queue_ns_per_op": {
    "unit": "ns",
    "label": "ns per request of the main thread in the run queue",
    "heading": "run queue ns/request"
  },
  "lock_wait_ns_per_op": {
    "unit": "ns",
    "label": "ns per request in waits for locks and conditions",
    "heading": "lock wait ns/request"
  },
  "page_faults_per_op": {
    "unit": "faults",
    "label": "page faults per request",
    "heading": "page faults/request"
  },
  "block_io_per_op": {
    "unit": "block I/O requests",
    "label": "block I/O requests per request",
    "heading": "block I/O/request"
  },
  "tcp_segments_sent_per_op": {
    "unit": "segments",
    "label": "TCP segments sent per request, those without data too",
    "heading": "TCP segments sent/request"
  },
  "tcp_data_segments_sent_per_op": {
    "unit": "segments",
    "label": "TCP segments with data sent per request",
    "heading": "TCP data segments sent/request"
  },
  "tcp_segments_received_per_op": {
    "unit": "segments",
    "label": "TCP segments received per request, those without data too",
    "heading": "TCP segments received/request"
  },
  "tcp_retransmitted_per_op": {
    "unit": "segments",
    "label": "TCP segments sent again per request",
    "heading": "TCP retransmits/request"
  },
  "tcp_sent_bytes_per_op": {
    "unit": "bytes",
    "label": "bytes sent over TCP per request",
    "heading": "TCP bytes sent/request"
  },
  "tcp_received_bytes_per_op": {
    "unit": "bytes",
    "label": "bytes received over TCP per request",
    "heading": "TCP bytes received/request"
  }
};

/** Outcomes of cases, in the order in which they are shown. */
export const OUTCOMES = [
  "regression",
  "improvement",
  "unsure",
  "failed",
  "invalid",
  "same",
  "identical"
] as const;

/** Words of the glossary. */
export const WORDS: Record<string, string> = {
  "regression": "a change for the worse or for the better: its interval lies beyond 0, and the estimate beyond the minimum effect",
  "improvement": "a change for the worse or for the better: its interval lies beyond 0, and the estimate beyond the minimum effect",
  "same": "the change is too small to matter: by a test of equivalence, its interval lies within the margin; of instructions also one that the places of strings account for",
  "unsure": "the trials can neither show a change nor exclude one, or figures speak against each other; more trials, or a quieter machine, may decide",
  "identical": "of work: both sides execute the same instructions but for addresses, on the same constants, equally often",
  "estimate": "its most probable size",
  "interval": "the range in which it lies with the confidence level",
  "q": "how often a change this large is reported where there is none, adjusted for all cases and metrics of the comparison",
  "work": "what the code does (instructions, system calls, allocations)",
  "time": "what its user feels (CPU time, throughput, latency)",
  "case": "one benchmark: data set, commands, client settings, what is expected",
  "trial": "one process start of one build under one case by one engine",
  "start": "one process start of every side together: a trial of each",
  "block": "a trial of each side from one seed",
  "samples": "the number of trials a side",
  "slice": "a part of a timed trial with a fixed amount of work",
  "placement": "where a start's code, data and pages lie: order of functions and variables at the link, pages of the file, addresses",
  "layout": "of a program: where its functions and variables lie in it; a program that cannot be linked again has one layout in all starts",
  "confirmed": "of a change: timed trials in random placements decided it; counted trials alone screen, and one layout a side confirms nothing",
  "minimum effect": "the smallest change that matters: what an estimate has to exceed to be a regression or an improvement",
  "margin": "within which a change counts as the same: the minimum effect, or twice that for elapsed time",
  "detectable": "the smallest change that the trials would have found with a probability of 90 %",
  "validity": "whether a measurement may be used: the checks that hold, and those that do not",
  "engine": "what measures: timed, counted, sampled (stacks), traced (system calls, waiting, faults), loaded (one server under any load tool)",
  "platform": "a machine, known by its fingerprint: processors, caches, memory, virtualisation",
  "topology": "how builds are deployed: standalone, io-threads, primary with replicas, cluster",
  "finding": "an explanation or an opportunity, with evidence, predicted gain and confidence",
  "seed": "of a request: the source of all its random choices, from which blocks get theirs; a random one for each request, unless one is given",
  "build": "the artifact: source + variant, named by the digest of what went in"
};

/** The metrics of a run's table. */
export const RUN_TABLE: readonly string[] = [
  "instructions_per_op",
  "cpu_ns_per_op",
  "ops_per_sec",
  "latency_p50_us",
  "latency_p99_us"
];
