import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PromptCache } from "./model-server/prompt-cache.ts";
import { refusalOf, Signed } from "./model-server/refusals.ts";
import {
  type AnswerParts,
  partsOf,
  type ScriptedAnswer,
  type ScriptedFailure,
  type WireName,
} from "./model-server/scripted-answer.ts";
import { ERROR_FRAMES, errorBody, FRAMES, MORE_FRAMES } from "./model-server/wire-events.ts";

/** A request as it came. */
interface ServedRequest {
  readonly wire: WireName;
  readonly model: string;
  /** Exactly the bytes of the body. */
  readonly body: string;
  readonly parsed: unknown;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Of all requests, from 1. */
  readonly number: number;
}

/** The answers in order, or one for every request; what comes behind the last of a list is answered with an error. */
export type Script = readonly ScriptedAnswer[] | ((request: ServedRequest) => ScriptedAnswer);

export interface ModelServer extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly ServedRequest[];
  /** The base URL that a provider's package is given. */
  baseUrl(wire: WireName): string;
  /** Adds answers to a list. */
  add(...answers: readonly ScriptedAnswer[]): void;
  /** Lets an answer go on that is held; also one that gets there later. */
  release(name: string): void;
  /** Resolves once an answer is held there. */
  held(name: string): Promise<void>;
  /** Resolves once so many requests have come. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A model's service on loopback, scripted: Anthropic Messages, OpenAI Responses, OpenAI Chat and Google, all streamed. */
export async function startModelServer(script: Script = [], port = 0): Promise<ModelServer> {
  const served = new Serving(script);
  const server = createServer((request, response) => void served.serve(request, response));
  server.on("clientError", (_, socket) => socket.destroy());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, "127.0.0.1", resolve);
  await promise;
  const at = (server.address() as AddressInfo).port;
  const close = (): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    return closed.promise;
  };
  return {
    port: at,
    requests: served.requests,
    baseUrl: (wire) => `http://127.0.0.1:${at}${BASES[wire]}`,
    add: (...answers) => served.answers.push(...answers),
    release: (name) => served.gate(name).open.resolve(),
    held: (name) => served.gate(name).reached.promise,
    received: (count) => served.received(count),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const BASES: { readonly [W in WireName]: string } = {
  anthropic: "/anthropic/v1",
  openai: "/openai/v1",
  "openai-compatible": "/compatible/v1",
  google: "/google/v1beta",
};

interface Gate {
  readonly open: PromiseWithResolvers<void>;
  readonly reached: PromiseWithResolvers<void>;
}

class Serving {
  readonly requests: ServedRequest[] = [];
  readonly answers: ScriptedAnswer[];
  readonly #script: Script;
  readonly #cache = new PromptCache();
  readonly #signed = new Signed();
  readonly #gates = new Map<string, Gate>();
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(script: Script) {
    this.#script = script;
    this.answers = typeof script === "function" ? [] : [...script];
  }

  gate(name: string): Gate {
    const known = this.#gates.get(name);
    const gate = known ?? { open: Promise.withResolvers<void>(), reached: Promise.withResolvers<void>() };
    this.#gates.set(name, gate);
    return gate;
  }

  received(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    this.#wake();
    return promise;
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ count }) => count <= this.requests.length);
    this.#waiting = this.#waiting.filter((one) => !ready.includes(one));
    for (const { resolve } of ready) resolve();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await Array.fromAsync<Buffer>(request).catch(() => null);
    const wire = wireOf(request.url ?? "");
    if (chunks === null) return;
    if (wire === null) return void response.writeHead(404).end("no such path");
    const body = Buffer.concat(chunks).toString("utf8");
    const parsed = parse(body);
    const model = modelOf(request.url ?? "", parsed);
    const served: ServedRequest = {
      wire,
      model,
      body,
      parsed,
      headers: request.headers,
      number: this.requests.length + 1,
    };
    this.requests.push(served);
    this.#wake();
    const refused = refusalOf(wire, parsed, this.#signed);
    if (refused !== null) {
      refusedAtOnce({ kind: "status", status: 400, message: refused, type: REFUSED }, wire, response);
      return;
    }
    const answer =
      typeof this.#script === "function" ? this.#script(served) : (this.answers.shift() ?? NOTHING_LEFT);
    await this.#answer(served, answer, response);
  }

  async #answer(request: ServedRequest, answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
    const { wire, model, number } = request;
    const { fail, hold } = answer;
    if (hold?.at === "start") await this.#pass(hold.name);
    if (fail !== undefined && refusedAtOnce(fail, wire, response)) return;
    const told =
      wire === "openai-compatible" && !asksForUsage(request.parsed)
        ? { ...answer, usage: false as const }
        : answer;
    const parts = partsOf(told, this.#cache.count(wire, request.parsed), number);
    this.#signed.add(parts);
    response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${number}` });
    const frames = framesOf(wire, parts, model);
    for (const [at, text] of frames.entries()) {
      if (hold?.at === "middle" && at === middleOf(frames)) await this.#pass(hold.name);
      if (hold?.at === "end" && at === frames.length - 1) await this.#pass(hold.name);
      if (!(await write(response, text))) return;
    }
    if (fail?.kind === "endless") while (await write(response, MORE_FRAMES[wire]));
    if (fail?.kind === "cut") return void response.socket?.destroy();
    response.end();
  }

  async #pass(name: string): Promise<void> {
    const { open, reached } = this.gate(name);
    reached.resolve();
    await open.promise;
  }
}

const REFUSED = "invalid_request_error";
const NOTHING_LEFT: ScriptedAnswer = {
  fail: { kind: "status", status: 418, message: "The script has no more answers", type: "script_over" },
};

/** The frames that are sent, with what goes wrong among them. */
function framesOf(wire: WireName, parts: AnswerParts, model: string): readonly string[] {
  const frames = FRAMES[wire](parts, model);
  const { fail } = parts.answer;
  const middle = middleOf(frames);
  switch (fail?.kind) {
    case "event": {
      const error = ERROR_FRAMES[wire](fail.message ?? "Overloaded");
      return fail.when === "first" ? [error] : [...frames.slice(0, middle), error];
    }
    case "cut":
    case "early-end":
      return frames.slice(0, middle);
    case "malformed":
      return frames.toSpliced(fail.when === "first" ? 0 : middle, 0, 'data: {"half": \n\n');
    case "endless":
      return frames.slice(0, middle);
    default:
      return frames;
  }
}

/** Behind something that was said, and before anything has ended. */
function middleOf(frames: readonly string[]): number {
  return Math.max(1, Math.min(frames.length - 1, Math.ceil(frames.length / 2)));
}

/** True where nothing is left to be sent. */
function refusedAtOnce(fail: ScriptedFailure, wire: WireName, response: ServerResponse): boolean {
  switch (fail.kind) {
    case "status": {
      const { status, message = "It failed", body, headers = {}, ...more } = fail;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body ?? errorBody(wire, status, message, more));
      return true;
    }
    case "page":
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Sign in</body></html>");
      return true;
    case "cut":
      if (fail.when === "before") response.socket?.destroy();
      return fail.when === "before";
    default:
      return fail.kind === "silent";
  }
}

/** False once nobody reads any longer. */
async function write(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed || response.closed) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(text, () => resolve());
  response.once("close", resolve);
  await promise;
  response.off("close", resolve);
  return !response.destroyed;
}

function wireOf(url: string): WireName | null {
  if (url.startsWith("/anthropic/v1/messages")) return "anthropic";
  if (url.startsWith("/openai/v1/responses")) return "openai";
  if (url.includes("/chat/completions")) return "openai-compatible";
  return url.includes(":streamGenerateContent") ? "google" : null;
}

/** This wire tells of usage only when it is asked to. */
function asksForUsage(parsed: unknown): boolean {
  const { stream_options: options } = (parsed ?? {}) as {
    readonly stream_options?: { readonly include_usage?: boolean };
  };
  return options?.include_usage === true;
}

function modelOf(url: string, parsed: unknown): string {
  const named = (parsed as { readonly model?: unknown } | null)?.model;
  return typeof named === "string" ? named : decodeURIComponent(/models\/([^:]+):/.exec(url)?.[1] ?? "");
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
