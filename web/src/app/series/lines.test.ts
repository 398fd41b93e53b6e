import { expect, test } from "vitest";
import type { ChartLine, PublishedHistory, SeriesChart } from "../../core/records.ts";
import { drawn, lineOf } from "./lines.ts";

const HISTORY: PublishedHistory = {
  number: 1,
  repository: "/srv/redis",
  range: "main",
  variant: "default",
  config: {},
  platform: "1111",
  platform_name: "x86",
  created: "2026-11-20T21:00:00Z",
};

function line(changed: Partial<ChartLine> = {}): ChartLine {
  return {
    history: 1,
    case: "get",
    group: "string",
    metric: "instructions_per_op",
    engine: "counted",
    topology: "standalone",
    source: "",
    labels: {},
    better: "less",
    point_count: 2,
    base_index: 0,
    commits: [0, 1],
    changes: [0, 0.5],
    lows: [0, 0.4],
    highs: [0, 0.6],
    least: [],
    most: [],
    counts: [],
    values: [100, 150],
    ...changed,
  };
}

/** A chart of commits whose times are in another order than their indices. */
function chart(lines: ChartLine[]): SeriesChart {
  const commit = (index: number, day: number) => ({
    index,
    commit: `${index}`.padStart(40, "0"),
    name: `v${index}`,
    time: `2026-01-0${day}T00:00:00Z`,
    subject: "",
    author: "",
    is_release: true,
  });
  return {
    histories: [HISTORY],
    commits: [commit(0, 2), commit(4, 1), commit(7, 3)],
    total: 8,
    lines,
    legend: { key: "", heading: "", columns: [], rows: [], left_out: 0, remark: "" },
    change_points: [],
    platform_steps: [],
    left_out: 0,
  };
}

test("lines lie at the places of their commits, with gaps where they have no point", () => {
  const data = drawn(
    chart([line(), line({ commits: [2], changes: [-0.1], lows: [-0.1], highs: [-0.1] })]),
    "commits",
  );
  expect(data.horizontal).toEqual([0, 4, 7]);
  expect(data.lines.map(({ changes }) => changes)).toEqual([
    [0, 50, null],
    [null, null, -10],
  ]);
  expect(data.lines[0]?.points).toEqual([0, 1, null]);
});

test("by date commits are in the order of their times", () => {
  const data = drawn(chart([line()]), "dates");
  expect(data.commits.map(({ name }) => name)).toEqual(["v4", "v0", "v7"]);
  expect(data.lines[0]?.changes).toEqual([50, 0, null]);
});

test("points that stand for several have their extremes", () => {
  const [first] = drawn(
    chart([line({ counts: [3, 2], least: [-0.1, 0.3], most: [0.1, 0.7] })]),
    "commits",
  ).lines;
  expect(first?.isAggregated).toBe(true);
  expect(first?.least).toEqual([-10, 30, null]);
});

test("a change belongs to the line of its history, case and metric", () => {
  const lines = [line(), line({ case: "set" })];
  const change = {
    history: 1,
    case: "set",
    metric: "instructions_per_op",
    topology: "standalone",
    source: "",
  };
  expect(lineOf(lines, change)).toBe(1);
  expect(lineOf(lines, { ...change, history: 2 })).toBe(-1);
});
