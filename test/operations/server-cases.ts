import type { Case } from "./case.ts";

/** What is served, by whom, and who did what. */
export const SERVER_CASES: readonly Case[] = [
  { operation: "listAgents", name: "lists them", input: {} },
  {
    operation: "listAudit",
    name: "lists the lines of a month",
    input: { month: "2026-01" },
    argv: ["audit", "--month", "2026-01"],
    rows: "lines",
  },
  {
    operation: "listAudit",
    name: "refuses what is no month",
    input: { month: "January" },
    argv: ["audit", "--month", "January"],
    fails: "invalid_request",
  },
  { operation: "getStore", name: "counts conversations", input: {} },
  { operation: "checkSpace", name: "finds no damage", input: {} },
];
