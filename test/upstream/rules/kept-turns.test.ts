/** Which sessions an agent may fork by itself: a fork is made of its record, not of what a living process holds. */
import { expect, test } from "vitest";
import { parseEntryId } from "#log/ids";
import { turnsToKeep } from "#upstream/sessions/fork-session";
import type { LinkRecord } from "#log/projections/link-records";

const node = parseEntryId("last");
const link: LinkRecord = {
  upstream: "s1",
  agent: "claude",
  account: null,
  names: ["s1"],
  since: node,
  continues: false,
  lastNode: node,
  knownUpTo: node,
  uncertain: false,
  cutOff: false,
  answered: true,
  failures: 0,
  retired: null,
  firstSeq: 1,
};

test.each([
  ["a session whose last turn was completed is forked", link, { keep: undefined }],
  ["a session whose last turn was stopped is told again", { ...link, cutOff: true }, null],
  ["a session of which nothing is certain is told again", { ...link, uncertain: true }, null],
])("%s", (_, record, kept) => {
  expect(turnsToKeep([], record, { fork: "head", node })).toEqual(kept);
});
