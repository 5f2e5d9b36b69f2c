import type { Case } from "./case.ts";

const MISSING = "conversation_not_found";
const INVALID = "invalid_request";

/** Acts that run turns. */
export const TURN_CASES: readonly Case[] = [
  {
    operation: "send",
    name: "runs a turn",
    input: { conversation: "a", content: "And order 18?" },
    key: "k",
  },
  {
    operation: "send",
    name: "takes blocks",
    input: { conversation: "a", content: [{ type: "text", text: "And order 18?" }], agent: "scripted" },
  },
  {
    operation: "send",
    name: "sends after the writer died",
    input: { conversation: "a", content: "And order 18?" },
    lease: "dead",
  },
  {
    operation: "send",
    name: "finds no such conversation",
    input: { conversation: "none", content: "Hi" },
    fails: MISSING,
  },
  {
    operation: "send",
    name: "refuses an empty prompt",
    input: { conversation: "a", content: "" },
    fails: INVALID,
  },
  {
    operation: "send",
    name: "refuses what is no prompt",
    input: { conversation: "a", content: 7 },
    fails: INVALID,
  },
  {
    operation: "send",
    name: "knows no such agent",
    input: { conversation: "a", content: "Hi", agent: "other" },
    fails: INVALID,
  },
  {
    operation: "send",
    name: "refuses a model that is not served",
    input: { conversation: "a", content: "Hi", model: "other" },
    fails: INVALID,
  },
  {
    operation: "edit",
    name: "sends another prompt in its place",
    input: { conversation: "a", entry: "ask", content: "Where is order 18?" },
    key: "k",
  },
  {
    operation: "edit",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none", content: "Hi" },
    fails: "entry_not_found",
  },
  { operation: "continueTurn", name: "finishes a turn", input: { conversation: "open" }, key: "k" },
  {
    operation: "continueTurn",
    name: "has nothing to finish",
    input: { conversation: "a" },
    fails: INVALID,
  },
  { operation: "retry", name: "sends a prompt again", input: { conversation: "failed" }, key: "k" },
  { operation: "retry", name: "has nothing to send", input: { conversation: "a" }, fails: INVALID },
  {
    operation: "answerRequest",
    name: "denies a call and continues",
    input: { conversation: "asks", request: "r1", outcome: "denied" },
  },
  {
    operation: "answerRequest",
    name: "finds no such request",
    input: { conversation: "asks", request: "none", outcome: "allowed" },
    fails: "entry_not_found",
  },
  {
    operation: "answerRequest",
    name: "knows no such outcome",
    input: { conversation: "asks", request: "r1", outcome: "perhaps" },
    fails: INVALID,
  },
  {
    operation: "steer",
    name: "waits for the next prompt",
    input: { conversation: "a", content: "Be brief.", when: "turn" },
    key: "k",
  },
  {
    operation: "steer",
    name: "finds no such conversation",
    input: { conversation: "none", content: "Be brief." },
    fails: MISSING,
  },
  { operation: "cancel", name: "has no turn to stop", input: { conversation: "a" }, key: "k" },
  {
    operation: "cancel",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
];
