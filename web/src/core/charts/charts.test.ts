import { expect, test } from "vitest";
import { count } from "../numbers.ts";
import type { LatencyPoint } from "../sides.ts";
import { linear, logarithmic } from "./axes.ts";
import { latencySummary, quantile, shareAxis } from "./LatencyChart.tsx";
import { median, rateLabel, throughputSummary } from "./ThroughputChart.tsx";

const POINTS: LatencyPoint[] = [
  [0, 40],
  [0.5, 100],
  [0.99, 200],
  [0.999, 900],
  [1, 5000],
];

test("each nine takes as much room; the maximum is at the end", () => {
  const { place, ticks } = shareAxis({ base: POINTS });
  expect(place(0.99) - place(0.9)).toBeCloseTo(place(0.999) - place(0.99));
  expect(place(0)).toBeCloseTo(0);
  expect(place(1)).toBe(1);
  expect(ticks.map(({ label }) => label)).toEqual(["50 %", "90 %", "99 %", "99.9 %", "max"]);
});

test("axes mark round numbers within their bounds", () => {
  const time = logarithmic([40, 0, 5000], count);
  expect(time.ticks.map(({ label }) => label)).toEqual([
    "50",
    "100",
    "200",
    "500",
    "1,000",
    "2,000",
    "5,000",
  ]);
  expect(time.place(0)).toBe(0);
  const rate = linear([135_000, 155_000], rateLabel);
  expect(rate.ticks.map(({ label }) => label)).toEqual(["135 k", "140 k", "145 k", "150 k", "155 k"]);
  expect(linear([5, 5], count).ticks.length).toBeGreaterThan(1);
  expect(linear([0, 0], count).place(0)).toBeGreaterThanOrEqual(0);
});

test("charts are summed up in words", () => {
  expect(quantile(POINTS, 0.95)).toBe(200);
  expect(quantile([], 0.5)).toBeNull();
  expect(latencySummary({ head: POINTS })).toBe(
    "Latency in microseconds: 50 % 100; 99 % 200; 99.9 % 900; max 5,000",
  );
  expect(latencySummary({ base: POINTS, head: POINTS })).toContain("50 % base 100, head 100; ");
  expect(median([])).toBeNull();
  expect(
    throughputSummary({
      base: [
        [0, 10],
        [1, 30],
        [2, 20],
      ],
    }),
  ).toBe("Requests per second: median 20, 10 to 30");
});
