import type { EntryBody } from "#log/entry";
import { type Fields, wordsIn, isSameJson } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { readConfig, withConfig } from "#log/projections/config";
import type { Tool } from "#turn/effects/tool";
import type { McpServers } from "./mcp-servers.ts";

/** Servers for all conversations, or those for one: a function that is given its id. */
export type ServersInput =
  | McpServers
  | readonly McpServers[]
  | ((conversation: string) => readonly McpServers[]);

export function serversFor(servers: ServersInput | null, conversation: string): readonly McpServers[] {
  if (servers === null) return [];
  if (typeof servers === "function") return servers(conversation);
  return "tools" in servers ? [servers] : servers;
}

/** Returns the servers of this conversation alone, which the pool closes with it. */
export function ownServers(servers: ServersInput | null, conversation: string): readonly McpServers[] {
  return typeof servers === "function" ? servers(conversation) : [];
}

/** Their tools, opened for it. A name that is taken is its first owner's. */
export async function serverTools(
  servers: readonly McpServers[],
  before: readonly Tool[],
): Promise<readonly Tool[]> {
  const names = new Set(before.map(({ name }) => name));
  const all = (await Promise.all(servers.map((one) => one.tools()))).flat();
  return all.filter(({ name }) => !names.has(name) && names.add(name));
}

/** Returns the entry that records the servers and their tools if they changed, so that `restore` can name missing ones. */
export function serverBodies(config: Fields, servers: readonly McpServers[]): readonly EntryBody[] {
  const stored = readConfig(config).mcpServers ?? [];
  const records = withKnownTools(
    servers.flatMap((one) => one.records()),
    stored,
  );
  const names = new Set(records.map(({ name }) => name));
  const next = [...stored.filter(({ name }) => !names.has(name ?? null)), ...records];
  if (records.length === 0 || isSameJson(byName(next), byName(stored))) return [];
  return [{ type: "config_change", config: withConfig(config, { mcpServers: next }) }];
}

/** A server that says nothing of its tools, for it is not open, has those that it had. */
export function withKnownTools(records: readonly Fields[], stored: readonly Fields[]): readonly Fields[] {
  return records.map((record) => {
    const { tools } = stored.find(({ name }) => name === record["name"]) ?? {};
    return record["tools"] !== undefined || tools === undefined ? record : { ...record, tools };
  });
}

function byName(records: readonly Fields[]): Json {
  return records.toSorted((one, other) => (wordsIn(one["name"]) < wordsIn(other["name"]) ? -1 : 1));
}

/** A server of a conversation, as it stands here. */
export interface RestoredServer {
  readonly name: string;
  /** `missing`: the log names it, and this host gave none of that name. Nothing is started because a log names it. */
  readonly state: "open" | "failed" | "missing";
  /** Of one that is not open: those it had when it was. */
  readonly tools: readonly string[];
  /** How long it took until it could be called. */
  readonly openedInMs: number | null;
  /** For people. */
  readonly problems: readonly string[];
}

/** Opens the servers that the host gave, and says of all that the conversation has how they stand. */
export async function restoreServers(
  config: Fields,
  hostServers: readonly McpServers[],
): Promise<readonly RestoredServer[]> {
  const states = (await Promise.all(hostServers.map((one) => one.open()))).flat();
  const stored = (readConfig(config).mcpServers ?? []).filter(({ name }) => typeof name === "string");
  const toolsOf = (name: string): readonly string[] =>
    namesIn(stored.find((one) => one["name"] === name)?.["tools"]);
  const opened = states.map(({ name, state, tools, openedInMs, problems }): RestoredServer => {
    const toolNames = tools.length === 0 ? toolsOf(name) : tools;
    if (state === "open")
      return {
        name,
        state,
        tools,
        openedInMs,
        problems: problems.map((one) => `MCP server ${name}: ${one}`),
      };
    const why = `${problems[0] ?? `MCP server ${name} is closed`}. ${cannotBeCalled(toolNames)}`;
    return { name, state: "failed", tools: toolNames, openedInMs: null, problems: [why] };
  });
  const names = new Set(states.map(({ name }) => name));
  const missing = stored.flatMap(({ name }): readonly RestoredServer[] => {
    if (typeof name !== "string" || names.has(name)) return [];
    const tools = toolsOf(name);
    const why = `MCP server ${name} of this conversation is not configured here. ${cannotBeCalled(tools)}`;
    return [{ name, state: "missing", tools, openedInMs: null, problems: [why] }];
  });
  return [...opened, ...missing];
}

function namesIn(tools: Json | undefined): readonly string[] {
  return Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [];
}

function cannotBeCalled(tools: readonly string[]): string {
  return tools.length === 0 ? "Its tools are unavailable" : `Its tools are unavailable: ${tools.join(", ")}`;
}
