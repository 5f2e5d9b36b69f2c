/** The four kinds of wire that the server speaks. */
export type WireName = "anthropic" | "openai" | "openai-compatible" | "google";

interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** A value, or the text as the model writes it. */
  readonly input: unknown;
}

/** What goes wrong. */
export type ScriptedFailure =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly type?: string;
      readonly code?: string;
      readonly headers?: { readonly [name: string]: string };
      /** In place of an error in the provider's own shape. */
      readonly body?: string;
    }
  /** An error as an event of the stream, before anything else or in the middle. */
  | { readonly kind: "event"; readonly when: "first" | "middle"; readonly message?: string }
  /** The socket is destroyed. */
  | { readonly kind: "cut"; readonly when: "before" | "middle" }
  /** The body ends in the middle, in good order. */
  | { readonly kind: "early-end" }
  /** Status 200, and a page for people. */
  | { readonly kind: "page" }
  /** A line that is no JSON, before anything else or in the middle; the rest follows. */
  | { readonly kind: "malformed"; readonly when?: "first" }
  | { readonly kind: "endless" }
  /** Nothing is ever sent, not even a status. */
  | { readonly kind: "silent" };

/** One answer of the server. */
export interface ScriptedAnswer {
  /** In pieces, as they are streamed. */
  readonly text?: string | readonly string[];
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly redacted?: string;
  readonly calls?: readonly ScriptedCall[];
  /** By its calls unless given. */
  readonly finish?: "stop" | "calls" | "length" | "filtered" | "paused";
  /** False: none is reported. */
  readonly usage?: false;
  /** Waits there until `release` is called with the name. */
  readonly hold?: { readonly at: "start" | "middle" | "end"; readonly name: string };
  readonly fail?: ScriptedFailure;
}

export interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

/** What a wire's events are made of. */
export interface AnswerParts {
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: "stop" | "calls" | "length" | "filtered" | "paused";
  readonly counts: Counts | null;
  readonly answer: ScriptedAnswer;
  /** Of this request among all. */
  readonly number: number;
}

export function partsOf(answer: ScriptedAnswer, counts: Omit<Counts, "output">, number: number): AnswerParts {
  const text = answer.text ?? [];
  const pieces = typeof text === "string" ? (text === "" ? [] : [text]) : text;
  const calls = (answer.calls ?? []).map(({ id, name, input }, at) => ({
    id: id ?? `call_${number}_${at}`,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  }));
  const written = [...pieces, ...calls.map((call) => call.input), answer.thinking?.text ?? ""].join("");
  const output = Math.ceil(written.length / 4) + 1;
  const finish = answer.finish ?? (calls.length > 0 ? "calls" : "stop");
  return {
    pieces,
    calls,
    finish,
    answer,
    number,
    counts: answer.usage === false ? null : { ...counts, output },
  };
}
