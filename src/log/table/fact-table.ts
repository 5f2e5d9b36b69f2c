import type { FactType } from "#log/entry";
import type { EntryTypeRow } from "./entry-type-row.ts";
import {
  anything,
  block,
  count,
  eitherOf,
  entryId,
  flag,
  listOf,
  metadata,
  nonBlank,
  oneOf,
  orNull,
  project,
  runExtras,
  shape,
  text,
  priorContext,
  usage,
} from "./shapes.ts";
import { memoryChange, memoryText } from "./memory-change.ts";
import * as changes from "./summary-changes.ts";

/** One row per type of fact. A new type is a row here and its body in entry.ts; its meaning is a projection. */
export const FACT_TABLE: { readonly [T in FactType]: EntryTypeRow<T> } = {
  run_start: {
    is: "fact",
    number: 20,
    shape: shape({ run: nonBlank, trigger: nonBlank }, runExtras),
    summary: changes.runBegun,
  },
  run_end: {
    is: "fact",
    number: 21,
    shape: shape({ run: nonBlank, status: nonBlank }, { error: shape({ message: text }, { code: text }) }),
    summary: changes.runEnded,
  },
  turn_start: {
    is: "fact",
    number: 22,
    shape: shape(
      { turn: nonBlank },
      {
        prompt: entryId,
        run: nonBlank,
        steers: oneOf("delivered"),
        holder: shape({ address: nonBlank, forMs: count }),
      },
    ),
    summary: changes.turnBegun,
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
          priorContext,
          told: priorContext, // its name in format 1
          usage,
        },
      ),
    ),
    summary: changes.spentBy,
  },
  attempt_end: {
    is: "fact",
    number: 35,
    shape: shape({ turn: nonBlank, class: nonBlank }, { upstream: nonBlank, model: text, usage }),
    summary: changes.spentBy,
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
    summary: changes.turnEnded,
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
    summary: changes.begunCall,
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
    summary: changes.steered,
  },
  upstream_link: {
    is: "fact",
    number: 29,
    shape: shape({ upstream: nonBlank, agent: nonBlank, reason: nonBlank }, { account: text, node: entryId }),
    durable: "always",
    summary: changes.linked,
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
    inherited: "none",
  },
  hide: {
    is: "fact",
    number: 31,
    shape: shape({ target: entryId }, { hidden: flag }),
    target: "target",
    inherited: "state",
    planned: ["hidden"],
    outside: true,
  },
  label: {
    is: "fact",
    number: 32,
    shape: shape({ target: entryId, label: orNull(text) }),
    target: "target",
    inherited: "state",
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
    summary: changes.filed,
  },
  memory: {
    is: "fact",
    number: 39,
    shape: memoryChange,
    outside: true,
    searched: memoryText,
  },
};
