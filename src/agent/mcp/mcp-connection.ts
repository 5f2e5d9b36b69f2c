import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Clock } from "#conversation/clock";
import { LogError } from "#log/errors";
import { fieldsOf, textIn, wordsIn, type Fields, fieldsIn, listIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { identityText } from "#turn/effects/process-group";
import type { ToolOutput, ToolRun } from "#turn/effects/tool";
import { errorText } from "#turn/effects/tool-output";
import { loadSdk, type McpSdk } from "./load-sdk.ts";
import type { McpServer } from "./mcp-server.ts";
import { type OfferedTool, type OfferedTools, offeredTools } from "./mcp-tool-list.ts";
import { StdioTransport } from "./stdio-transport.ts";
import type { ContentBlock } from "#log/message";

export interface ConnectionOptions {
  readonly openMs: number;
  readonly clock: Clock;
}

interface Live {
  readonly client: Client;
  readonly transport: Transport;
  readonly sdk: McpSdk;
}

const OPENINGS_MAX = 5; // in a minute: a server that dies of every call is not started for ever
const OPENINGS_MS = 60_000;
const RETRY_MS = 30_000; // after a failure, where nobody calls it
const PAGES_MAX = 32;
const PING_MS = 2_000;
const CALL_MS_MAX = 2_147_483_647; // the tool's own limit counts
const PROGRESS_CHARS_MAX = 1_000;

/** One server: opened when it is needed, once more when it died, and listened to when its tools change. */
export class McpConnection {
  readonly server: McpServer;
  readonly #options: ConnectionOptions;
  #live: Live | null = null;
  #opening: Promise<void> | null = null;
  #checking: Promise<void> = Promise.resolve();
  #offered: OfferedTools = { tools: [], issues: [] };
  #listChanged: boolean = false;
  #failure: { readonly message: string; readonly atMs: number } | null = null;
  #openings: readonly number[] = [];
  #closed: boolean = false;
  openedInMs: number | null = null;

  constructor(server: McpServer, options: ConnectionOptions) {
    this.server = server;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#live !== null;
  }

  /** Why it is not open; null where nothing went wrong. */
  get problem(): string | null {
    return this.#failure?.message ?? null;
  }

  get offered(): OfferedTools {
    return this.#offered;
  }

  /** Opens it for a prompt, or reads its list again where it said that it changed. What fails is told by `problem`. */
  async ready(): Promise<void> {
    const { clock } = this.#options;
    const isLate = this.#failure !== null && clock.steadyMs() - this.#failure.atMs < RETRY_MS;
    // One that died stays known by its tools: a call opens it again.
    const isKnown = this.#live === null && this.#offered.tools.length > 0;
    if (this.#live === null && !isLate && !isKnown) await this.open().catch(() => undefined);
    else if (this.#live !== null && this.#listChanged) await this.#list(this.#live).catch(() => undefined);
  }

  async open(): Promise<void> {
    await this.#checking;
    if (this.#live !== null) return;
    this.#opening ??= this.#openNow().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openNow(): Promise<void> {
    const { clock, openMs } = this.#options;
    const startMs = clock.steadyMs();
    this.#openings = this.#openings.filter((atMs) => startMs - atMs < OPENINGS_MS);
    let transport: Transport | null = null;
    try {
      if (this.#closed) throw new Error("it was closed");
      if (this.#openings.length >= OPENINGS_MAX)
        throw new Error(
          `it was started ${OPENINGS_MAX} times in the last minute. Holdfast waits before it tries again`,
        );
      this.#openings = [...this.#openings, startMs];
      const startedMs = performance.now();
      const sdk = await loadSdk();
      transport = transportTo(this.server, sdk);
      const client = new sdk.Client({ name: "holdfast", version: "1" });
      await client.connect(transport, { timeout: openMs });
      const live: Live = { client, transport, sdk };
      client.setNotificationHandler(sdk.ListChangedSchema, () => {
        this.#listChanged = true;
      });
      Object.assign(client, { onclose: () => this.#lost(live) });
      await this.#list(live);
      this.#live = live;
      this.#failure = null;
      this.openedInMs = performance.now() - startedMs;
    } catch (cause) {
      await transport?.close().catch(() => undefined);
      const suffix =
        transport instanceof StdioTransport && transport.endText !== "" ? ` (${transport.endText})` : "";
      const why = openingFault(this.server, cause, openMs);
      this.#fail(`did not start: ${why}${suffix}`);
      throw new LogError("store_failed", this.problem ?? why, { server: this.server.name }, { cause });
    }
  }

  #lost(live: Live): void {
    if (this.#live !== live) return;
    this.#live = null;
    const { transport } = live;
    const reason = transport instanceof StdioTransport ? transport.endText : "its connection was closed";
    this.#fail(reason || "is gone");
  }

  #fail(reason: string): void {
    const content = withoutCredentials(this.server, `MCP server ${this.server.name} ${reason}`);
    const message = content.slice(0, MESSAGE_CHARS_MAX).toWellFormed();
    this.#failure = { message, atMs: this.#options.clock.steadyMs() };
  }

  async #list({ client, sdk }: Live): Promise<void> {
    this.#listChanged = false;
    if (client.getServerCapabilities()?.tools === undefined) return;
    const toolRecords: Json[] = [];
    const cursors = new Set<string>();
    let cursor: string | null = null;
    do {
      const params: { cursor?: string } = cursor === null ? {} : { cursor };
      const timeout = this.#options.openMs;
      const page = await client.request({ method: "tools/list", params }, sdk.ResultSchema, { timeout });
      const { tools, nextCursor } = fieldsOf(page as Json);
      if (!Array.isArray(tools)) throw new Error("its list of tools is not an array");
      toolRecords.push(...(tools as readonly Json[]));
      cursor = textIn(nextCursor);
      // One that leads in a circle is at its end.
      if (cursor !== null && cursors.has(cursor)) cursor = null;
      else if (cursor !== null) cursors.add(cursor);
    } while (cursor !== null && cursors.size < PAGES_MAX);
    this.#offered = offeredTools(this.server.name, toolRecords);
  }

  /** Calls a tool. A failure is an output, too; only a cancelled call throws. */
  async call({ own, name }: OfferedTool, input: Json, run: ToolRun): Promise<ToolOutput> {
    try {
      await this.open();
    } catch (error) {
      return { content: `${name} was not called. ${errorText(error)}.`, isError: true };
    }
    const live = this.#live;
    if (live === null)
      return { content: `${name} was not called: its server is not running.`, isError: true };
    const { client, transport, sdk } = live;
    if (transport instanceof StdioTransport && transport.identity !== null)
      await run.recordProcess(identityText(transport.identity));
    try {
      const params = { name: own, arguments: fieldsOf(input) };
      const result = await client.request({ method: "tools/call", params }, sdk.ResultSchema, {
        signal: run.signal,
        timeout: CALL_MS_MAX,
        onprogress: ({ progress, total, message }) => run.progress(progressText(progress, total, message)),
      });
      return outputOf(result as Json);
    } catch (error) {
      if (run.signal.aborted) {
        this.#checking = this.#endIfStuck(live);
        throw error;
      }
      return { content: await this.#failed(name, live, error), isError: true };
    }
  }

  /** What a model is told of a call that broke; a connection that broke with it is opened again by the next. */
  async #failed(name: string, live: Live, error: unknown): Promise<string> {
    const code = error instanceof Error && "code" in error ? error.code : null;
    const detail = withoutCredentials(this.server, errorText(error));
    // The server answered with an error, so it still runs.
    if (typeof code === "number" && code < 0 && this.#live === live) return `${name} failed: ${detail}`;
    await live.client.close().catch(() => undefined);
    this.#lost(live);
    return `${name} did not finish: ${this.problem ?? detail} (${detail}). It may have taken effect. Verify before you repeat it. The next call restarts the server.`;
  }

  /** One that does not answer any more is ended: nothing it still does would be heard of. */
  async #endIfStuck(live: Live): Promise<void> {
    await live.client.ping({ timeout: PING_MS }).catch(async () => {
      await live.client.close().catch(() => undefined);
      this.#lost(live);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.end();
  }

  /** Ends the server's process; the next call starts it again. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#checking;
    const live = this.#live;
    this.#live = null;
    await live?.client.close();
    this.#openings = []; // it was no fault of the server's
  }
}

const MESSAGE_CHARS_MAX = 2_000;

function transportTo(server: McpServer, { HttpTransport, commonEnv }: McpSdk): Transport {
  if (!("url" in server)) return new StdioTransport(server, commonEnv());
  return new HttpTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: limitedFetch,
  });
}

function progressText(progress: number, total: number | undefined, message: string | undefined): string {
  const far = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return `${far}${message === undefined ? "" : ` ${wordsIn(message).slice(0, PROGRESS_CHARS_MAX)}`}\n`;
}

const ANSWER_BYTES_MAX = 16_777_216;
const LINE_FEED = 10;

/** A fetch whose answers end where they become too large: a whole one, or one event of a stream. */
export async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body, status, statusText, headers } = response;
  if (body === null || status < 200) return response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  return new Response(body.pipeThrough(byteLimit(isStream)), { status, statusText, headers });
}

/** `perEvent`: an empty line resets the count. */
function byteLimit(perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = perEvent ? lastEventEnd(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > ANSWER_BYTES_MAX)
        controller.error(new Error(`the server sent more than ${ANSWER_BYTES_MAX} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}

function lastEventEnd(chunk: Uint8Array): number {
  for (let index = chunk.length - 1; index > 0; index--)
    if (chunk[index] === LINE_FEED && (chunk[index - 1] === LINE_FEED || chunk[index - 2] === LINE_FEED))
      return index;
  return -1;
}

const BLOCKS_MAX = 256;
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]); // what models are shown
const IMAGE_BYTES_MAX = 5_242_880; // what providers take
const URI_CHARS_MAX = 1_024;

/** What a server answered to a call, as a tool's output: text and images for the model, structured content beside it. */
export function outputOf(result: Json): ToolOutput {
  const fields = fieldsIn(result);
  if (fields === null || (fields["content"] !== undefined && !Array.isArray(fields["content"])))
    return { content: "The server sent an invalid result.", isError: true };
  const blocks = listIn(fields["content"]);
  const structured = fieldsIn(fields["structuredContent"]);
  const content = blocks.slice(0, BLOCKS_MAX).map((block) => blockOf(block));
  const more: ContentBlock[] =
    blocks.length > BLOCKS_MAX ? [textBlock(`[${blocks.length - BLOCKS_MAX} more parts omitted]`)] : [];
  // A server that gives nothing to read has said it all in what it gives to programs.
  const instead = content.length === 0 && structured !== null ? [textBlock(JSON.stringify(structured))] : [];
  return {
    content: [...content, ...more, ...instead],
    ...(structured === null ? {} : { details: { structured } }),
    ...(fields["isError"] === true ? { isError: true } : {}),
  };
}

function textBlock(content: string): ContentBlock {
  return { type: "text", text: content };
}

function blockOf(block: Fields): ContentBlock {
  const { type } = block;
  if (type === "text") return textBlock(wordsIn(block["text"]));
  if (type === "image" || type === "audio") return mediaOf(block["mimeType"], block["data"]);
  if (type === "resource_link") return textBlock(`[Resource: ${nameOf(block)}]`);
  const resource = type === "resource" ? fieldsIn(block["resource"]) : null;
  if (resource === null) return textBlock(`[A part of an unknown type was omitted]`);
  const content = textIn(resource["text"]);
  if (content !== null) return textBlock(`[Resource ${nameOf(resource)}]\n${content}`);
  return mediaOf(resource["mimeType"], resource["blob"]);
}

function nameOf({ uri, name }: Fields): string {
  const [place, title] = [wordsIn(uri), wordsIn(name)].map((value) =>
    value.slice(0, URI_CHARS_MAX).toWellFormed(),
  );
  return [title, place].filter((text) => text !== "").join(" at ");
}

/** Images that a model can be shown; of other bytes only that they were there: one that no provider takes spoils every turn to come. */
function mediaOf(mimeType: Json | undefined, data: Json | undefined): ContentBlock {
  const mediaType = wordsIn(mimeType).slice(0, 100) || "data";
  const encoded = wordsIn(data);
  const bytes = Buffer.from(encoded, "base64");
  const isExact = bytes.length > 0 && bytes.toString("base64") === encoded;
  if (IMAGE_TYPES.has(mediaType) && isExact && bytes.length <= IMAGE_BYTES_MAX)
    return { type: "image", mediaType, data: encoded };
  return textBlock(
    `[${isExact ? "" : "Invalid "}${mediaType.toWellFormed()} of ${bytes.length} bytes omitted]`,
  );
}

const TIMED_OUT = -32_001; // how the SDK says that no answer came
const SECRET_CHARS_MIN = 6; // shorter ones are words of any sentence
const SECRET_FLAG = /^-.*(key|token|secret|pass|auth|cred)/i;
const CAUSES_MAX = 8;

/** Why a server could not be opened, in words for people. */
export function openingFault(server: McpServer, error: unknown, openMs: number): string {
  const causes = causesOf(error);
  const codes = new Set(causes.map((one) => ("code" in one ? one.code : null)));
  if (codes.has(TIMED_OUT)) return `it did not answer within ${openMs / 1_000} seconds`;
  if ("command" in server && codes.has("ENOENT"))
    return server.cwd === undefined
      ? `program ${server.command} not found`
      : `program ${server.command} or folder ${server.cwd} not found`;
  if ("command" in server && codes.has("EACCES")) return `${server.command} is not executable`;
  const messages = causes.map(errorText).filter((value, index, all) => all.indexOf(value) === index);
  return messages.length === 0 ? errorText(error) : messages.join(": ");
}

/** What `fetch` says of a connection is in the cause of its error. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < CAUSES_MAX; one = one.cause) causes.push(one);
  return causes;
}

/** Words of and about a server, without what it was given in confidence: they are shown, and told to models. */
export function withoutCredentials(server: McpServer, message: string): string {
  const values = "url" in server ? inAddress(server) : inProgram(server);
  const secrets = values.filter(({ length }) => length >= SECRET_CHARS_MIN);
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), message);
}

function inAddress({ url, headers = {} }: Extract<McpServer, { url: string }>): readonly string[] {
  const { searchParams, search } = new URL(url);
  // "Bearer KEY": the key alone may be said, too.
  const values = Object.values(headers);
  const parts = values.flatMap((value) => value.split(/\s+/).slice(1));
  return [search.slice(1), ...searchParams.values(), ...values, ...parts];
}

function inProgram({ args = [], env = {} }: Extract<McpServer, { command: string }>): readonly string[] {
  const behindFlags = args.filter((_, index) => SECRET_FLAG.test(args[index - 1] ?? ""));
  const assigned = args.map((word) => /^[^=]*=(.*)$/s.exec(word)?.[1] ?? "");
  return [...behindFlags, ...assigned, ...Object.values(env)];
}
