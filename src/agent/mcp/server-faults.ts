import { errorText } from "#turn/effects/tool-output";
import type { McpServer } from "./mcp-server.ts";

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
      ? `there is no program ${server.command}`
      : `there is no program ${server.command}, or no folder ${server.cwd}`;
  if ("command" in server && codes.has("EACCES")) return `${server.command} is no program that may run`;
  const told = causes.map(errorText).filter((words, at, all) => all.indexOf(words) === at);
  return told.length === 0 ? errorText(error) : told.join(": ");
}

/** What `fetch` says of a connection is in the cause of its error. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < CAUSES_MAX; one = one.cause) causes.push(one);
  return causes;
}

/** Words of and about a server, without what it was given in confidence: they are shown, and told to models. */
export function withoutGiven(server: McpServer, words: string): string {
  const given = "url" in server ? inAddress(server) : inProgram(server);
  const secrets = given.filter(({ length }) => length >= SECRET_CHARS_MIN);
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), words);
}

function inAddress({ url, headers = {} }: Extract<McpServer, { url: string }>): readonly string[] {
  const { searchParams, search } = new URL(url);
  // "Bearer KEY": the key alone may be said, too.
  const values = Object.values(headers);
  const parts = values.flatMap((value) => value.split(/\s+/).slice(1));
  return [search.slice(1), ...searchParams.values(), ...values, ...parts];
}

function inProgram({ args = [], env = {} }: Extract<McpServer, { command: string }>): readonly string[] {
  const behindFlags = args.filter((_, at) => SECRET_FLAG.test(args[at - 1] ?? ""));
  const assigned = args.map((word) => /^[^=]*=(.*)$/s.exec(word)?.[1] ?? "");
  return [...behindFlags, ...assigned, ...Object.values(env)];
}
