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

/** Those that were given for this conversation and no other, and go with what is held of it. */
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

/** What the log keeps of servers and lists of tools, where it is another than before: so that what is missing can be named. */
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
