import type { Case } from "./case.ts";

const MISSING = "conversation_not_found";
const INVALID = "invalid_request";

/** Reads of what happened, and of what it cost. */
export const RECORD_CASES: readonly Case[] = [
  { operation: "getTree", name: "lists nodes", input: { conversation: "a", limit: 2 } },
  {
    operation: "getTree",
    name: "refuses what is no cursor",
    input: { conversation: "a", cursor: "x" },
    fails: INVALID,
  },
  { operation: "getChain", name: "lists sessions", input: { conversation: "a" }, argv: ["chain", "a"] },
  { operation: "getChain", name: "lists details", input: { conversation: "a", details: true } },
  {
    operation: "getChain",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["chain", "none"],
    fails: MISSING,
  },
  { operation: "listStamps", name: "knows one message", input: { conversation: "a", entry: "ask" } },
  {
    operation: "listStamps",
    name: "knows some messages",
    input: { conversation: "a", entries: ["reply", "none"] },
  },
  {
    operation: "listStamps",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none" },
    fails: "entry_not_found",
  },
  {
    operation: "listEffects",
    name: "lists calls",
    input: { conversation: "a", limit: 5 },
    argv: ["effects", "a", "--limit", "5"],
  },
  {
    operation: "listEffects",
    name: "refuses no limit",
    input: { conversation: "a", limit: 0 },
    argv: ["effects", "a", "--limit", "0"],
    fails: INVALID,
  },
  {
    operation: "listEffects",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["effects", "none"],
    fails: MISSING,
  },
  {
    operation: "getUsage",
    name: "adds up days",
    input: { conversation: "a", by: "day" },
    argv: ["usage", "a", "--by", "day"],
  },
  {
    operation: "getUsage",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["usage", "none"],
    fails: MISSING,
  },
  { operation: "getSpaceUsage", name: "adds up models", input: {}, argv: ["usage"] },
  {
    operation: "getSpaceUsage",
    name: "knows no weeks",
    input: { by: "week" },
    argv: ["usage", "--by", "week"],
    fails: INVALID,
  },
  { operation: "listIssues", name: "lists what to look at", input: { conversation: "failed" } },
  {
    operation: "listIssues",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
  { operation: "listWaiting", name: "lists what waits", input: { conversation: "open" } },
  {
    operation: "listWaiting",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
  { operation: "listRecords", name: "lists the log", input: { conversation: "a", limit: 2 } },
  {
    operation: "listRecords",
    name: "refuses both ends",
    input: { conversation: "a", after: 1, before: 3 },
    fails: INVALID,
  },
  { operation: "getRecord", name: "shows one", input: { conversation: "a", entry: "ask" } },
  { operation: "getRecord", name: "refuses no place", input: { conversation: "a" }, fails: INVALID },
  {
    operation: "getRecord",
    name: "finds no such seq",
    input: { conversation: "a", seq: 99 },
    fails: "entry_not_found",
  },
  { operation: "getContextSizes", name: "estimates", input: { conversation: "a", at: "ask" } },
  {
    operation: "getContextSizes",
    name: "finds no such entry",
    input: { conversation: "a", at: "none" },
    fails: "entry_not_found",
  },
  { operation: "getDailyUsage", name: "adds up days", input: { since: "2026-01-01" } },
  { operation: "getDailyUsage", name: "refuses what is no day", input: { since: "today" }, fails: INVALID },
  { operation: "getTurnUsage", name: "adds up turns", input: { conversation: "failed", limit: 2 } },
  {
    operation: "getTurnUsage",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
  { operation: "countIssues", name: "counts", input: { conversation: ["failed", "none"] } },
  { operation: "countIssues", name: "refuses what is no id", input: { conversation: ["-"] }, fails: INVALID },
];
