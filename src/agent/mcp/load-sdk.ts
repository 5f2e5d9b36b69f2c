import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { ResultSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { LogError } from "#log/errors";

/** The part of the MCP SDK that this module uses. */
export interface McpSdk {
  readonly Client: typeof Client;
  readonly HttpTransport: typeof StreamableHTTPClientTransport;
  readonly ResultSchema: typeof ResultSchema;
  readonly ListChangedSchema: typeof ToolListChangedNotificationSchema;
  /** The variables that are given to every program. */
  readonly commonEnv: () => Record<string, string>;
}

/** Loads the package. Only hosts with MCP servers need it. */
export async function loadSdk(load: () => Promise<McpSdk> = loadPackage): Promise<McpSdk> {
  try {
    return await load();
  } catch (cause) {
    const why = "MCP servers require the package @modelcontextprotocol/sdk";
    throw new LogError(
      "invalid_request",
      `${why}. Run \`npm install @modelcontextprotocol/sdk\`.`,
      {},
      { cause },
    );
  }
}

async function loadPackage(): Promise<McpSdk> {
  const [client, http, types, stdio] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
  ]);
  return {
    Client: client.Client,
    HttpTransport: http.StreamableHTTPClientTransport,
    ResultSchema: types.ResultSchema,
    ListChangedSchema: types.ToolListChangedNotificationSchema,
    commonEnv: stdio.getDefaultEnvironment,
  };
}
