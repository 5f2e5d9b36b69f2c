/** What is told of troubles and of who answers, without a browser. */
import { describe, expect, test } from "vitest";
import { TROUBLES } from "#edges/cli/serve/simulated-agent";
import type { Entry } from "#log/entry";
import { agentFor, choiceFor } from "../../ui/src/pages/conversation/compose/agent-choice.ts";
import { goOnVerb } from "../../ui/src/pages/conversation/compose/go-on-verb.ts";
import { NO_TURN } from "#log/projections/live-turn";
import { NO_THREAD, type ThreadState } from "../../ui/src/pages/conversation/thread/thread-state.ts";
import { survivalSince } from "../../ui/src/pages/conversation/trouble/survival.ts";
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

/** Rows of some entries, each with what happened before it, and the last turn. */
const state = (
  rows: readonly { readonly seq: number; readonly role?: string; readonly changes?: readonly object[] }[],
  turn: object | null = null,
): ThreadState =>
  ({
    ...NO_THREAD,
    page: { length: rows.length, changes: [], header: { summary: { turn } } },
    rows: new Map(
      rows.map(({ seq, role = "user", changes = [] }, place) => [
        place,
        { entry: entry(seq, { type: "message", message: { role, content: [] } }), changes },
      ]),
    ),
  }) as unknown as ThreadState;

describe("what was survived", () => {
  const time = "2026-01-01T00:00:00Z";
  const again = { kind: "again", seq: 5, time, isRestarted: true };
  const rolled = { kind: "session", seq: 5, time, reason: "rolled_by_upstream", link: 1 };
  const ended = { state: "ended", outcome: "completed" };
  test("is said by the same session being asked once more, or by one that changed its id", () => {
    for (const [change, text] of [
      [again, "started it again"],
      [rolled, "switched to a new session"],
    ] as const)
      expect(survivalSince(state([{ seq: 3 }, { seq: 9, changes: [change] }], ended), 2)).toMatchObject({
        turn: "ended",
        isAnswered: true,
        words: [expect.stringContaining(text)],
      });
  });
  test("is told of what came behind a seq, and that it was answered", () => {
    expect(survivalSince(NO_THREAD, 0).turn).toBe("none");
    expect(survivalSince(state([{ seq: 9 }], ended), 9).turn).toBe("none");
    expect(survivalSince(state([{ seq: 3 }], { state: "open" }), 2)).toMatchObject({
      turn: "running",
      isAnswered: false,
      words: [],
    });
    const parked = { kind: "parked", seq: 5, time, until: "later" };
    const failed = { state: "ended", outcome: "failed" };
    const rows = [{ seq: 3 }, { seq: 9, changes: [parked] }];
    expect(survivalSince(state(rows, failed), 2)).toMatchObject({ turn: "ended", isAnswered: false });
    expect(survivalSince(state(rows, ended), 2)).toMatchObject({
      isAnswered: true,
      words: [expect.stringContaining("Paused")],
    });
  });
  test("a prompt of which nothing came back is sent again, all else is continued", () => {
    expect(goOnVerb(state([{ seq: 1 }]))).toBe("retry");
    expect(goOnVerb(state([{ seq: 1, role: "assistant" }]))).toBe("continueTurn");
    const live = { ...NO_TURN, turn: "t", words: "half a" };
    expect(goOnVerb({ ...state([{ seq: 1 }]), live })).toBe("continueTurn");
  });
});

test("every trouble of the simulator is told with what it does and what to watch for", () => {
  const told = troubleGroups([...TROUBLES, "kill_server", "new_one"]);
  const kinds = told.flatMap(({ troubles }) => troubles.map(({ kind }) => kind));
  expect(new Set(kinds)).toEqual(new Set([...TROUBLES, "kill_server", "new_one"]));
  for (const { name, troubles } of told)
    for (const { does, watch } of name === "Other" ? [] : troubles) expect([does, watch]).not.toContain("");
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
