import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { readConfig } from "#log/projections/config";
import type { McpServers } from "./mcp-servers.ts";

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
        problems: problems.map((one) => `The MCP server ${name}: ${one}`),
      };
    const why = `${problems[0] ?? `The MCP server ${name} is closed`}; ${cannotBeCalled(toolNames)}`;
    return { name, state: "failed", tools: toolNames, openedInMs: null, problems: [why] };
  });
  const names = new Set(states.map(({ name }) => name));
  const missing = stored.flatMap(({ name }): readonly RestoredServer[] => {
    if (typeof name !== "string" || names.has(name)) return [];
    const tools = toolsOf(name);
    const why = `The MCP server ${name} of this conversation is not given here; ${cannotBeCalled(tools)}`;
    return [{ name, state: "missing", tools, openedInMs: null, problems: [why] }];
  });
  return [...opened, ...missing];
}

function namesIn(tools: Json | undefined): readonly string[] {
  return Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [];
}

function cannotBeCalled(tools: readonly string[]): string {
  return tools.length === 0
    ? "its tools cannot be called"
    : `its tools cannot be called: ${tools.join(", ")}`;
}
