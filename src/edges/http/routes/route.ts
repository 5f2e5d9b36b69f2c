import type { Json } from "#log/json/json-text";
import type { Access } from "#operations/operation";

export type Right = Access;
export const RIGHTS = ["read", "write", "admin", "metrics"] as const satisfies readonly Right[];

export type JsonSchema = { readonly [name: string]: Json };

/** A schema as requests are checked by it and the document describes it. */
export interface RouteSchema {
  readonly json: JsonSchema;
  /** The schemas in it that the document describes once, by their names. */
  readonly named: ReadonlyMap<string, JsonSchema>;
  /** Of the fields of an object. */
  readonly members?: { readonly [name: string]: RouteSchema };
  /** Whether a field takes several values. */
  readonly takesList: boolean;
  problems(value: unknown): readonly string[];
  /** A value as it stands in an address. */
  fromText(texts: readonly string[]): unknown;
}

/** A row as HTTP reads it: where its fields stand in a request, and what its answer is. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Members in braces are `params`. */
  readonly path: string;
  readonly right: Right;
  readonly summary: string;
  /** The heading in the reference. */
  readonly group: string;
  readonly answers?: "json" | "events" | "bytes";
  /** The media types of the answer, where `answers` alone does not say them. */
  readonly types?: readonly string[];
  /** The body is bytes. */
  readonly takes?: "bytes";
  /** It changes something, so it is in the audit log, and takes a key that makes a repetition harmless. */
  readonly writes?: true;
  readonly exports?: true;
  readonly long?: true;
  /** The answer is stored under the key. */
  readonly kept?: true;
  /** 200 by default. */
  readonly status?: number;
  readonly params?: RouteSchema;
  readonly query?: RouteSchema;
  readonly body?: RouteSchema;
  readonly response: RouteSchema;
}

/** Names what makes a repeated write harmless. */
export const KEY_HEADER = "idempotency-key";
/** On an answer that was given before under its key: `same`, or `differs` where the request differs now. */
export const REPEATED_HEADER = "holdfast-repeated";
/** What an upload says that it is: a type that no form of a page can send. */
export const UPLOAD_TYPE = "application/x-ndjson";
/** A browser sends it only from a page that this server gave it. */
export const CLIENT_HEADER = "holdfast-client";
