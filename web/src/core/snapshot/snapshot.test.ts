import { expect, test } from "vitest";
import type { EmulatedSnapshotReport, MedianEstimate, SnapshotPoint, SnapshotReport } from "../records.ts";
import {
  countedValues,
  drawnNames,
  drawnTogether,
  GIB,
  longestOf,
  medianValues,
  repetitionValues,
  sizeText,
} from "./snapshot.ts";

function estimate(value: number): MedianEstimate {
  return { median: value, low: value / 2, high: value * 2 };
}

function point(gib: number, load: SnapshotPoint["load"], forks: number[], side = ""): SnapshotPoint {
  return {
    side,
    size_bytes: gib * GIB,
    data_bytes: null,
    keys: 1,
    load,
    metrics: {
      resident_bytes: estimate(gib * GIB),
      fork_us: estimate(forks[0] ?? 0),
      throughput_lost: estimate(0.1),
    },
    repetitions: forks.map((fork_us) => ({
      began: "",
      metrics: { fork_us, resident_bytes: gib * GIB },
      checks: [],
      warnings: [],
      series: [],
    })),
  };
}

const POINTS = [
  point(1, "open", [25_000, 26_000]),
  point(1, "closed", [24_000]),
  point(4, "open", [100_000]),
];
const REPORT = { points: POINTS } as unknown as SnapshotReport;

test("repetitions of the wanted loads are drawn over the memory", () => {
  expect(repetitionValues(REPORT, "fork_us", ["open"])).toEqual([
    [1, 25],
    [1, 26],
    [4, 100],
  ]);
  expect(repetitionValues(REPORT, "fork_us", ["open", "closed"])).toHaveLength(4);
  expect(repetitionValues(REPORT, "cow_bytes", ["open"])).toEqual([]);
  expect(medianValues(REPORT, "fork_us", "open")).toEqual([
    [1, 25],
    [4, 100],
  ]);
});

test("each side is drawn beside the base, the only one alone", () => {
  expect(drawnTogether([])).toEqual([[{ side: "head", name: "" }]]);
  expect(drawnNames(drawnTogether([])[0] ?? [])).toBe("");
  const [servers] = drawnTogether([{ name: "base" }, { name: "head" }]);
  expect(drawnNames(servers ?? [])).toBe("");
  const varied = drawnTogether([
    { name: "io-threads=1" },
    { name: "io-threads=2" },
    { name: "io-threads=4" },
  ]);
  expect(varied.map(drawnNames)).toEqual([
    ", io-threads=1 and io-threads=2",
    ", io-threads=1 and io-threads=4",
  ]);
});

test("values are those of one side", () => {
  const points = [point(1, "open", [25_000], "base"), point(1, "open", [20_000], "head")];
  const report = { points } as unknown as SnapshotReport;
  expect(repetitionValues(report, "fork_us", ["open"], "head")).toEqual([[1, 20]]);
  expect(medianValues(report, "fork_us", "open", "base")).toEqual([[1, 25]]);
});

test("slots without replies have no latency", () => {
  const slot = { replies: 0, p50_us: null, p99_us: null };
  const series = [
    { ...slot, at_seconds: -0.01, max_us: 200 },
    { ...slot, at_seconds: 0, max_us: null },
    { ...slot, at_seconds: 0.01, max_us: 25_000 },
  ];
  expect(longestOf(series)).toEqual([
    [-0.01, 0.2],
    [0.01, 25],
  ]);
});

test("sizes are written with their unit", () => {
  expect(sizeText(GIB / 2)).toBe("512\u00a0MiB");
  expect(sizeText(1.5 * GIB)).toBe("1.5\u00a0GiB");
});

test("counts are those of the first run of a side, in millions", () => {
  const points = [
    { side: "fork=copy", size_bytes: GIB, runs: [{ ticks: 25_000_000 }, { ticks: 26_000_000 }] },
    { side: "fork=copy", size_bytes: 2 * GIB, runs: [{}] },
    { side: "fork=async", size_bytes: GIB, runs: [{ ticks: 500_000 }] },
  ];
  const report = { points } as unknown as EmulatedSnapshotReport;
  expect(countedValues(report, "ticks", "fork=copy")).toEqual([[1, 25]]);
});
