import { type Clock, systemClock } from "#conversation/clock";
import type { Fields } from "#log/json/json-fields";
import { checkNumbers } from "#log/with-defaults";
import type { Tool } from "#turn/effects/tool";
import { loadSdk } from "./load-sdk.ts";
import { McpConnection } from "./mcp-connection.ts";
import { checkServers, type McpServer, recordOfServer } from "./mcp-server.ts";
import type { OfferedTool, OfferedTools } from "./mcp-tool-list.ts";

export interface McpServersOptions {
  /** How long a server may take to start (default: 30 s). */
  readonly openMs?: number;
  readonly clock?: Clock;
}

/** How a server stands. */
export interface ServerState {
  readonly name: string;
  readonly state: "open" | "failed" | "closed";
  /** What models call its tools: those it has, or had when it was last open. */
  readonly tools: readonly string[];
  /** How long it took until it could be called, when it was last opened. */
  readonly openedInMs: number | null;
  /** What went wrong, and what of it was left out; for people. */
  readonly problems: readonly string[];
}

/**
 * MCP servers that a host gives, and their tools. They are opened when they are first needed; whoever made this closes it,
 * and with it everything that was started.
 */
export class McpServers implements AsyncDisposable {
  readonly #connections: readonly McpConnection[];
  /** By the list they came in: the same tool as long as its server says the same of it. */
  readonly #tools = new WeakMap<OfferedTools, readonly Tool[]>();
  #holders: number = 0;

  constructor(servers: readonly McpServer[], options: McpServersOptions = {}) {
    checkNumbers(options, { openMs: "limit" });
    const { openMs = 30_000, clock = systemClock } = options;
    this.#connections = checkServers(servers).map((server) => new McpConnection(server, { openMs, clock }));
  }

  /** How many processes it holds. */
  get weight(): number {
    return this.#connections.filter(({ isOpen, server }) => isOpen && "command" in server).length;
  }

  /** Opens all that are not; one that fails is told by its state. */
  async open(): Promise<readonly ServerState[]> {
    await this.#load();
    await Promise.all(this.#connections.map((one) => one.open().catch(() => undefined)));
    return this.states();
  }

  /** Throws when the package is missing: that is the host's mistake, not a failure of a server. */
  async #load(): Promise<void> {
    if (this.#connections.length > 0) await loadSdk();
  }

  states(): readonly ServerState[] {
    return this.#connections.map(({ server, isOpen, problem, offered, openedInMs }) => ({
      name: server.name,
      state: isOpen ? "open" : problem === null ? "closed" : "failed",
      tools: offered.tools.map(({ name }) => name),
      openedInMs,
      problems: [...(problem === null || isOpen ? [] : [problem]), ...offered.issues],
    }));
  }

  /** The tools of all that can be had, in the order of the servers; opens them, and reads lists again that have changed. */
  async tools(): Promise<readonly Tool[]> {
    await this.#load();
    await Promise.all(this.#connections.map((one) => one.ready()));
    return this.#connections.flatMap((one) => {
      const tools = this.#tools.get(one.offered) ?? one.offered.tools.map((offered) => toolOf(one, offered));
      this.#tools.set(one.offered, tools);
      return tools;
    });
  }

  /** As the log keeps them, without anything secret. */
  records(): readonly Fields[] {
    return this.#connections.map(({ server, offered }) =>
      recordOfServer(
        server,
        offered.tools.map(({ name }) => name),
      ),
    );
  }

  /** For a pool: a conversation that they were given for is held. */
  hold(): void {
    this.#holders++;
  }

  /** For a pool: releases the servers. The last release ends their processes; the next call starts them again. */
  async releaseHolder(): Promise<void> {
    if (--this.#holders > 0) return;
    await Promise.all(this.#connections.map((one) => one.end()));
  }

  /** Ends everything that was started, for good. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((one) => one.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What a server says of itself counts only where the host trusts it: unsaid, a tool has an effect, asks, and is not repeated. */
function toolOf(connection: McpConnection, offered: OfferedTool): Tool {
  const { trusted = false, timeoutMs } = connection.server;
  const { name, description, schema, readsOnly, isIdempotent } = offered;
  return {
    name,
    description,
    inputSchema: schema,
    ...(trusted && readsOnly ? { effect: "none" } : {}),
    ...(trusted && isIdempotent ? { replay: "safe" } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    run: (input, call) => connection.call(offered, input, call),
  };
}
