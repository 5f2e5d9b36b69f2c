import type { IncomingHttpHeaders } from "node:http";
import type { RefusalName, Reply } from "./reply.ts";

/** A request as it came, before a wire has made sense of it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** What a request asks, in words that are the same on every wire. */
export interface Reading {
  /** `turn` is the conversation; `side` what the agent asks for itself (titles, nudges); `other` is no model call. */
  readonly kind: "turn" | "side" | "other";
  /** The last thing the person said. */
  readonly prompt: string;
  /** Every text of the request, oldest first, instructions included. */
  readonly said: readonly string[];
  /** Set when the request carries on after a tool. */
  readonly toolResult?: string;
  /** The agent's own id of the session, where its requests show it. */
  readonly session?: string;
  /** The answer to what is `side` or `other`; the scripted replies are not asked. */
  readonly aside?: Reply;
}

/** One way to speak to a model over http. */
export interface Wire {
  readonly name: string;
  read(raw: RawRequest): Reading;
  /** Server-sent events, in order; what comes after them is the server's affair. */
  frames(reply: Reply, raw: RawRequest): readonly string[];
  /** The answer to a request that did not ask for a stream; undefined when a stream is wanted. */
  whole(reply: Reply, raw: RawRequest): unknown;
  refusal(name: RefusalName): Reply;
}

let made = 0;

/** Ids are unique over all servers of a run: two agents may share one fake model. */
export function freshId(prefix: string): string {
  made += 1;
  return `${prefix}_fake${String(made).padStart(4, "0")}`;
}

export function frame(data: unknown, event?: string): string {
  const head = event === undefined ? "" : `event: ${event}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}
