import type { Bodies, EntryType, NodeType, SettingType } from "./entry.ts";
import {
  anything,
  block,
  type Check,
  count,
  eitherOf,
  entryId,
  extras,
  flag,
  listOf,
  message,
  metadata,
  nonBlank,
  object,
  oneOf,
  origin,
  orNull,
  parent,
  project,
  runExtras,
  shape,
  text,
  told,
  usage,
} from "./shapes.ts";
import { blockText } from "./search.ts";

/** All that any layer has to know of a type of entry. */
export interface EntryTypeRow<T extends EntryType> {
  /** A node lies on the branch, a fact beside it. */
  readonly is: T extends NodeType ? "node" : "fact";
  /** Its number in an index by type, which never changes; null for the bulk of a log, which is read in order. */
  readonly number: number | null;
  /** What its payload must hold; whatever else it holds is kept exactly and ignored. */
  readonly shape: Check;
  /** The member that names a node, which must exist before it. */
  readonly target?: keyof Bodies[T] & string;
  /** Other members that plans and indexes read, so that a store need not carry the rest of the body about. */
  readonly planned?: readonly (keyof Bodies[T] & string)[];
  /** Anyone may add it; the rest belongs to the owner. */
  readonly outside?: true;
  /** Whether it is on disk before it is acknowledged, whatever was asked for; `never`: it need not be. */
  readonly durable?: "always" | "never" | ((body: Bodies[T]) => boolean);
  /** The latest one on a path decides something, so it can be found without walking. */
  readonly setting?: T extends SettingType ? true : never;
  /** It says something to a model, so that an upstream can lack it. */
  readonly said?: true | ((body: Bodies[T]) => boolean);
  /** The words people search for. */
  readonly searched?: (body: Bodies[T]) => string;
}

/** One row per type. A new type is a row here and its body in entry.ts; its meaning is a projection. */
export const ENTRY_TABLE: { readonly [T in EntryType]: EntryTypeRow<T> } = {
  conversation: {
    is: "node",
    number: 7,
    shape: shape({}, { cwd: text, project, origin, forkedFrom: origin, parent, unlisted: flag }),
    planned: ["cwd", "origin"],
    durable: "always",
    said: true,
  },
  message: {
    is: "node",
    number: null,
    // Format 1 had these beside the message, too: message-extras.ts reads them from either place.
    shape: shape({ message }, extras),
    durable: ({ message: { role } }) => role === "user",
    said: true,
    searched: ({ message: { content } }) => content.map(blockText).filter(Boolean).join("\n"),
  },
  seed: {
    is: "node",
    number: 8,
    shape: shape({ run: nonBlank, messages: listOf(anything) }),
  },
  model_change: {
    is: "node",
    number: 3,
    shape: shape({ model: nonBlank }, { provider: text }),
    setting: true,
  },
  config_change: {
    is: "node",
    number: 4,
    shape: shape({ config: object }),
    setting: true,
  },
  skill_change: {
    is: "node",
    number: 5,
    shape: shape({ skills: listOf(shape({ name: nonBlank }, { source: text, digest: text })) }),
    setting: true,
  },
  state_change: {
    is: "node",
    number: 6,
    shape: shape({ state: anything }),
    setting: true,
  },
  compaction: {
    is: "node",
    number: 1,
    shape: shape(
      { summary: text },
      { firstKeptEntryId: entryId, tokensBefore: count, usage, details: anything },
    ),
    planned: ["firstKeptEntryId"],
    setting: true,
    said: true,
    searched: ({ summary }) => summary,
  },
  branch_summary: {
    is: "node",
    number: 9,
    shape: shape({ fromId: entryId, summary: text }, { usage, details: anything }),
    target: "fromId",
    said: true,
    searched: ({ summary }) => summary,
  },
  reset: {
    is: "node",
    number: 2,
    shape: shape({}, { reason: text }),
    setting: true,
    said: true,
  },
  custom: {
    is: "node",
    number: 10,
    shape: shape({ customType: nonBlank }, { data: anything, inContext: flag, content: listOf(block) }),
    said: ({ inContext }) => inContext === true,
    searched: ({ data }) => (typeof data === "string" ? data : ""),
  },
  run_start: {
    is: "fact",
    number: 20,
    shape: shape({ run: nonBlank, trigger: nonBlank }, runExtras),
  },
  run_end: {
    is: "fact",
    number: 21,
    shape: shape({ run: nonBlank, status: nonBlank }, { error: shape({ message: text }, { code: text }) }),
  },
  turn_start: {
    is: "fact",
    number: 22,
    shape: shape({ turn: nonBlank }, { prompt: entryId, run: nonBlank }),
  },
  attempt: {
    is: "fact",
    number: 23,
    shape: eitherOf(
      ["upstream", "model"],
      shape(
        { turn: nonBlank },
        {
          upstream: nonBlank,
          model: nonBlank,
          promptDigest: nonBlank,
          toolsDigest: nonBlank,
          fidelity: oneOf("native", "transcript", "preamble"),
          process: text,
          told,
          usage,
        },
      ),
    ),
  },
  attempt_end: {
    is: "fact",
    number: 35,
    shape: shape({ turn: nonBlank, class: nonBlank }, { upstream: nonBlank, model: text, usage }),
  },
  turn_end: {
    is: "fact",
    number: 24,
    shape: shape(
      { turn: nonBlank, outcome: oneOf("completed", "interrupted", "failed") },
      {
        class: text,
        upstream: nonBlank,
        node: entryId,
        held: orNull(entryId),
        resetAt: text,
        parked: listOf(shape({ agent: nonBlank, resetAt: text }, { account: text })),
        usage,
        model: text,
      },
    ),
  },
  tool_intent: {
    is: "fact",
    number: 25,
    shape: shape(
      { call: nonBlank, name: text },
      {
        input: anything,
        replay: oneOf("never", "safe"),
        idempotencyKey: nonBlank,
        turn: nonBlank,
        step: count,
      },
    ),
    durable: "always",
  },
  tool_progress: {
    is: "fact",
    number: null,
    shape: shape({ call: nonBlank }, { text, data: anything }),
  },
  update: {
    is: "fact",
    number: null,
    shape: shape({}, { turn: nonBlank, data: anything }),
    durable: "never",
  },
  permission: {
    is: "fact",
    number: 26,
    shape: shape(
      {},
      {
        request: nonBlank,
        call: nonBlank,
        turn: nonBlank,
        options: listOf(shape({ id: nonBlank }, { name: text, kind: text })),
        expiresAt: text,
        data: anything,
      },
    ),
  },
  permission_answer: {
    is: "fact",
    number: 36,
    shape: shape(
      { request: nonBlank, outcome: oneOf("allowed", "denied", "cancelled") },
      { option: nonBlank, by: text, data: anything },
    ),
    outside: true,
  },
  plan: {
    is: "fact",
    number: 27,
    shape: shape({}, { data: anything }),
  },
  steer: {
    is: "fact",
    number: 28,
    shape: shape(
      { steer: nonBlank, state: oneOf("accepted", "delivered", "cancelled") },
      { content: listOf(block), when: oneOf("step", "turn", "run"), turn: nonBlank },
    ),
    outside: true,
  },
  upstream_link: {
    is: "fact",
    number: 29,
    shape: shape({ upstream: nonBlank, agent: nonBlank, reason: nonBlank }, { account: text, node: entryId }),
    durable: "always",
  },
  upstream_end: {
    is: "fact",
    number: 34,
    shape: shape({ upstream: nonBlank, reason: nonBlank }, { node: entryId }),
    outside: true,
  },
  leaf: {
    is: "fact",
    number: 30,
    shape: shape({ target: entryId }),
    target: "target",
  },
  hide: {
    is: "fact",
    number: 31,
    shape: shape({ target: entryId }, { hidden: flag }),
    target: "target",
    planned: ["hidden"],
    outside: true,
  },
  label: {
    is: "fact",
    number: 32,
    shape: shape({ target: entryId, label: orNull(text) }),
    target: "target",
    planned: ["label"],
    outside: true,
    searched: ({ label }) => label ?? "",
  },
  title: {
    is: "fact",
    number: 33,
    shape: shape({ title: text }),
    planned: ["title"],
    outside: true,
    searched: ({ title }) => title,
  },
  cwd: {
    is: "fact",
    number: 38,
    shape: shape({ cwd: text }, { project }),
    planned: ["cwd"],
  },
  metadata: {
    is: "fact",
    number: 37,
    shape: shape({ metadata }),
    outside: true,
  },
};
