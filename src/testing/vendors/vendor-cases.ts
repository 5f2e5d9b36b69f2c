import assert from "node:assert/strict";
import { classifyEnd, type EndSigns } from "#turn/rules/classify";
import { COMMON_ENDINGS } from "#vendors/endings/shared-endings";
import type { EndingExample, Vendor } from "#vendors/vendor";
import { OddValues } from "./odd-values.ts";
import { readJson } from "#log/json/read-json";

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
    name: "has an example for every rule of its own",
    run: ({ endings, examples }) => {
      for (const rule of endings.filter((one) => !SHARED.has(one))) {
        const probe = { ...rule, class: "completed" } as const;
        const fits = examples.some((example) => classifyEnd([probe], endOf(example)).class === "completed");
        assert.ok(fits, `${JSON.stringify(rule)} ${rule.on === "text" ? rule.like.source : ""}`);
      }
    },
  },
  {
    name: "has a dialect with sane figures",
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
