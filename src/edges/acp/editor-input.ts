import { checkServers, type McpServer } from "#agent/mcp/mcp-server";
import { McpServers } from "#agent/mcp/mcp-servers";
import { SKILL_ORDER_HINT } from "#agent/skills/change-skills";
import { isLogError } from "#log/errors";
import { type Fields, fieldsOf, listIn, textIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";
import type { PromptContent } from "#turn/accept";

/** The commands that a user can give to the loop itself. */
export const LOOP_COMMANDS: readonly { readonly [name: string]: Json }[] = [
  {
    name: "compact",
    description: "Summarize the conversation to free context; the log keeps every message",
    input: { hint: "focus of the summary" },
  },
  { name: "model", description: "Switch to another model", input: { hint: "provider/name" } },
  {
    name: "skill",
    description: "List, activate or deactivate skills",
    input: { hint: SKILL_ORDER_HINT },
  },
  { name: "continue", description: "Resume an interrupted, stopped or waiting turn" },
];

export interface LoopCommand {
  readonly name: "compact" | "model" | "skill" | "continue";
  readonly rest: string;
}

/** The command in a prompt; null for a prompt to the model. */
export function loopCommandIn(content: PromptContent): LoopCommand | null {
  const [block, ...more] = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (block?.type !== "text" || more.length > 0) return null;
  const match = /^\/(compact|model|skill|continue)(?:\s(.*))?$/s.exec(block.text.trim());
  if (match === null) return null;
  return { name: match[1] as LoopCommand["name"], rest: (match[2] ?? "").trim() };
}

interface SessionServers {
  /** The list of servers as text, to be compared. */
  readonly text: string;
  readonly servers: McpServers;
}

/** The MCP servers that an editor gives with its sessions: held with the conversation, secrets in memory only. */
export class EditorServers {
  readonly #servers = new Map<string, SessionServers>();

  /** Those that the params of a session name; the same as long as they are. */
  of(conversation: string, params: string | null): readonly McpServers[] {
    const list = fieldsOf(params === null ? null : readJson(params))["mcpServers"];
    const text = JSON.stringify(list ?? []);
    const current = this.#servers.get(conversation);
    if (current?.text === text) return [current.servers];
    void this.release(conversation);
    const servers = serversIn(list ?? null);
    if (servers.length === 0) return [];
    const fresh = { text, servers: new McpServers(servers) };
    this.#servers.set(conversation, fresh);
    return [fresh.servers];
  }

  async release(conversation: string): Promise<void> {
    const current = this.#servers.get(conversation);
    this.#servers.delete(conversation);
    await current?.servers.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((conversation) => this.release(conversation)));
  }
}

/** A server that cannot be opened does not affect the others and is reported as missing. */
function serversIn(list: Json): readonly McpServer[] {
  const servers: McpServer[] = [];
  for (const entry of listIn(list)) {
    try {
      servers.push(...checkServers([...servers, serverOf(entry)]).slice(servers.length));
    } catch (error) {
      if (!isLogError(error, "invalid_request")) throw error;
    }
  }
  return servers;
}

function serverOf(entry: Fields): McpServer {
  const name = wordsIn(entry["name"]);
  const url = textIn(entry["url"]);
  if (url !== null && entry["type"] !== "sse") return { name, url, headers: pairsIn(entry["headers"]) };
  const args = entry["args"];
  return {
    name,
    command: wordsIn(entry["command"]),
    args: Array.isArray(args) ? (args as readonly Json[]).map((word) => wordsIn(word)) : [],
    env: pairsIn(entry["env"]),
  };
}

function pairsIn(pairs: Json | undefined): Record<string, string> {
  return Object.fromEntries(listIn(pairs).map(({ name, value }) => [wordsIn(name), wordsIn(value)]));
}
