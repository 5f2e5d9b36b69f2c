import { join } from "node:path";
import type { McpServer } from "#agent/mcp/mcp-server";
import type { Json } from "#log/json/json-text";
import type { Tool, ToolOutput } from "#turn/effects/tool";

const HOSTILE = join(import.meta.dirname, "../../support/hostile-server.ts");

export function hostile(
  how: string = "well",
  more: Partial<McpServer> & { readonly file?: string } = {},
): McpServer {
  const { file = "", ...rest } = more;
  return { name: "odd", command: process.execPath, args: [HOSTILE, how, file], ...rest };
}

/** Calls a tool as an effect would, with a signal of one's own. */
export async function call(
  tools: readonly Tool[],
  name: string,
  input: Json = {},
  more: { readonly signal?: AbortSignal; readonly said?: string[]; readonly processes?: string[] } = {},
): Promise<ToolOutput> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no ${name}`);
  const output = await tool.run(input, {
    idempotencyKey: "k",
    signal: more.signal ?? new AbortController().signal,
    progress: (text) => void more.said?.push(text),
    recordProcess: async (process) => void more.processes?.push(process),
  });
  return typeof output === "string" ? { content: output } : output;
}

export function words({ content }: ToolOutput): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
