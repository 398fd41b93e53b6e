import { expect, test } from "vitest";
import { acceptCommand } from "./links.ts";

const COMMIT = { commit: "622dacee0f29".padEnd(40, "a"), name: "v1.0", time: "", subject: "", author: "" };

test("the command that accepts a change names its commit and case", () => {
  expect(acceptCommand({ commit: COMMIT, case: "get-100B" })).toBe(
    "zerolap history ack 622dacee0f29:get-100B --reason '…'",
  );
  expect(acceptCommand({ commit: null, case: "get-100B" })).toBeNull();
});

test("a name is one word of a shell whatever it holds", () => {
  expect(acceptCommand({ commit: COMMIT, case: "a'; rm -r $HOME" })).toBe(
    "zerolap history ack '622dacee0f29:a'\\''; rm -r $HOME' --reason '…'",
  );
});
