import { readFile, stat } from "node:fs/promises";
import { CLIENT_ROUTES } from "#edges/http/client/routes";
import { ApiError } from "#edges/http/client/api-error";
import { Transport } from "#edges/http/client/transport";
import { type Call, remark } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";
import { ERROR_GROUPS, type ErrorCode, LogError } from "#log/errors";
import { namedFetch } from "./named-fetch.ts";
import type { RemoteBundle } from "./remote-address.ts";

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
      : "What was given as the token is none: one word, as `holdfast token add` printed it. Nothing was sent",
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
