/** What the log knows of upstream ids, and when one is proven. */
import { describe, expect, test } from "vitest";
import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import { parkedUntil } from "#turn/rules/ending";
import { knownUpToAfter, proofOf, type LinkPosition } from "#upstream/rules/proof";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";

const id = (word: string): EntryId => word;

describe("links", () => {
  let seq = 0;
  const fact = (body: object): Entry =>
    ({ id: `e${++seq}`, seq, v: 1, parentId: null, time: "", payload: "", ...body }) as Entry;
  const link = (upstream: string, more: object = {}): Entry =>
    fact({ type: "upstream_link", upstream, agent: "claude", reason: "first", ...more });
  const turn = (name: string, ...facts: readonly Entry[]): readonly Entry[] => [
    fact({ type: "turn_start", turn: name, prompt: `${name}-prompt` }),
    ...facts,
  ];
  const attempt = (name: string, upstream: string): Entry => fact({ type: "attempt", turn: name, upstream });
  const end = (name: string, upstream: string, more: object = {}): Entry =>
    fact({
      type: "turn_end",
      turn: name,
      outcome: "completed",
      class: "completed",
      upstream,
      node: `${name}-reply`,
      ...more,
    });
  const only = (...facts: readonly Entry[]): LinkRecord | undefined => linkRecords(facts).at(-1);

  test("a link that was only made holds nothing", () => {
    expect(only(link("A"))).toMatchObject({
      lastNode: null,
      uncertain: false,
      answered: false,
      retired: null,
    });
  });

  test("a link that was prompted may hold the prompt, whatever became of it", () => {
    expect(only(link("A"), ...turn("t", attempt("t", "A")))).toMatchObject({
      lastNode: "t-prompt",
      uncertain: true,
      answered: false,
      since: "t-prompt",
    });
  });

  test("a completed turn makes it certain; an empty, failed or interrupted one does not", () => {
    const facts = [link("A"), ...turn("t", attempt("t", "A"))];
    expect(only(...facts, end("t", "A"))).toMatchObject({
      lastNode: "t-reply",
      uncertain: false,
      answered: true,
    });
    expect(only(...facts, end("t", "A", { class: "empty", node: "t-prompt" }))).toMatchObject({
      uncertain: true,
      answered: false,
    });
    expect(only(...facts, end("t", "A", { outcome: "failed" }))).toMatchObject({
      uncertain: true,
      answered: true,
    });
  });

  test("an id that comes back is one record, at the end, and knows where it began", () => {
    const facts = [
      link("A"),
      ...turn("t", attempt("t", "A"), end("t", "A")),
      link("B"),
      link("A", { reason: "switched_back" }),
    ];
    expect(linkRecords(facts).map((record) => record.upstream)).toEqual(["B", "A"]);
    expect(only(...facts)).toMatchObject({ since: "t-prompt", lastNode: "t-reply" });
  });

  test("an id the agent changed to in mid-turn holds the prompt; a blank one is none; an ended one is retired", () => {
    for (const reason of ["rolled_by_upstream", "renamed_by_upstream"])
      expect(only(...turn("t", link("B", { reason })))).toMatchObject({
        lastNode: "t-prompt",
        uncertain: true,
        cutOff: true,
      });
    expect(linkRecords([link("  ")])).toEqual([]);
    expect(only(link("A"), fact({ type: "upstream_end", upstream: "A", reason: "sign_out" }))).toMatchObject({
      retired: "sign_out",
    });
  });

  test("a forked session holds what it was forked from", () => {
    expect(only(link("A", { node: "n9", reason: "forked" }))).toMatchObject({
      lastNode: "n9",
      uncertain: false,
    });
  });

  test("an agent is parked by the last turn that concerned it, and by no other agent's", () => {
    const claude = { agent: "claude", account: null };
    const limited = end("t", "A", {
      outcome: "failed",
      class: "limit",
      parked: [{ agent: "claude", resetAt: "later" }],
    });
    const facts = [link("A"), ...turn("t", attempt("t", "A"), limited)];
    expect(parkedUntil(facts, linkRecords(facts), claude)).toBe("later");
    expect(parkedUntil(facts, linkRecords(facts), { agent: "codex", account: null })).toBeNull();
    expect(parkedUntil(facts, linkRecords(facts), { agent: "claude", account: "home" })).toBeNull();
    const settled = [
      ...facts,
      fact({ type: "turn_end", turn: "u", outcome: "interrupted", class: "crashed" }),
    ];
    expect(parkedUntil(settled, linkRecords(settled), claude)).toBe("later");
    const answered = [...settled, ...turn("v", attempt("v", "A"), end("v", "A"))];
    expect(parkedUntil(answered, linkRecords(answered), claude)).toBeNull();
  });

  test("what a link holds is what it answered, was made from, or is said to hold; not what it made a summary of", () => {
    const facts = [link("A"), ...turn("t", attempt("t", "A"))];
    const cancelled = { outcome: "interrupted", class: "cancelled" };
    const limited = { outcome: "failed", class: "limit", node: "u-prompt" };
    const once = [...facts, end("t", "A"), ...turn("u", attempt("u", "A"))];
    const held = (...more: readonly Entry[]): unknown => only(...more)?.knownUpTo;
    expect(held(...facts)).toBeNull();
    expect(held(...facts, end("t", "A"))).toBe("t-reply");
    expect(held(link("A", { node: "n9", reason: "forked" }))).toBe("n9");
    expect(held(...once)).toBe("t-reply");
    expect(held(...once, end("u", "A", { outcome: "interrupted", class: "crashed" }))).toBe("t-reply");
    expect(held(...once, end("u", "A", limited))).toBe("t-reply");
    expect(held(...once, end("u", "A", { ...limited, held: "u-prompt" }))).toBe("u-prompt");
    expect(held(...once, end("u", "A", cancelled))).toBe("u-reply");
    expect(held(...once, end("u", "A", { ...cancelled, node: "u-prompt" }))).toBe("t-reply");
    expect(held(...once, end("u", "A", { held: null }))).toBeNull();
    expect(only(...once, end("u", "A", cancelled))).toMatchObject({ uncertain: false, cutOff: true });
  });

  test.each([
    ["limit", { keepsPrompt: true }, "prompt"],
    ["empty", { keepsPrompt: true }, "prompt"],
    ["limit", {}, "before"],
    ["auth", { keepsPrompt: true }, "before"],
    ["crashed", { keepsPrompt: true, begun: true }, "before"],
    ["cancelled", { keepsPrompt: true }, "before"],
    ["cancelled", { begun: true }, "prompt"],
  ] as const)("after %s with %j a session holds the %s", (ending, more, expected) => {
    const at = { knownUpTo: id("before"), prompt: id("prompt"), begun: false, keepsPrompt: false, ...more };
    expect(knownUpToAfter(ending, at)).toBe(expected);
  });

  const record = { lastNode: "spoken", uncertain: false } as unknown as LinkRecord;
  const position: LinkPosition = {
    lastModelNode: id("spoken"),
    prompt: id("prompt"),
    onBranch: true,
    hiddenSince: false,
    knownUpTo: null,
  };

  test.each([
    [{}, {}, "unproven"],
    [{}, { knownUpTo: id("spoken") }, "proven"],
    [{}, { knownUpTo: id("prompt") }, "proven"],
    [{}, { knownUpTo: id("older") }, "unproven"],
    [{ lastNode: null }, { knownUpTo: id("spoken") }, "unproven"],
    [{}, { knownUpTo: id("spoken"), onBranch: false }, "tainted"],
    [{}, { knownUpTo: id("spoken"), hiddenSince: true }, "tainted"],
  ] as const)("proof: %j standing %j is %s", (change, where, expected) => {
    expect(proofOf({ ...record, ...change }, { ...position, ...where })).toBe(expected);
  });
});
