import fc from "fast-check";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { user } from "./a-log.ts";

/** Something that is done to one of the conversations; which one, and at which node, is a number taken round. */
export type Act = { readonly on: number; readonly at: number } & (
  | { readonly do: "say" | "answer" | "seed" | "run" | "endRun" | "reset" | "large" }
  | { readonly do: "fork" | "goTo" | "label" | "hide" | "title" | "compact" }
  | { readonly do: "image"; readonly bytes: string }
  | { readonly do: "child" | "create" }
);

const place = { on: fc.nat(9), at: fc.nat(30) };
const plain = [
  "say",
  "answer",
  "seed",
  "run",
  "endRun",
  "reset",
  "large",
  "fork",
  "goTo",
  "label",
  "hide",
  "title",
  "compact",
  "child",
  "create",
] as const;

export const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ ...place, do: fc.constantFrom(...plain) }), weight: 9 },
    {
      arbitrary: fc.record({
        ...place,
        do: fc.constant("image" as const),
        bytes: fc.string({ maxLength: 20 }),
      }),
      weight: 2,
    },
  ),
  { minLength: 1, maxLength: 25 },
);

/** Makes conversations with forks, branches, runs, seeds, labels, hidden entries and images of what is asked for. */
export async function makeFamily(
  holdfast: Holdfast,
  given: readonly Act[],
): Promise<readonly Conversation[]> {
  const family = [await holdfast.create({ id: "c0", title: "First" })];
  for (const [number, act] of given.entries()) {
    const chat = family[act.on % family.length];
    if (chat === undefined) continue;
    const nodes = await chat.branch();
    const node = nodes[act.at % nodes.length]?.id ?? "";
    const made = await doOne({ holdfast, chat, node, id: `c${family.length}`, number }, act);
    if (made !== null) family.push(made);
  }
  return family;
}

interface Scene {
  readonly holdfast: Holdfast;
  readonly chat: Conversation;
  readonly node: string;
  readonly id: string;
  readonly number: number;
}

async function doOne(scene: Scene, act: Act): Promise<Conversation | null> {
  const { holdfast, chat, node, id, number } = scene;
  switch (act.do) {
    case "fork":
      return chat.fork({ id, at: node, ...(number % 2 === 0 ? { cwd: `/w/${number}` } : {}) });
    case "create":
      return holdfast.create({ id, cwd: "/w" });
    case "child":
      return holdfast.createFrom(id, [
        { type: "conversation", parent: { conversation: chat.id, entry: node } },
      ]);
    case "goTo":
      await chat.goTo(node);
      return null;
    case "label":
      await chat.label(node, `label ${number}`);
      return null;
    case "hide":
      await chat.hide(node, number % 3 > 0);
      return null;
    case "title":
      await chat.title(`Title ${number} \u2028 "é"`);
      return null;
    case "image": {
      const blob = await chat.putBlob(Buffer.from(act.bytes));
      const content = [{ type: "image", mediaType: "image/png", blob } as const];
      await chat.append({ type: "message", message: { role: "user", content } });
      return null;
    }
    default:
      await chat.append(bodiesOf(act.do, number));
      return null;
  }
}

function bodiesOf(what: Act["do"], number: number): readonly (EntryBody | string)[] {
  const run = `r${number % 3}`;
  const usage = { inputTokens: number, outputTokens: 1, costMicros: number * 7 };
  switch (what) {
    case "answer":
      return [
        { type: "message", message: { role: "assistant", content: [], model: `m${number % 2}`, usage } },
        '{"type":"custom","customType":"odd","data":{"b":1,"a":12345678901234567890,"b":1.50,"u":"\\ud83d"}}',
      ];
    case "seed":
      return [{ type: "seed", run, messages: [{ role: "system", content: `You ${number}` }] }];
    case "run":
      return [
        { type: "run_start", run, trigger: "email", triggerId: `t${number}`, mailbox: "a@b" },
        { type: "turn_start", turn: `turn-${number}`, run },
        { type: "message", message: { role: "assistant", content: [], model: "m", usage } },
        { type: "turn_end", turn: `turn-${number}`, outcome: "completed" },
      ];
    case "endRun":
      return [{ type: "run_end", run, status: "completed" }];
    case "reset":
      return [{ type: "reset", reason: "new_chat" }];
    case "compact":
      return [{ type: "compaction", summary: `So far ${number}` }];
    case "large":
      return [user("x".repeat(50_000 + number))];
    default:
      return [user(`words ${number}`), user("more")];
  }
}
