/** What is told of troubles and of who answers, without a browser. */
import { describe, expect, test } from "vitest";
import { TROUBLES } from "#edges/cli/serve/simulated-agent";
import type { Entry } from "#log/entry";
import { agentFor, choiceFor } from "../../ui/src/pages/conversation/compose/agent-choice.ts";
import { goOnVerb } from "../../ui/src/pages/conversation/compose/go-on-verb.ts";
import { ribbonText } from "../../ui/src/pages/conversation/entry/ribbon-text.ts";
import { nodesOf } from "../../ui/src/pages/conversation/thread/branch-nodes.ts";
import { NO_TURN } from "#log/thread/live-turn";
import {
  NO_THREAD,
  type ThreadState,
  withFacts,
} from "../../ui/src/pages/conversation/thread/thread-state.ts";
import { ribbonsOf } from "../../ui/src/pages/conversation/thread/turn-facts.ts";
import { knownSeq, survivalSince } from "../../ui/src/pages/conversation/trouble/survival.ts";
import { troubleGroups, troubleOf } from "../../ui/src/pages/conversation/trouble/trouble-table.ts";

const entry = (seq: number, body: object): Entry =>
  ({
    v: 2,
    id: `e${seq}`,
    seq,
    parentId: null,
    time: "2026-01-01T00:00:00Z",
    payload: "",
    ...body,
  }) as unknown as Entry;

test("ribbons say in words why a session was left", () => {
  const facts = [
    entry(2, { type: "upstream_end", upstream: "A", reason: "expired" }),
    entry(3, { type: "upstream_link", upstream: "B", agent: "sim", reason: "expired" }),
    entry(5, { type: "turn_end", turn: "t", outcome: "failed", resetAt: "later" }),
    entry(6, { type: "turn_end", turn: "u", outcome: "failed", class: "auth" }),
  ];
  expect(ribbonsOf(facts).map(ribbonText)).toEqual([
    expect.stringContaining("expired"),
    expect.stringContaining("limit"),
    expect.stringContaining("login"),
  ]);
  const [link] = ribbonsOf([entry(3, { type: "upstream_link", upstream: "B", reason: "__proto__" })]);
  expect(link === undefined ? "" : ribbonText(link)).toContain("proto");
});

describe("what was survived", () => {
  const turn = "t";
  const asked = [
    entry(3, { type: "turn_start", turn, prompt: "p" }),
    entry(4, { type: "attempt", turn, upstream: "A", process: "1" }),
  ];
  const ended = entry(9, { type: "turn_end", turn, outcome: "completed" });
  const state = (facts: readonly Entry[]): ThreadState => withFacts(NO_THREAD, facts);
  test("is said by the same session being asked once more, or by another that took over", () => {
    const again = entry(5, { type: "attempt", turn, upstream: "A", process: "2" });
    expect(ribbonsOf([...asked, again])).toMatchObject([{ kind: "again", isRestarted: true }]);
    const busy = entry(5, { type: "attempt", turn, upstream: "A", process: "1" });
    expect(ribbonsOf([...asked, busy])).toMatchObject([{ kind: "again", isRestarted: false }]);
    // Another turn, another session, and the steps of a model are no repetition.
    const other = entry(5, { type: "attempt", turn: "u", upstream: "A" });
    const next = entry(5, { type: "attempt", turn, upstream: "B" });
    const steps = [1, 2].map((seq) => entry(seq, { type: "attempt", turn, model: "m" }));
    for (const facts of [[...asked, other], [...asked, next], steps]) expect(ribbonsOf(facts)).toEqual([]);
    expect(survivalSince(state([...asked, again, ended]), 2)).toMatchObject({
      turn: "ended",
      isAnswered: true,
      words: [expect.stringContaining("started it again")],
    });
  });
  test("is said of an id that changed by itself without another session that took over", () => {
    const rolled = entry(5, { type: "upstream_link", upstream: "B", reason: "rolled_by_upstream" });
    const { words } = survivalSince(state([...asked, rolled, ended]), 2);
    expect(words).toEqual([expect.stringContaining("switched to a new session")]);
  });
  test("is told of the first turn behind a seq, and that a later one answered", () => {
    expect(survivalSince(state([]), 0).turn).toBe("none");
    expect(survivalSince(state([ended]), 9).turn).toBe("none");
    expect(survivalSince(state(asked), 2)).toMatchObject({ turn: "running", isAnswered: false, words: [] });
    const parked = entry(5, { type: "turn_end", turn, outcome: "failed", class: "limit", resetAt: "later" });
    expect(survivalSince(state([...asked, parked]), 2)).toMatchObject({ turn: "ended", isAnswered: false });
    expect(survivalSince(state([...asked, parked, ended]), 2)).toMatchObject({
      isAnswered: true,
      words: [expect.stringContaining("Paused")],
    });
    expect(knownSeq(state([...asked, ended]))).toBe(9);
  });
  test("a prompt of which nothing came back is sent again, all else is continued", () => {
    const branch = (role: string): ThreadState["branch"] =>
      nodesOf({
        conversation: "c",
        leaf: "e1",
        length: 1,
        inherited: 0,
        from: 0,
        logs: [],
        headSeq: 1,
        hidden: [],
        cut: {},
        entries: [entry(1, { type: "message", message: { role, content: [] } })],
      });
    expect(goOnVerb({ ...NO_THREAD, branch: branch("user") })).toBe("retry");
    expect(goOnVerb({ ...NO_THREAD, branch: branch("assistant") })).toBe("continueTurn");
    const live = { ...NO_TURN, turn, words: "half a" };
    expect(goOnVerb({ ...NO_THREAD, branch: branch("user"), live })).toBe("continueTurn");
  });
});

test("every trouble of the simulator is told with what it does and what to watch for", () => {
  const told = troubleGroups([...TROUBLES, "kill_server", "new_one"]);
  const kinds = told.flatMap(({ troubles }) => troubles.map(({ kind }) => kind));
  expect(new Set(kinds)).toEqual(new Set([...TROUBLES, "kill_server", "new_one"]));
  for (const { name, troubles } of told)
    for (const { does, watch } of name === "Others" ? [] : troubles) expect([does, watch]).not.toContain("");
  expect(troubleOf({ kind: "crash", phase: "start" }).name).toBe("Crash");
  expect(troubleOf({ kind: "crash", phase: "in_tool" }).name).toBe("Crash in a tool");
  expect(troubleGroups(["limit"])).toHaveLength(1);
});

test("the next turn is for whoever carried the last, where the server has it", () => {
  const agents = ["claude", "simulated"].map((agent) => ({ agent, models: [], troubles: [] }));
  const by = (agent: string | null): { readonly agent: string | null; readonly model: null } => ({
    agent,
    model: null,
  });
  expect(choiceFor("c", agents, by(null))).toEqual({});
  expect(choiceFor("c", agents, by("simulated"))).toEqual({ agent: "simulated" });
  expect(choiceFor("c", agents, by("gone"))).toEqual({});
  expect(agentFor("c", agents, by("gone"))?.agent).toBe("claude");
  expect(agentFor("c", [], by("gone"))).toBeUndefined();
});
