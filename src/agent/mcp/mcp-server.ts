import { LogError } from "#log/errors";
import { type Fields, listIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

interface AnyServer {
  /** Its tools are called `NAME__tool`. */
  readonly name: string;
  /** Believes what it says of its tools: those that say they only read run without asking, and may run again. */
  readonly trusted?: boolean;
  /** How long a call may take. */
  readonly timeoutMs?: number;
}

/** A server that is a program of this machine. */
export interface StdioServer extends AnyServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside a few that every program needs: the home folder, the path, the user. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is somewhere else (streamable HTTP). */
interface HttpServer extends AnyServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type McpServer = StdioServer | HttpServer;

const NAME_CHARS_MAX = 64;

/** Refuses what could not be opened whatever happens, and two servers of one name. */
export function checkServers(servers: readonly McpServer[]): readonly McpServer[] {
  const names = new Set<string>();
  for (const server of servers) {
    const { name } = server;
    if (typeof name !== "string" || name.trim() === "" || name.length > NAME_CHARS_MAX || /\p{C}/u.test(name))
      throw wrong(JSON.stringify(name ?? null), `name must be 1 to ${NAME_CHARS_MAX} characters on one line`);
    if (names.has(name)) throw wrong(name, "another server has the same name");
    names.add(name);
    checkPlace(server);
  }
  return servers;
}

function checkPlace(server: McpServer): void {
  const { name } = server;
  const [command, url] = ["command" in server ? server.command : null, "url" in server ? server.url : null];
  if ((command === null) === (url === null)) throw wrong(name, "set command or url, not both");
  if (url !== null && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw wrong(name, "url must start with http:// or https://");
  // `fetch` refuses it, and repeats it.
  if (url !== null && /^https?:\/\/[^/?#]*@/i.test(url))
    throw wrong(name, "url contains a user or a password. Send them in an Authorization header instead.");
  if (command !== null && (typeof command !== "string" || command.trim() === ""))
    throw wrong(name, "command must be a non-empty string");
  const pairs = "url" in server ? server.headers : server.env;
  for (const [key, value] of Object.entries(pairs ?? {}))
    if (typeof value !== "string" || value.includes("\0"))
      throw wrong(name, `${key} must be a string without zero bytes`);
}

function wrong(name: string, why: string): LogError {
  return new LogError("invalid_request", `MCP server ${name}: ${why}`, {
    server: name,
  });
}

/** As the log keeps it: to be recognised, never to be run. */
export function recordOfServer(server: McpServer, tools: readonly string[]): Fields {
  const { name } = server;
  const pairs = (values: Readonly<Record<string, string>> = {}): readonly { readonly name: string }[] =>
    Object.keys(values).map((key) => ({ name: key }));
  const place =
    "url" in server
      ? { type: "http", url: server.url, headers: pairs(server.headers) }
      : { command: server.command, env: pairs(server.env) };
  const [record = {}] = withoutSecrets([{ name, ...place }]);
  return tools.length === 0 ? record : { ...record, tools };
}

/**
 * The servers as the log keeps them, to be recognised and not to be run: what each is called, its program or the place
 * it is at, and the names of its variables and headers. Their values, arguments and queries may be secrets.
 */
export function withoutSecrets(servers: Json): readonly Fields[] {
  return listIn(servers).map((server) => withoutSecret(server));
}

function withoutSecret({ name, type, command, url, env, headers }: Fields): Fields {
  const place = typeof url === "string" ? { url: placeOf(url) } : {};
  const texts = Object.entries({ name, type, command }).filter(([, value]) => typeof value === "string");
  const lists = Object.entries({ env, headers }).filter(([, value]) => Array.isArray(value));
  const names = lists.map(([list, pairs]) => [list, namesIn(pairs ?? null)] as const);
  return { ...(Object.fromEntries(texts) as Fields), ...place, ...Object.fromEntries(names) };
}

function namesIn(pairs: Json): readonly Fields[] {
  return listIn(pairs).map((pair) => ({ name: pair["name"] ?? null }));
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
