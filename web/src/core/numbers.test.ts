import { expect, test } from "vitest";
import { metricLabel, metricUnit, withArrows } from "./numbers.ts";

test("microseconds and arrows are written with their signs", () => {
  expect(metricLabel("latency_p99_us")).toBe("latency p99 in µs");
  expect(metricUnit("latency_p99_us")).toBe("µs");
  expect(metricUnit("of_a_plugin")).toBe("");
  expect(withArrows("calls `f` (0 -> 1 per request)")).toBe("calls `f` (0 → 1 per request)");
});
