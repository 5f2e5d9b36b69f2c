import type { Json } from "#log/json/json-text";
import type { OperationName } from "./api.ts";

const V = { schemaVersion: 1 };
const chat = { conversation: "support-1" };
const written = {
  ...chat,
  fromSeq: 3,
  toSeq: 3,
  lastId: "note",
  ids: ["note"],
  deduped: false,
  differs: false,
};
const question: Json = {
  type: "message",
  message: { role: "user", content: [{ type: "text", text: "Where is order 17?" }] },
};
const begun = { ...chat, turn: "turn-1", prompt: "ask", after: 2, repeated: false, differs: false };

/** Request bodies and answers of the operations that a first program needs; the document shows them. */
export const EXAMPLES: {
  readonly [N in OperationName]?: { readonly body?: Json; readonly response?: Json };
} = {
  createConversation: { body: { id: "support-1", title: "Order 17" }, response: { ...V, ...chat } },
  setTitle: { body: { title: "Order 17 is late" }, response: written },
  fork: {
    body: { at: "ask", id: "support-2" },
    response: { ...V, conversation: "support-2", source: "support-1", entry: "ask" },
  },
  appendEntries: { body: { entries: [question], expected: 2 }, response: written },
  setLabel: { body: { label: "before the refund" }, response: written },
  send: { body: { content: "Where is order 17?" }, response: begun },
  edit: { body: { content: "Where is order 18?" }, response: begun },
  continueTurn: { body: {}, response: begun },
  retry: { body: {}, response: begun },
  answerRequest: {
    body: { request: "request-1", outcome: "allowed" },
    response: { ...V, ...chat, request: "request-1", deduped: false, turn: begun },
  },
  steer: {
    body: { content: "Answer in French.", when: "step" },
    response: { ...V, ...chat, steer: "steer-1", delivered: "now" },
  },
  cancel: { body: {}, response: { ...V, ...chat, cancelled: true } },
  listAgents: {
    response: { ...V, agents: [{ agent: "holdfast", models: ["openai/gpt-5"] }] },
  },
};
