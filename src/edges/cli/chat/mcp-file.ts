import type { OptionTexts } from "#edges/cli/options";
import { readFile } from "node:fs/promises";
import { LogError } from "#log/errors";
import { type Fields, fieldsIn, fieldsOf, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { McpServer } from "#agent/mcp/mcp-server";
import { McpServers } from "#agent/mcp/mcp-servers";
import type { Call } from "#edges/cli/command";
import { readJson } from "#log/json/read-json";

export const MCP_OPTION: OptionTexts = {
  "--mcp FILE":
    'a JSON file with "mcpServers": the model may call their tools, with approval; ${NAME} is a variable',
};

/** The servers of `--mcp`, closed when the command is over; null where it was not given. */
export async function mcpServersOf(call: Call): Promise<McpServers | null> {
  const file = call.flags.text("mcp");
  if (file === undefined) return null;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new LogError("invalid_request", `--mcp: ${file} cannot be read`, { file }, { cause });
  });
  const servers = new McpServers(readServers(text, file, call.io.env));
  call.onEnd(() => servers.close());
  return servers;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The servers in a file of the shape that many programs share. */
export function readServers(text: string, file: string, env: Env): readonly McpServer[] {
  const wrong = (reason: string): LogError =>
    new LogError("invalid_request", `--mcp ${file}: ${reason}`, { file });
  let whole: Json;
  try {
    whole = readJson(text);
  } catch {
    throw wrong("it is not valid JSON");
  }
  const servers = fieldsIn(fieldsOf(whole)["mcpServers"]);
  if (servers === null) throw wrong('it has no "mcpServers", an object of servers by their names');
  return Object.entries(servers).flatMap(([name, fields]): readonly McpServer[] => {
    const server = fieldsIn(fields);
    if (server === null) throw wrong(`${name} must be an object`);
    if (server["disabled"] === true) return [];
    return [serverOf(name, server, (value) => expanded(value, env, (reason) => wrong(`${name}: ${reason}`)))];
  });
}

function serverOf(name: string, fields: Fields, expand: (text: string) => string): McpServer {
  const { type, command, url, args, cwd, trust } = fields;
  if (type === "sse")
    throw new LogError(
      "invalid_request",
      `--mcp: ${name} is of the old kind sse; stdio and http are known here`,
    );
  const trustField = trust === true ? { trusted: true } : {};
  const members = (object: Json | undefined): Record<string, string> =>
    Object.fromEntries(
      Object.entries(fieldsOf(object)).map(([key, value]) => [key, expand(textIn(value) ?? "")]),
    );
  if (typeof url === "string")
    return { name, url: expand(url), headers: members(fields["headers"]), ...trustField };
  const text = Array.isArray(args) ? (args as readonly Json[]).map((word) => expand(textIn(word) ?? "")) : [];
  const cwdField = typeof cwd === "string" ? { cwd: expand(cwd) } : {};
  return {
    name,
    command: expand(textIn(command) ?? ""),
    args: text,
    env: members(fields["env"]),
    ...cwdField,
    ...trustField,
  };
}

/** `${NAME}` is the variable of this name, `${NAME:-words}` has words where there is none. */
function expanded(text: string, env: Env, wrong: (reason: string) => LogError): string {
  return text.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_, name: string, otherwise?: string) => {
      const value = env[name] ?? otherwise;
      if (value === undefined) throw wrong(`the variable ${name} is not set`);
      return value;
    },
  );
}
