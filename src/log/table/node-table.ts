import type { NodeType } from "#log/entry";
import type { EntryTypeRow } from "./entry-type-row.ts";
import {
  anything,
  block,
  count,
  entryId,
  extras,
  flag,
  listOf,
  message,
  nonBlank,
  object,
  origin,
  parent,
  project,
  shape,
  text,
  usage,
} from "./shapes.ts";
import { blockText } from "#log/search";
import * as changes from "./summary-changes.ts";

/** One row per type of node. */
export const NODE_TABLE: { readonly [T in NodeType]: EntryTypeRow<T> } = {
  conversation: {
    is: "node",
    number: 7,
    shape: shape({}, { cwd: text, title: text, project, origin, forkedFrom: origin, parent, unlisted: flag }),
    planned: ["cwd", "title", "origin"],
    durable: "always",
    inContext: true,
    summary: changes.begun,
  },
  message: {
    is: "node",
    number: null,
    // Format 1 had these beside the message, too: message-extras.ts reads them from either place.
    shape: shape({ message }, extras),
    durable: ({ message: { role } }) => role === "user",
    inContext: true,
    searched: ({ message: { content } }) => content.map(blockText).filter(Boolean).join("\n"),
    summary: changes.replied,
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
    summary: changes.chosen,
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
      { firstKeptEntryId: entryId, tokensBefore: count, model: text, usage, details: anything },
    ),
    planned: ["firstKeptEntryId"],
    setting: true,
    inContext: true,
    searched: ({ summary }) => summary,
    summary: changes.spentBy,
  },
  branch_summary: {
    is: "node",
    number: 9,
    shape: shape({ fromId: entryId, summary: text }, { model: text, usage, details: anything }),
    target: "fromId",
    inContext: true,
    searched: ({ summary }) => summary,
    summary: changes.spentBy,
  },
  reset: {
    is: "node",
    number: 2,
    shape: shape({}, { reason: text }),
    setting: true,
    inContext: true,
  },
  custom: {
    is: "node",
    number: 10,
    shape: shape({ customType: nonBlank }, { data: anything, inContext: flag, content: listOf(block) }),
    inContext: ({ inContext }) => inContext === true,
    searched: ({ data }) => (typeof data === "string" ? data : ""),
  },
};
