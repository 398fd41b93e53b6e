import { expect, test } from "vitest";
import { shade } from "./HeatMap.tsx";

test("what is worse and what is better have different colours, in full from the limit on", () => {
  expect(shade(0.05, 0.1, "worse-better")).toBe("color-mix(in srgb, var(--heat-worse) 50%, transparent)");
  expect(shade(-0.3, 0.1, "worse-better")).toBe("color-mix(in srgb, var(--heat-better) 100%, transparent)");
  expect(shade(0.1, 0.1, "amount")).toContain("--heat-amount");
});

test("what is unknown or next to nothing has no colour", () => {
  expect(shade(null, 0.1, "worse-better")).toBeUndefined();
  expect(shade(0.0001, 0.1, "worse-better")).toBeUndefined();
});
