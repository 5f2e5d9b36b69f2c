import type { Json } from "#log/json/json-text";

interface Foreign {
  readonly kind: string;
  readonly name: string;
  readonly is: (line: { readonly [name: string]: Json }) => boolean;
  readonly how: string;
}

const THROUGH_ACP =
  "It is not imported as a file: run its agent behind `holdfast acp`, and the editor lists it and opens it as a conversation";

/** Files people have and try first; each is known by what its first line has. */
const FOREIGN: readonly Foreign[] = [
  {
    kind: "claude",
    name: "a transcript of Claude Code",
    is: (line) =>
      "sessionId" in line &&
      ("uuid" in line || "parentUuid" in line || "operation" in line || "messageId" in line),
    how: THROUGH_ACP,
  },
  {
    kind: "codex",
    name: "a rollout of Codex",
    is: (line) => line["type"] === "session_meta" && "payload" in line,
    how: THROUGH_ACP,
  },
  {
    kind: "jsonl-store",
    name: "a log file of a JSONL store",
    is: (line) => "seq" in line && "id" in line && "type" in line,
    how: "Open it where it is, with --store jsonl:DIR, and `holdfast export` the conversation",
  },
  {
    kind: "bodies",
    name: "a body as `append` takes it",
    is: (line) => typeof line["type"] === "string" && ("message" in line || "customType" in line),
    how: "Make a conversation with `holdfast new`, then `holdfast append ID` takes such lines",
  },
];

/** What a file is that is no export, and what to do with it; null when nobody knows. */
export function foreignFile(line: {
  readonly [name: string]: Json;
}): { readonly kind: string; readonly advice: string } | null {
  const found = FOREIGN.find(({ is }) => is(line));
  return found === undefined ? null : { kind: found.kind, advice: `it is ${found.name}. ${found.how}` };
}
