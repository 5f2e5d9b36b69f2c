import type { EndingClass } from "#log/ending-class";

/** One line of a table of endings: where to look, what to find there, what it means. */
export type EndingRule =
  | { readonly on: "code"; readonly is: readonly (number | string)[]; readonly class: EndingClass }
  | { readonly on: "status"; readonly is: readonly number[]; readonly class: EndingClass }
  | { readonly on: "kind"; readonly is: readonly string[]; readonly class: EndingClass }
  | { readonly on: "text"; readonly like: RegExp; readonly class: EndingClass };

/** What an agent means by what it says at the end. Rules are tried in order and the first that fits decides. */
export type EndingTable = readonly EndingRule[];

/** The status of the wire says more than the type a client library puts on it: a 529 is typed `rate_limit`. */
export const STATUS_ENDINGS: EndingTable = [
  { on: "status", is: [529, 500, 502, 503, 504], class: "overloaded" },
  { on: "status", is: [401, 403], class: "auth" },
  { on: "status", is: [402], class: "credit" },
  { on: "status", is: [413], class: "too_long" },
  { on: "status", is: [410], class: "expired" },
];

/** Apart from the other statuses: what is no limit may come as a 429, and what says so better is tried first. */
export const TOO_MANY: EndingTable = [{ on: "status", is: [429], class: "limit" }];

/** The codes of JSON-RPC errors as agents use them. */
export const CODE_ENDINGS: EndingTable = [
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32002], class: "lost" },
];

/** Statuses and codes, without anybody's words: for an upstream that brings no table. */
export const PLAIN_ENDINGS: EndingTable = [...STATUS_ENDINGS, ...TOO_MANY, ...CODE_ENDINGS];
