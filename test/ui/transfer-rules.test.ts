/** The rules of importing, exporting and the history's filters that need no browser. */
import { describe, expect, test } from "vitest";
import { ApiError } from "#edges/http/client/index";
import {
  areFilters,
  filtersIn,
  listQuery,
  meantSessions,
} from "../../ui/src/pages/history/filters/history-filters.ts";
import { seenWith } from "../../ui/src/pages/history/filters/seen-values.ts";
import { agentRows, type Listed, rowKey, statusOf } from "../../ui/src/pages/history/history-rows.ts";
import {
  bundleAddress,
  choiceIn,
  fileName,
  transcriptQuery,
} from "../../ui/src/pages/transfer/export/export-choice.ts";
import {
  failureWords,
  formatWords,
  type ImportAnswer,
  planOf,
  remarksOf,
  stateWords,
} from "../../ui/src/pages/transfer/import/import-words.ts";

const failed = (code: string, details: object = {}, message: string = "the file is odd"): ApiError =>
  new ApiError(400, { error: { code, message, details, safe: "Nothing was changed.", next: "" } } as never);
const answer = (...states: readonly string[]): ImportAnswer =>
  ({
    format: "holdfast-jsonl",
    missing: [],
    missingSeeds: [],
    linked: true,
    leftOut: 0,
    conversations: states.map((state) => ({ state, version: 2 })),
  }) as unknown as ImportAnswer;

describe("a file that cannot be imported", () => {
  test.each(["claude", "codex", "compressed", "sqlite", "jsonl-store", "bodies", "binary", "empty"])(
    "is called what it is: %s",
    (kind) => {
      const { what, next, isSalvageable } = failureWords(failed("invalid_request", { kind }));
      expect([what, next].join(" ")).not.toMatch(/--[a-z]|neither/);
      expect([what === "", next === "", isSalvageable]).toEqual([false, false, false]);
    },
  );
  test("tells its lines where it is damaged, and that what can be reached may come", () => {
    const words = failureWords(failed("damaged", { problems: ["line 3, byte 7: torn"] }));
    expect(words).toMatchObject({ problems: ["line 3, byte 7: torn"], isSalvageable: true });
    expect(failureWords(failed("damaged")).isSalvageable).toBe(false);
  });
  test("is one sentence, whatever the server says", () => {
    expect(failureWords(failed("conversation_exists", {}, "another one\nexists")).what).toBe("Another one.");
    expect(failureWords(new TypeError("gone")).what).not.toBe("");
  });
});

describe("what would become of a file", () => {
  test("follows from all of its conversations", () => {
    expect(planOf(answer("new", "same"))).toBe("import");
    expect(planOf(answer("same", "same"))).toBe("nothing");
    expect(planOf(answer("new", "conflict"))).toBe("refused");
  });
  test("is said for each, and differently once it is done or done beside", () => {
    const [one] = answer("conflict").conversations;
    if (one === undefined) throw new Error("it has one");
    const names = [
      { asNew: false, isDone: false },
      { asNew: true, isDone: false },
    ].map((how) => stateWords(one, how).name);
    expect(names).toEqual(["conflict", "new"]);
    expect(formatWords(answer("new"))).toBe("Bundle, version 2");
    expect(remarksOf({ ...answer("new"), linked: false, leftOut: 2 })).toHaveLength(2);
  });
});

describe("an export", () => {
  const choice = choiceIn(new URLSearchParams("conversation=a&without=tools,words&format=odd"));
  test("is a redacted web page of the active branch unless the address says otherwise", () => {
    expect(choice).toMatchObject({
      format: "html",
      redact: true,
      emails: false,
      at: null,
      leaveOut: ["tools"],
    });
    expect(transcriptQuery(choice, ["k"])).toMatchObject({ conversation: "a", redact: true, keep: ["k"] });
    expect(transcriptQuery({ ...choice, format: "bundle" }, [])).toBeNull();
  });
  test("of a bundle keeps nothing and takes no address where it is not redacted", () => {
    const bundle = { ...choice, conversation: "a&b", emails: true };
    expect(bundleAddress({ ...bundle, redact: false }, ["k"])).toBe("/api/bundle?conversation=a%26b");
    expect(bundleAddress(bundle, ["k"])).toBe(
      "/api/bundle?conversation=a%26b&redact=true&emails=true&keep=k",
    );
  });
  test("has a name that is one on every system", () => {
    expect(fileName("Ünder <b>../../etc\u202E</b>", choice)).toBe("under-b-etc-b.html");
    expect(fileName("密码", choice)).toBe("a.html");
    expect(fileName(null, { ...choice, conversation: "..", format: "bundle" })).toBe(
      "conversation.holdfast.jsonl",
    );
    expect(fileName("x".repeat(500), choice)).toHaveLength(65);
  });
});

describe("the history", () => {
  const none = filtersIn(new URLSearchParams());
  test("is narrowed by the address alone, of which nonsense counts for nothing", () => {
    expect(areFilters(none)).toBe(false);
    expect(areFilters(filtersIn(new URLSearchParams("days=-1&cost=x&status=odd&rolled=yes")))).toBe(false);
    const some = filtersIn(new URLSearchParams("status=unclean&cost=0.1&folder=/w&model=m&rolled=1&label=l"));
    expect(listQuery(some, 0)).toEqual({
      status: "unclean",
      costMicros: 100_000,
      cwd: "/w",
      model: "m",
      rolled: true,
      label: "l",
      archived: false,
    });
    expect(listQuery({ ...none, status: "agent_only" }, 0)).toBeNull();
  });
  test("shows sessions of agents behind the rest, as far as a filter can tell of them", () => {
    const session = {
      agent: "claude",
      session: "s",
      cwd: "/w",
      title: "Fix it",
      updatedAt: "2026-01-02T00:00:00Z",
    };
    const now = Date.parse("2026-01-03T00:00:00Z");
    const count = (text: string): number =>
      meantSessions([session], filtersIn(new URLSearchParams(text)), now).length;
    expect(["", "q=FIX", "days=7", "folder=/w", "agent=claude", "status=agent_only"].map(count)).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
    expect(
      ["q=no", "folder=/x", "agent=codex", "status=working", "tag=t", "cost=1", "fork=1"].map(count),
    ).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(agentRows([session]).map(rowKey)).toEqual(["group Found on this machine", "claude:s"]);
    expect(agentRows([])).toEqual([]);
  });
  test("offers what the listed rows differ by, and marks each state", () => {
    const rows = [
      { cwd: "/b", summary: null },
      { cwd: "/a", summary: { model: "m", agent: null, metadata: {} } },
    ];
    const seen = seenWith(
      { folder: [], model: [], agent: [], tag: [] },
      rows as unknown as readonly Listed[],
    );
    expect(seen).toEqual({ folder: ["/a", "/b"], model: ["m"], agent: [], tag: [] });
    expect(seenWith(seen, rows as unknown as readonly Listed[])).toBe(seen);
    expect(statusOf({ state: "limit_over" } as unknown as Listed)).toBe("parked");
  });
});
