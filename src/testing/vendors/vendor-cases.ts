import assert from "node:assert/strict";
import { classifyEnd, type EndSigns } from "#turn/rules/classify";
import { COMMON_ENDINGS } from "#vendors/shared-endings";
import type { EndingExample, Vendor } from "#vendors/vendor";
import { readJson } from "#log/json/read-json";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

export interface VendorCase {
  readonly name: string;
  run(vendor: Vendor): void;
}

function endOf([, message, code = -32603, data = null]: EndingExample): EndSigns {
  return { stopReason: null, error: { code, message, data }, exited: false };
}

const SHARED = new Set(COMMON_ENDINGS);
const ODD_ROUNDS = 500;

/** Every promise of a vendor but those of its records. A case throws where one is broken. */
export const vendorContract: readonly VendorCase[] = [
  {
    name: "has a name that a command line can give",
    run: ({ name }) => assert.match(name, /^[a-z0-9][a-z0-9._-]*$/),
  },
  {
    name: "means by each of its examples what it says",
    run: ({ endings, examples }) => {
      for (const example of examples)
        assert.equal(classifyEnd(endings, endOf(example)).class, example[0], JSON.stringify(example));
    },
  },
  {
    name: "shows by an example how it says that a limit is reached, and that a session is gone",
    run: ({ examples }) => {
      const meant = new Set(examples.map(([means]) => means));
      assert.ok(meant.has("limit"));
      assert.ok(meant.has("lost") || meant.has("expired"));
    },
  },
  {
    name: "has an example for each of its rules",
    run: ({ endings, examples }) => {
      for (const rule of endings.filter((one) => !SHARED.has(one))) {
        const probe = { ...rule, class: "completed" } as const;
        const fits = examples.some((example) => classifyEnd([probe], endOf(example)).class === "completed");
        assert.ok(fits, `${JSON.stringify(rule)} ${rule.on === "text" ? rule.like.source : ""}`);
      }
    },
  },
  {
    name: "has a dialect with sensible limits",
    run: ({ dialect }) => {
      assert.ok(dialect.windowTokens >= 8_000);
      assert.ok(dialect.reloadAfterMs >= 0);
      assert.ok(dialect.clears.every((command) => !command.startsWith("/")));
      if (dialect.programMessages !== null) readJson(dialect.programMessages.ask.text);
    },
  },
  {
    name: "reads whatever an agent says without failing",
    run: ({ dialect, examples }) => {
      const odd = new OddValues(
        examples.map(([, message, code = null, data = null]) => [message, code, data]),
      );
      for (let round = 0; round < ODD_ROUNDS; round++) {
        const [inner, outer] = [odd.fields(), odd.fields()];
        const marked = { ...outer, _meta: { ...inner, codex: inner, claudeCode: inner } };
        dialect.failureIn(marked);
        dialect.failureIn(outer);
        dialect.toolName(inner);
        dialect.neverRan(marked);
        dialect.programMessages?.meaning(marked);
      }
    },
  },
];

const DEPTH_MAX = 3;
const MEMBERS_MAX = 5;
const NAMES = ["_meta", "codex", "claudeCode", "type", "kind", "error", "message", "content", "status", ""];
const VALUES: readonly Json[] = [null, true, false, 0, -1, 0.5, 1e308, "", "x", "error", "\0", "\ud800"];

/** Objects as a peer might send them, whatever it means by them: made by chance, and the same ones every time. */
class OddValues {
  #state: number = 1;
  readonly #names: readonly string[];
  readonly #values: readonly Json[];

  /** What the examples hold is mixed in: a reader looks closer at what it knows. */
  constructor(examples: readonly Json[] = []) {
    const members = membersOf(examples);
    this.#names = [...NAMES, ...members.map(({ name }) => name)];
    this.#values = [...VALUES, ...members.map(({ value }) => value)];
  }

  fields(depth: number = DEPTH_MAX): Fields {
    const members = Array.from({ length: this.#below(MEMBERS_MAX) }, () => [
      this.#oneOf(this.#names),
      this.#value(depth),
    ]);
    return Object.fromEntries(members) as Fields;
  }

  #value(depth: number): Json {
    const kind = depth === 0 ? 0 : this.#below(4);
    if (kind === 3) return this.fields(depth - 1);
    if (kind === 2) return Array.from({ length: this.#below(3) }, () => this.#value(depth - 1));
    return this.#oneOf(this.#values);
  }

  #oneOf<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  /** The generator of Park and Miller: small, and its numbers stay exact. */
  #below(count: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % count;
  }
}

interface Member {
  readonly name: string;
  readonly value: Json;
}

/** Every member of a value, however deep, and every item of its lists. */
function membersOf(value: Json): readonly Member[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries(value).map(([name, member]) => ({ name, value: member }));
  return own.concat(own.flatMap((member) => membersOf(member.value)));
}
