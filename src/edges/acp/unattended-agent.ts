import { type Clock, systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { withDefaults } from "#log/with-defaults";
import type { SendResult } from "#upstream/finish-turn";
import type { RuntimeOptions, SendOptions, TurnOptions } from "#upstream/options";
import { Runtime } from "#upstream/runtime";
import type { PromptContent } from "#turn/accept";
import type { HostEvent } from "#turn/host";
import { AcpUpstream } from "./agent/acp-upstream.ts";
import type { AgentSpec } from "./agent/running-agent.ts";
import type { EntryOf } from "#log/entry";
import { parseConversationId } from "#log/ids";
import type { SessionSettings } from "#upstream/upstream";
import type { TurnEvent } from "#turn/rules/turn-event";
import { AgentLine, type HostPort } from "./agent/agent-line.ts";
import type { Connection } from "./agent/connection.ts";
import { readMessage, textAt } from "#edges/acp/wire/spans";

export interface UnattendedOptions
  extends LogHostOptions, Partial<Omit<RuntimeOptions, "upstreams" | "clock">> {
  readonly clock?: Clock;
}

/** An ACP agent behind the runtime, with no editor: for servers. It is started when it is needed, and again when it died. */
export class UnattendedAgent extends Runtime {
  readonly #upstream: AcpUpstream;
  readonly #host: LogHost;

  constructor(holdfast: Holdfast, spec: AgentSpec, options: UnattendedOptions) {
    const { cwd, version, clock = systemClock, ...more } = options;
    const host = new LogHost(holdfast, { cwd, version });
    const upstream = new AcpUpstream(spec, host, clock);
    // A person may take a day to answer, and the agent is silent meanwhile.
    const runtime = withDefaults({ onSilence: "tell" as const, pool: { mode: "hybrid" as const } }, more);
    super(holdfast, { ...runtime, clock, upstreams: [upstream] });
    this.#upstream = upstream;
    this.#host = host;
  }

  override send(
    to: Conversation | string,
    content: PromptContent,
    options: SendOptions = {},
  ): Promise<SendResult> {
    return this.#run(to, options, (turnOptions) => super.send(to, content, turnOptions));
  }

  override retry(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#run(to, options, (turnOptions) => super.retry(to, turnOptions));
  }

  override continue(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#run(to, options, (turnOptions) => super.continue(to, turnOptions));
  }

  override cancel(of: Conversation | string): boolean {
    const isCancelled = super.cancel(of);
    if (isCancelled) this.#host.turnOver(idOf(of));
    return isCancelled;
  }

  override async close(): Promise<void> {
    this.#host.close();
    await super.close();
    await this.#upstream.stop();
  }

  async #run<O extends TurnOptions>(
    to: Conversation | string,
    options: O,
    run: (turnOptions: O) => Promise<SendResult>,
  ): Promise<SendResult> {
    const id = idOf(to);
    let isBegun = false; // another turn may run, which this call has nothing to do with
    const onEvent = (event: HostEvent): void => {
      isBegun ||= event.type === "accepted";
      this.#host.hear(event);
      options.onEvent?.(event);
    };
    try {
      const result = await run({ ...options, onEvent });
      if (result.upstream !== null && result.outcome !== "interrupted")
        void this.#upstream.turnEnded(result.upstream);
      return result;
    } finally {
      if (isBegun) {
        this.#host.turnOver(id);
        this.#upstream.sessionOf(id)?.turnShown();
      }
    }
  }
}

function idOf(conversation: Conversation | string): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}

const METHOD_NOT_FOUND = -32_601;
const encoder = new TextEncoder();

type Permission = Extract<TurnEvent, { type: "permission" }>;
type Outcome = EntryOf<"permission_answer">["outcome"];

/** A question of the agent's that nobody has answered. */
interface Waiting {
  readonly conversation: string;
  readonly line: AgentLine;
  /** Ends the wait: nobody will answer, or nobody wants to know. */
  readonly over: AbortController;
}

interface LogHostOptions {
  /** Where an agent works in a conversation that says nothing of a folder. */
  readonly cwd: string;
  readonly version: string;
}

/**
 * The host of an agent that no editor stands before: people answer its questions in the log, from any process. It offers neither
 * files nor terminals, so the agent uses its own.
 */
class LogHost implements HostPort {
  readonly asksInLog = true;
  readonly #holdfast: Holdfast;
  readonly #options: LogHostOptions;
  readonly #waiting = new Set<Waiting>();

  constructor(holdfast: Holdfast, options: LogHostOptions) {
    this.#holdfast = holdfast;
    this.#options = options;
  }

  introduction(): string {
    return JSON.stringify({
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "holdfast", version: this.#options.version },
    });
  }

  sessionParams(_: SessionSettings): string {
    return JSON.stringify({ cwd: this.#options.cwd, mcpServers: [] });
  }

  /** Between turns nobody is asked. */
  forward(line: AgentLine): void {
    if (line.onReached !== null) line.onReached();
    else if (line.message.method === "session/request_permission") reply(line, chosen([], "cancelled"));
    else this.#decline(line);
  }

  agentEnded(connection: Connection): void {
    this.#end(({ line }) => line.connection === connection);
  }

  /** The turn is over, or is to end: what was asked in it is not asked any more. */
  turnOver(conversation: string): void {
    this.#end((one) => one.conversation === conversation);
  }

  close(): void {
    this.#end(() => true);
  }

  /** What a turn tells; what the agent asks in it is answered. */
  hear(event: HostEvent): void {
    if (event.type !== "update" || !(event.event.wire instanceof AgentLine)) return;
    const { wire: line } = event.event;
    if (line.onReached !== null) line.onReached();
    else if (event.event.type === "permission") void this.#ask(event.conversation, event.event, line);
    else this.#decline(line);
  }

  async #ask(conversation: string, { request, options = [] }: Permission, line: AgentLine): Promise<void> {
    if (request === undefined) return reply(line, chosen(options, "cancelled"));
    const waiting: Waiting = { conversation, line, over: new AbortController() };
    this.#waiting.add(waiting);
    const { signal } = waiting.over;
    const handle = this.#holdfast.handle(parseConversationId(conversation));
    const answer = await handle.waitForAnswer(request, { signal }).catch(() => null);
    this.#waiting.delete(waiting);
    if (answer !== null) return reply(line, chosen(options, answer));
    reply(line, chosen(options, "cancelled"));
    // A question that nobody can answer any more is not left for people.
    await handle.answer(request, "cancelled").catch(() => undefined); // the turn's end says as much
  }

  /** What an agent asks beyond that is what only an editor has; what it takes back is not waited for. */
  #decline(line: AgentLine): void {
    const { bytes, id, method } = line.message;
    if (method === null) return;
    if (method === "$/cancel_request") {
      const span = line.message.param("requestId");
      const taken = span === null ? null : textAt(bytes, span);
      this.#end((one) => one.line.connection === line.connection && requestId(one.line) === taken);
    }
    if (id === null || textAt(bytes, id) === "null") return;
    const error = {
      code: METHOD_NOT_FOUND,
      message: `"${method}" requires an editor, which is not connected`,
    };
    line.connection.send(
      encoder.encode(`{"jsonrpc":"2.0","id":${textAt(bytes, id)},"error":${JSON.stringify(error)}}`),
    );
  }

  #end(fits: (waiting: Waiting) => boolean): void {
    for (const waiting of this.#waiting) if (fits(waiting)) waiting.over.abort();
  }
}

function requestId({ message: { bytes, id } }: AgentLine): string | null {
  return id === null ? null : textAt(bytes, id);
}

/** The agent's option that says what a person said: once, where there is a choice. */
function chosen(options: NonNullable<Permission["options"]>, outcome: Outcome): string {
  const kinds = outcome === "allowed" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const option = kinds
    .map((kind) => options.find((one) => one.kind === kind))
    .find((one) => one !== undefined);
  if (outcome === "cancelled" || option === undefined) return `{"outcome":{"outcome":"cancelled"}}`;
  return JSON.stringify({ outcome: { outcome: "selected", optionId: option.id } });
}

function reply(line: AgentLine, result: string): void {
  const id = requestId(line);
  const answer = readMessage(encoder.encode(`{"jsonrpc":"2.0","id":${id ?? "null"},"result":${result}}`));
  if (id === null || answer === null) return;
  line.connection.send(answer.bytes);
  line.onAnswer?.(answer);
}
