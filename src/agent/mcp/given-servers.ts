import type { EntryBody } from "#log/entry";
import { type Fields, wordsIn, isSameJson } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { readConfig, withConfig } from "#log/projections/config";
import type { Tool } from "#turn/effects/tool";
import type { McpServers } from "./mcp-servers.ts";

/** Servers for all conversations, or those for one: a function that is given its id. */
export type ServersGiven =
  | McpServers
  | readonly McpServers[]
  | ((conversation: string) => readonly McpServers[]);

export function serversFor(given: ServersGiven | null, conversation: string): readonly McpServers[] {
  if (given === null) return [];
  if (typeof given === "function") return given(conversation);
  return "tools" in given ? [given] : given;
}

/** Those that were given for this conversation and no other, and go with what is held of it. */
export function ownServers(given: ServersGiven | null, conversation: string): readonly McpServers[] {
  return typeof given === "function" ? given(conversation) : [];
}

/** Their tools, opened for it. A name that is taken is its first owner's. */
export async function serverTools(
  servers: readonly McpServers[],
  before: readonly Tool[],
): Promise<readonly Tool[]> {
  const taken = new Set(before.map(({ name }) => name));
  const all = (await Promise.all(servers.map((one) => one.tools()))).flat();
  return all.filter(({ name }) => !taken.has(name) && taken.add(name));
}

/** What the log keeps of servers and lists of tools, where it is another than before: so that what is missing can be named. */
export function serverBodies(config: Fields, servers: readonly McpServers[]): readonly EntryBody[] {
  const stored = readConfig(config).mcpServers ?? [];
  const given = withKnownTools(
    servers.flatMap((one) => one.records()),
    stored,
  );
  const names = new Set(given.map(({ name }) => name));
  const next = [...stored.filter(({ name }) => !names.has(name ?? null)), ...given];
  if (given.length === 0 || isSameJson(byName(next), byName(stored))) return [];
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
