import type { Case } from "./case.ts";

const INVALID = "invalid_request";

/** Searches, comparisons and runs. */
export const RUN_CASES: readonly Case[] = [
  {
    operation: "search",
    name: "finds every word",
    input: { q: "order 17", conversation: "a" },
    argv: ["search", "order", "17", "--in", "a"],
    rows: "hits",
  },
  {
    operation: "search",
    name: "refuses a query without words",
    input: { q: " " },
    argv: ["search", " "],
    fails: INVALID,
  },
  {
    operation: "search",
    name: "refuses more hits than a page has",
    input: { q: "order", limit: 501 },
    argv: ["search", "order", "-n", "501"],
    fails: INVALID,
  },
  {
    operation: "diff",
    name: "shows where branches part",
    input: { a: "a", b: "job@mail" },
    argv: ["diff", "a", "job@mail"],
  },
  {
    operation: "diff",
    name: "shows the totals alone",
    input: { a: "a", b: "job", stat: true, toolsOnly: true },
    argv: ["diff", "a", "job", "--stat", "--tools-only"],
  },
  {
    operation: "diff",
    name: "refuses both less and more",
    input: { a: "a", b: "job", stat: true, all: true },
    argv: ["diff", "a", "job", "--stat", "--all"],
    fails: INVALID,
  },
  {
    operation: "diff",
    name: "finds no such conversation",
    input: { a: "a", b: "none" },
    argv: ["diff", "a", "none"],
    fails: "conversation_not_found",
  },
  {
    operation: "diff",
    name: "refuses what is no address",
    input: { a: "a", b: "../b" },
    argv: ["diff", "a", "../b"],
    fails: INVALID,
  },
  {
    operation: "listRuns",
    name: "lists those of a mailbox",
    input: { mailbox: "billing" },
    argv: ["runs", "--mailbox", "billing"],
    rows: "runs",
  },
  {
    operation: "listRuns",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["runs", "none"],
    fails: "conversation_not_found",
  },
  {
    operation: "listRuns",
    name: "refuses a long time",
    input: { since: "2".repeat(41) },
    argv: ["runs", "--since", "2".repeat(41)],
    fails: INVALID,
  },
  { operation: "getRun", name: "shows one", input: { run: "r1" } },
  { operation: "getRun", name: "finds no such run", input: { run: "none" }, fails: "run_not_found" },
  {
    operation: "forkRun",
    name: "begins another run from a message",
    input: { run: "r1", conversation: "job", at: "mail", id: "again", model: "sim/other" },
    argv: ["fork", "r1@mail", "--id", "again", "--model", "sim/other"],
  },
  {
    operation: "forkRun",
    name: "refuses an entry that is not of the run",
    input: { run: "r1", conversation: "job", at: "none" },
    argv: ["fork", "r1@none"],
    fails: "entry_not_found",
  },
  { operation: "hydrate", name: "shows a run", input: { run: "r1" }, argv: ["hydrate", "r1"] },
  {
    operation: "hydrate",
    name: "finds no such run",
    input: { run: "none", conversation: "job" },
    argv: ["hydrate", "none", "--conversation", "job"],
    fails: "run_not_found",
  },
];
