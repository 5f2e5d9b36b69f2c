import type { Schema } from "./value-schema.ts";

export const RIGHTS = ["read", "write", "admin", "metrics"] as const;
/** Of the first three each includes those before it; `metrics` is for the figures of the process alone. */
export type Right = (typeof RIGHTS)[number];

/** What one operation is given and gives. */
export interface Operation {
  /** What stands in the path. */
  readonly params?: object;
  readonly query?: object;
  readonly body?: object;
  readonly response: unknown;
}

type Part<O extends Operation, P extends "params" | "query" | "body"> = O extends {
  readonly [K in P]: infer T;
}
  ? { readonly [K in P]: Schema<T> }
  : { readonly [K in P]?: never };

/** What is answered: an object, a stream of events, or bytes. */
type Answers = "json" | "events" | "bytes";

/** One row of the table: all that is known of an operation but how it is done. */
type Route<O extends Operation> = Part<O, "params"> &
  Part<O, "query"> &
  Part<O, "body"> & {
    readonly method: "GET" | "POST" | "DELETE";
    /** Members in braces are `params`. */
    readonly path: string;
    readonly right: Right;
    readonly summary: string;
    /** Under which heading the reference has it. */
    readonly group: string;
    readonly answers?: Answers;
    /** The media types of the answer, where `answers` alone does not say them. */
    readonly types?: readonly string[];
    /** It changes something, so it is in the audit log, and takes a key that makes a repetition harmless. */
    readonly writes?: true;
    /** It hands out a conversation as a file, so it is in the audit log before anything is sent. */
    readonly exports?: true;
    /** Its work grows with what is stored or sent, so no deadline holds for it. */
    readonly long?: true;
    /** What was answered is kept under the key, for an act that has no place of its own to keep it. */
    readonly kept?: true;
    /** 200 unless told. */
    readonly status?: number;
    readonly response: Schema<O["response"]>;
  };

export type AnyRoute = Pick<
  Route<{ readonly response: unknown }>,
  | "method"
  | "path"
  | "right"
  | "summary"
  | "group"
  | "answers"
  | "types"
  | "writes"
  | "exports"
  | "long"
  | "kept"
  | "status"
  | "response"
> & {
  readonly takes?: "bytes";
  readonly params?: Schema<unknown>;
  readonly query?: Schema<unknown>;
  readonly body?: Schema<unknown>;
};

export type RoutesOf<A> = { readonly [K in keyof A]: A[K] extends Operation ? Route<A[K]> : never };

/** Names what makes a repeated write harmless. */
export const KEY_HEADER = "idempotency-key";
/** On what was answered before under its key: `same`, or `differs` where other words were asked with now. */
export const REPEATED_HEADER = "holdfast-repeated";
/** What an upload says that it is: a type that no form of a page can send. */
export const UPLOAD_TYPE = "application/x-ndjson";
/** A browser sends it only from a page that this server gave it. */
export const CLIENT_HEADER = "holdfast-client";
