import type { OptionTexts } from "#edges/cli/options";
import { readFile, stat } from "node:fs/promises";
import { CLIENT_ROUTES } from "#edges/http/client/routes";
import { ApiError } from "#edges/http/client/api-error";
import { Transport } from "#edges/http/client/transport";
import { type Call, answer, remark } from "#edges/cli/command";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { ERROR_GROUPS, type ErrorCode, LogError } from "#log/errors";
import { type IncomingMessage, request as askPlain } from "node:http";
import { request as askSecure } from "node:https";
import { Readable } from "node:stream";
import { copyChunks } from "./export-file.ts";
import { spooledFile } from "#transfer/bundles/open-import";
import { checkImport } from "#transfer/bundles/import-check";

export interface RemoteOptions {
  readonly withForks?: boolean;
  readonly redact?: boolean;
  readonly emails?: boolean;
}

/** The bytes of a bundle, as they come. */
export async function* fetchBundle(
  call: Call,
  { origin, conversations }: RemoteBundle,
  options: RemoteOptions = {},
): AsyncGenerator<Uint8Array> {
  const token = await tokenOf(call);
  const fetch = namedFetch(call.flags.text("server-name") ?? null);
  const transport = new Transport({ url: origin, token, fetch, retries: 2 });
  try {
    const { body } = await transport.send(CLIENT_ROUTES.exportBundle, {
      conversation: conversations,
      ...options,
    });
    if (body !== null) yield* body;
  } catch (error) {
    throw failed(origin, error);
  }
}

async function tokenOf(call: Call): Promise<string> {
  const file = call.flags.text("token-file");
  const given = file === undefined ? call.io.env["HOLDFAST_TOKEN"] : await readToken(call, file);
  const token = given?.trim() ?? "";
  if (/^[\w.~+/-]{1,256}=*$/.test(token)) return token;
  throw new LogError(
    "invalid_request",
    token === ""
      ? "A server wants a token: --token-file FILE, or the variable HOLDFAST_TOKEN. `holdfast token add` makes one there"
      : "Invalid token. Use the single word printed by `holdfast token add`.",
  );
}

async function readToken(call: Call, file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new LogError("invalid_request", `--token-file: ${file} cannot be read`, { file }, { cause });
  });
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0 && process.platform !== "win32" && !call.json)
    await remark(call, `${safeLine(file)} can be read by others: chmod 600 keeps the token yours`);
  return text;
}

/** What a server answered, as the command line tells it. */
function failed(origin: string, error: unknown): unknown {
  if (error instanceof ApiError) {
    const { code, status, message, next } = error;
    const told = `${origin} answered: ${message}. ${next}`;
    if (Object.hasOwn(ERROR_GROUPS, code)) return new LogError(code as ErrorCode, told, {}, { cause: error });
    return new LogError(
      status === 429 || status >= 500 ? "store_gone" : "invalid_request",
      told,
      {},
      { cause: error },
    );
  }
  if (error instanceof LogError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LogError("store_gone", `${origin} was not reached, or broke off: ${why}`, {}, { cause: error });
}

const SILENT_MS = 60_000;

/**
 * Asks a server by the name that it knows itself by, where a tunnel leads to it under another: fetch would put the tunnel's there.
 * Redirects are not followed: the token is for one server.
 */
export function namedFetch(name: string | null): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const ask = url.protocol === "https:" ? askSecure : askPlain;
    const answered = Promise.withResolvers<IncomingMessage>();
    const named = name === null ? {} : { servername: name.replace(/:\d+$/, "") };
    const headers = { ...Object.fromEntries(request.headers), ...(name === null ? {} : { host: name }) };
    const sent = ask(url, {
      method: request.method,
      headers,
      signal: request.signal,
      agent: false,
      ...named,
    });
    sent.once("response", answered.resolve);
    sent.once("error", answered.reject);
    sent.setTimeout(SILENT_MS, () => sent.destroy(new Error("it says nothing")));
    sent.end();
    const incoming = await answered.promise.catch((cause: unknown) => {
      throw new TypeError("not reached", { cause });
    });
    const given = new Headers();
    for (const [key, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) given.append(key, value);
    const status = incoming.statusCode ?? 500;
    const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    return new Response(status === 204 || status === 304 ? null : body, { status, headers: given });
  };
}

/** Conversations of a server into a file: what stands under its name afterwards is whole, and proven by its links. */
export async function exportFromServer(call: Call, url: string): Promise<void> {
  const { flags, args } = call;
  for (const name of ["format", "no-redact", "salvage"])
    if (flags.has(name) || flags.text(name) !== undefined)
      throw new LogError("invalid_request", `--${name} is for a store here; --from gives bundles`);
  const remote = remoteBundle(url, args);
  const bytes = fetchBundle(call, remote, {
    withForks: flags.has("with-forks"),
    redact: flags.has("redact"),
    emails: flags.has("emails"),
  });
  const file = flags.text("output") ?? "-";
  if (file === "-") {
    for await (const chunk of bytes) await call.io.out.writeBytes(chunk);
    return;
  }
  await using spooled = await spooledFile(`The bundle of ${remote.origin}`, bytes);
  const { logs, problems } = await checkImport(spooled.file, () => undefined);
  const [problem] = problems;
  if (problem !== undefined)
    throw new LogError(
      "damaged",
      `What ${remote.origin} sent is not whole: ${problem.message}. No file was written`,
    );
  await copyChunks(spooled.file.chunks(), { file, force: flags.has("force") });
  const entries = logs.reduce((sum, log) => sum + log.entries, 0);
  const ids = logs.map(({ header }) => header.conversation);
  const missing = [...new Set(logs.flatMap((log) => log.missing))];
  if (missing.length > 0 && !call.json)
    await remark(
      call,
      `${counted(missing.length, "image")} that entries name cannot be read there: ${missing.map(safeLine).join(", ")}`,
    );
  await answer(
    call,
    {
      conversation: ids[0],
      conversations: ids,
      file,
      from: remote.origin,
      entries,
      bytes: spooled.bytes,
      missing,
    },
    () => `Wrote ${counted(entries, "entry", "entries")} of ${safeLine(remote.origin)} to ${safeLine(file)}`,
  );
}

/** Conversations of a server that is asked over HTTP. */
interface RemoteBundle {
  readonly origin: string;
  readonly conversations: readonly string[];
}

/** The options for reading from a server. */
export const REMOTE_OPTIONS: OptionTexts = {
  "--token-file FILE": "a file with the token, readable by you alone (default: the variable HOLDFAST_TOKEN)",
  "--server-name NAME":
    "the server's name and port, if you reach it through a tunnel, such as 127.0.0.1:8080",
};

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * A server, by its address alone or by that of a conversation there: `URL/api/bundle?conversation=ID`, `URL/api/conversations/ID`,
 * or the page `URL/c/ID`.
 */
export function remoteBundle(text: string, ids: readonly string[]): RemoteBundle {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new LogError(
      "invalid_request",
      `Invalid server URL "${text}". It must start with https:// or http://.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new LogError(
      "invalid_request",
      "Remove the token from the URL. Use --token-file or HOLDFAST_TOKEN instead.",
    );
  // A token that goes over the network as it is can be read on the way.
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname))
    throw new LogError(
      "invalid_request",
      `Refusing to send the token to ${url.origin} without TLS. Use https:// or a tunnel to this machine.`,
    );
  const [, page] = /^\/(?:c|api\/conversations)\/([^/]+)$/.exec(url.pathname) ?? [];
  const isBundle = url.pathname === "/api/bundle";
  if (url.pathname !== "/" && page === undefined && !isBundle)
    throw new LogError(
      "invalid_request",
      `${url.origin}${url.pathname} is not the URL of a conversation or bundle`,
    );
  const named = page === undefined ? url.searchParams.getAll("conversation") : [decodeURIComponent(page)];
  const conversations = [...ids, ...named];
  if (conversations.length === 0)
    throw new LogError(
      "invalid_request",
      `Say which conversation of ${url.origin} is meant: ${url.origin}/c/ID`,
    );
  return { origin: url.origin, conversations };
}
