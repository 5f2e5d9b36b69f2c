import type { Case } from "./case.ts";

const INVALID = "invalid_request";
const MISSING = "conversation_not_found";
const FAR = "2100-01-01T00:00:00.000Z";
const session = { agent: "claude", session: "s1" };

/** Skills, the sessions of agents, and acts that only callers on this machine have. */
export const SPACE_CASES: readonly Case[] = [
  { operation: "listSkills", name: "lists those there are", input: { conversation: "a" } },
  {
    operation: "listSkills",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
  { operation: "activateSkill", name: "activates one", input: { conversation: "a", skill: "tidy" } },
  {
    operation: "activateSkill",
    name: "activates one after the writer died",
    input: { conversation: "a", skill: "tidy" },
    lease: "dead",
  },
  {
    operation: "activateSkill",
    name: "knows no such skill",
    input: { conversation: "a", skill: "other" },
    fails: INVALID,
  },
  {
    operation: "deactivateSkill",
    name: "changes nothing where it is not active",
    input: { conversation: "a", skill: "tidy" },
  },
  {
    operation: "deactivateSkill",
    name: "refuses what is no name",
    input: { conversation: "a", skill: "Tidy!" },
    fails: INVALID,
  },
  { operation: "listServedSkills", name: "lists them", input: {}, argv: ["skills"] },
  {
    operation: "getSkill",
    name: "shows one",
    input: { skill: "tidy" },
    argv: ["skills", "show", "tidy"],
  },
  {
    operation: "getSkill",
    name: "finds no such skill",
    input: { skill: "other" },
    argv: ["skills", "show", "other"],
    fails: "entry_not_found",
  },
  {
    operation: "getSkill",
    name: "refuses what is no name",
    input: { skill: "Tidy!" },
    argv: ["skills", "show", "Tidy!"],
    fails: INVALID,
  },
  { operation: "listSkillUses", name: "finds none", input: { limit: 10 } },
  { operation: "listSkillUses", name: "refuses no limit", input: { limit: 0 }, fails: INVALID },
  {
    operation: "listAgentSessions",
    name: "lists none of a space that agents know nothing of",
    input: {},
    argv: ["ls", "--agents"],
    rows: "sessions",
  },
  {
    operation: "adoptAgentSession",
    name: "finds the one that was adopted",
    input: session,
    conversation: "claude:s1",
  },
  { operation: "adoptAgentSession", name: "finds no such session", input: session, fails: MISSING },
  {
    operation: "eraseConversation",
    name: "erases one",
    input: { conversation: "a" },
    argv: ["erase", "a", "--yes"],
  },
  {
    operation: "eraseConversation",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["erase", "none", "--yes"],
    fails: MISSING,
  },
  {
    operation: "eraseConversation",
    name: "refuses what is no id",
    input: { conversation: "../a" },
    argv: ["erase", "../a", "--yes"],
    fails: INVALID,
  },
  {
    operation: "eraseConversation",
    name: "erases none that has changed",
    input: { conversation: "a", unchangedSince: "2020-01-01T00:00:00.000Z" },
    fails: "head_moved",
  },
  {
    operation: "listPrunable",
    name: "lists those that nobody has changed",
    input: { before: FAR },
    argv: ["prune", "--older-than", FAR, "--dry-run"],
    rows: "conversations",
  },
  { operation: "listPrunable", name: "refuses what is no time", input: { before: "soon" }, fails: INVALID },
  {
    operation: "signOut",
    name: "ends the sessions of an account",
    input: { account: "work" },
    argv: ["sign-out", "--account", "work"],
  },
  {
    operation: "signOut",
    name: "refuses two answers",
    input: { agent: "claude", all: true },
    argv: ["sign-out", "--agent", "claude", "--all"],
    fails: INVALID,
  },
];
