/** A model server on loopback: records what it is sent, in order, and answers by script or by the scripted replies. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parsed } from "./json.ts";
import { scriptedReply } from "./scripted-replies.ts";
import { PromptCache } from "./prompt-cache.ts";
import {
  type Mode,
  type ModeName,
  type RefusalName,
  type Reply,
  STREAM_MODES,
  type StreamName,
} from "./reply.ts";
import type { RawRequest, Reading, Wire } from "./wire.ts";

/** One request the server was sent. */
interface ModelRequest extends RawRequest, Reading {
  /** What it was answered. */
  readonly reply: Reply;
}

type Script = (request: RawRequest & Reading) => Reply | undefined;

export interface FakeModel extends AsyncDisposable {
  readonly url: string;
  /** The requests of the conversation; `side: true` for all of them. */
  requests(options?: { readonly side?: boolean }): readonly ModelRequest[];
  /** The script answers first; where it has nothing to say, the scripted replies do. */
  say(script: Script | undefined): void;
  /** The next turn requests are answered in this mode. */
  next(mode: ModeName | Mode, times?: number): void;
  /** Every turn request is, until told otherwise. */
  stick(mode: ModeName | Mode | undefined): void;
  /** Lets replies that hang go on to their end. */
  release(): void;
}

export async function fakeModel(wire: Wire): Promise<FakeModel> {
  const log: ModelRequest[] = [];
  const queue: Mode[] = [];
  const held: (() => void)[] = [];
  const cache = new PromptCache();
  let script: Script | undefined;
  let sticky: Mode | undefined;

  const named = (mode: ModeName | Mode): Mode => (typeof mode === "string" ? modeOf(wire, mode) : mode);
  const decide = (request: RawRequest & Reading): Reply => {
    if (request.kind !== "turn") return request.aside ?? { text: "ok" };
    const usual = script?.(request) ?? scriptedReply(request);
    const mode = queue.shift() ?? sticky;
    return mode === undefined ? usual : mode(usual);
  };
  const serve = async (message: IncomingMessage, out: ServerResponse): Promise<void> => {
    const raw = await rawOf(message);
    const request = { ...raw, ...wire.read(raw) };
    const decided = decide(request);
    const reply = decided.status === undefined ? { ...decided, counted: cache.count(request) } : decided;
    log.push({ ...request, reply });
    await answer(out, { wire, reply, raw, hold: () => new Promise((go) => held.push(go)) });
  };
  const server = createServer((message, out) => {
    // A client that went away mid-answer is what the tests are about, not a fault of the server.
    serve(message, out).catch(() => out.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));

  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests: (options = {}) => log.filter(({ kind }) => kind === "turn" || options.side === true),
    say: (next) => {
      script = next;
    },
    next: (mode, times = 1) => queue.push(...Array.from({ length: times }, () => named(mode))),
    stick: (mode) => {
      sticky = mode === undefined ? undefined : named(mode);
    },
    release: () => held.splice(0).forEach((go) => go()),
    [Symbol.asyncDispose]: () => shut(server),
  };
}

function modeOf(wire: Wire, name: ModeName): Mode {
  return name in STREAM_MODES
    ? STREAM_MODES[name as StreamName]
    : (): Reply => wire.refusal(name as RefusalName);
}

async function rawOf(message: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: message.headers,
    body: parsed(Buffer.concat(chunks).toString("utf8")),
  };
}

const CUT_MS = 1_000; // an agent on a busy machine reads them a while later, and forgets what it has not passed on

interface Answering {
  readonly wire: Wire;
  readonly reply: Reply;
  readonly raw: RawRequest;
  readonly hold: () => Promise<void>;
}

async function answer(out: ServerResponse, { wire, reply, raw, hold }: Answering): Promise<void> {
  if (reply.status !== undefined) return sendJson(out, reply.body, reply);
  const whole = wire.whole(reply, raw);
  if (whole !== undefined) {
    if (reply.end === "cut") return void out.destroy();
    if (reply.end === "hang") await hold();
    return sendJson(out, whole, {});
  }
  out.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const frames = wire.frames(reply, raw);
  for (const part of frames) {
    out.write(part);
    if (reply.pieceMs !== undefined) await pause(reply.pieceMs);
  }
  if (reply.end === "cut") {
    // The bytes must have left before the socket is torn, or there is nothing to cut off.
    await new Promise<void>((flushed) => out.write(": cut\n\n", () => flushed()));
    await pause(CUT_MS);
    return void out.destroy();
  }
  if (reply.end === "hang") {
    await hold();
    const { end: _, ...rest } = reply;
    const full = wire.frames(rest, raw);
    for (const part of full.slice(frames.length)) out.write(part);
  }
  out.end();
}

function sendJson(out: ServerResponse, body: unknown, { status = 200, headers = {} }: Reply): void {
  out.writeHead(status, { "content-type": "application/json", ...headers });
  out.end(JSON.stringify(body ?? {}));
}

async function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
