import { LogError } from "#log/errors";
import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { parseConversationId } from "#log/ids";
import { fieldsOf, textIn } from "#log/json/json-fields";
import { withDefaults } from "#log/with-defaults";
import type { RuntimeOptions } from "#upstream/options";
import { Runtime } from "#upstream/runtime";
import type { SessionSettings, Upstream } from "#upstream/upstream";
import type { AgentLine, HostPort } from "#edges/acp/agent/agent-line";
import { type Connection, resultOf } from "#edges/acp/agent/connection";
import type { AgentSpec } from "#edges/acp/agent/running-agent";
import { AcpUpstream } from "#edges/acp/agent/acp-upstream";
import type {
  BridgeAgents,
  BridgeTurns,
  BridgeUpstream,
  HostedAgent,
  LoadedLoop,
} from "#edges/acp/bridge-agents";
import { PlainUpstream } from "#edges/acp/plain-upstream";
import { type Message, readMessage, textAt } from "#edges/acp/wire/spans";
import { agentNames } from "./bridge-parts.ts";
import { type BridgeContext, OpenConversations } from "./open-conversations.ts";
import { answerTo, forward, respondWith, setMode, setModel, setOption } from "./session-settings.ts";
import { prompt } from "./prompt.ts";
import { ListCache, listSessions } from "./list-sessions.ts";
import {
  chainOfSession,
  closeSession,
  deleteSession,
  forkSession,
  loadSession,
  newSession,
  resumeSession,
} from "./open-sessions.ts";
import { HostRequest, optionsIn } from "./host-request.ts";
import { HostWire, errorOf } from "./host-wire.ts";

/** A program that speaks ACP, or any upstream: the host is shown its events as updates. */
export type BridgeAgent = AgentSpec | Upstream;

export interface BridgeOptions {
  readonly holdfast: Holdfast;
  /** The agents a conversation may be carried by, the first being the default; or an agent loop, alone. */
  readonly agents: readonly [BridgeAgent, ...BridgeAgent[]] | LoadedLoop;
  /** Writes one line to the host. */
  readonly write: (line: Uint8Array) => void;
  readonly onLimit: "park" | "switch" | "ask";
  readonly version: string;
  readonly runtime?: Partial<Omit<RuntimeOptions, "upstreams">>;
  readonly clock?: Clock;
}

const REST_MS = 10_000;

type Handler = (bridge: BridgeContext, request: HostRequest) => Promise<void>;

const HANDLERS: { readonly [method: string]: Handler } = {
  "session/new": newSession,
  "session/load": loadSession,
  "session/resume": resumeSession,
  "session/fork": forkSession,
  "_holdfast/chain": chainOfSession,
  "session/list": listSessions,
  "session/close": closeSession,
  "session/delete": deleteSession,
  "session/prompt": prompt,
  "session/set_mode": setMode,
  "session/set_model": setModel,
  "session/set_config_option": setOption,
  logout,
};

/** Between a host and its agents: routes the lines of both, and the host's requests to what answers them. */
export class Bridge implements HostPort {
  readonly #options: BridgeOptions;
  readonly #clock: Clock;
  readonly #wire: HostWire;
  readonly #upstreams: readonly [HostedAgent, ...HostedAgent[]];
  readonly #turns: BridgeTurns;
  readonly #conversations: OpenConversations;
  readonly #context: BridgeContext;
  /** The requests that are not answered yet. */
  readonly #working = new Map<Promise<void>, HostRequest>();
  #introduction: string = `{"protocolVersion":1,"clientCapabilities":{}}`;
  #showsNotices: boolean = false;

  constructor(options: BridgeOptions) {
    const { holdfast, onLimit } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#wire = new HostWire(options.write);
    const { turns, upstreams } =
      "open" in options.agents ? this.#loop(options.agents) : this.#agents(options.agents);
    [this.#turns, this.#upstreams] = [turns, upstreams];
    const clock = this.#clock;
    const parts = {
      holdfast,
      turns,
      wire: this.#wire,
      upstreams,
      onLimit,
      clock,
      showsNotices: () => this.#showsNotices,
    };
    this.#conversations = new OpenConversations(parts);
    this.#context = { ...parts, conversations: this.#conversations, listCache: new ListCache() };
  }

  #loop(loop: LoadedLoop): BridgeAgents {
    return loop.open({
      holdfast: this.#options.holdfast,
      clock: this.#clock,
      paramsOf: (id) => this.#conversations.get(parseConversationId(id))?.params ?? null,
      show: (id, update) => this.#wire.update(parseConversationId(id), update),
    });
  }

  #agents([first, ...others]: readonly [BridgeAgent, ...BridgeAgent[]]): BridgeAgents {
    const { holdfast, runtime } = this.#options;
    const upstreams = [this.#upstream(first), ...others.map((agent) => this.#upstream(agent))] as const;
    return {
      turns: new Runtime(holdfast, { ...withDefaults({ clock: this.#clock }, runtime ?? {}), upstreams }),
      upstreams,
    };
  }

  #upstream(agent: BridgeAgent): BridgeUpstream {
    return "command" in agent ? new AcpUpstream(agent, this, this.#clock) : new PlainUpstream(agent);
  }

  introduction(): string {
    return this.#introduction;
  }

  sessionParams(settings: SessionSettings): string {
    // A server named in a log is no reason to start it: servers come from the host that is connected now.
    return this.#conversations.get(settings.conversation)?.params ?? `{"mcpServers":[]}`;
  }

  /** Hands the host a line of an agent that belongs to no turn. */
  forward(line: AgentLine): void {
    const { session, onReached } = line;
    const conversation = session === null ? null : this.#conversations.get(session.conversation);
    if (conversation !== null) conversation.view.forward(line);
    else if (onReached !== null) onReached();
    else this.#wire.forward(line, []);
  }

  agentEnded(connection: Connection): void {
    this.#wire.withdraw(connection);
  }

  /** A line of the host. */
  receive(line: Uint8Array): void {
    const message = readMessage(line);
    if (message === null) {
      this.#wire.fail("null", JSON.stringify({ code: -32700, message: "Not a JSON object" }));
      return;
    }
    if (message.method === null) this.#wire.receiveAnswer(message);
    else if (message.method === "session/cancel") this.#cancel(message);
    else if (message.method === "$/cancel_request") this.#withdraw(message);
    else this.#work(new HostRequest(message));
  }

  #work(request: HostRequest): void {
    const work = this.#handle(request).catch((error: unknown) => {
      if (request.id !== null) this.#wire.fail(request.id, errorOf(error, request.text("sessionId")));
    });
    this.#working.set(work, request);
    void work.finally(() => this.#working.delete(work));
  }

  /** Agents know the host's requests by other ids, and most of them not at all. */
  #withdraw(message: Message): void {
    const span = message.param("requestId");
    const id = span === null ? null : textAt(message.bytes, span);
    const request = id === null ? undefined : [...this.#working.values()].find((open) => open.id === id);
    if (request === undefined) return;
    request.isWithdrawn = true;
    request.onWithdrawn?.();
  }

  #handle(request: HostRequest): Promise<void> {
    if (request.method === "initialize") return this.#initialize(request);
    const handler = Object.hasOwn(HANDLERS, request.method) ? HANDLERS[request.method] : undefined;
    return (handler ?? forward)(this.#context, request);
  }

  #cancel(message: Message): void {
    const request = new HostRequest(message);
    const work = async (): Promise<void> => {
      (await this.#conversations.open(request.session)).cancel();
    };
    void work().catch(() => undefined);
  }

  /** The agent's own answer, with the bridge's additional capabilities. */
  async #initialize(request: HostRequest): Promise<void> {
    const params = fieldsOf(request.value());
    const hostVersion = params["protocolVersion"];
    const version = typeof hostVersion === "number" && hostVersion > 1 ? 1 : (hostVersion ?? 1);
    this.#introduction =
      version === hostVersion ? request.paramsText : JSON.stringify({ ...params, protocolVersion: version });
    const session = fieldsOf(fieldsOf(params["clientCapabilities"])["session"]);
    this.#showsNotices = typeof session["notices"] === "object" && session["notices"] !== null;
    const result = fieldsOf(await this.#upstreams[0].introduce());
    const can = fieldsOf(result["agentCapabilities"]);
    const theirs = Object.entries(fieldsOf(can["sessionCapabilities"])).filter(
      ([, capability]) => capability !== null,
    );
    const sessionCapabilities = { ...OURS, ...Object.fromEntries(theirs) };
    const meta = { version: this.#options.version, agents: agentNames(this.#context) };
    if (request.id === null) return;
    this.#wire.respond(
      request.id,
      JSON.stringify({
        ...result,
        agentCapabilities: { ...can, loadSession: true, sessionCapabilities },
        _meta: { ...fieldsOf(result["_meta"]), holdfast: meta },
      }),
    );
  }

  /** A host that reads slowly makes the agents wait, and the history on its way to it. */
  pause(paused: boolean): void {
    this.#wire.pause(paused);
    for (const upstream of this.#upstreams) upstream.pause(paused);
  }

  /** Requests from before the host closed its end are answered, except prompts, which could take forever. */
  async answerRest(): Promise<void> {
    const requests = [...this.#working].filter(([, { method }]) => method !== "session/prompt");
    if (requests.length === 0 || requests.length < this.#working.size) return;
    const done = new AbortController();
    const late = this.#clock.sleep(REST_MS, done.signal);
    await Promise.race([Promise.allSettled(requests.map(([work]) => work)), late]);
    done.abort();
  }

  /** The host is gone: what runs is ended and recorded, and no agent is left behind. */
  async close(): Promise<void> {
    this.#conversations.closeAll();
    this.#wire.pause(false); // a host that is gone holds nothing up
    await this.#turns.close();
    await Promise.allSettled(this.#upstreams.map((upstream) => upstream.stop()));
    await Promise.allSettled(this.#working.keys());
  }
}

/** What works whatever an agent can do. */
const OURS = { list: {}, resume: {}, close: {}, delete: {}, fork: {} };

/**
 * The agent forgets its login, and the log what that account could be resumed by. What it did not do counts as not done:
 * its answer passes as it is.
 */
async function logout(bridge: BridgeContext, request: HostRequest): Promise<void> {
  if (request.id === null) return forward(bridge, request);
  const options = optionsIn(request);
  const named = textIn(options["agent"]);
  const upstream =
    named === null ? bridge.upstreams[0] : bridge.upstreams.find(({ agent }) => agent === named);
  if (upstream === undefined)
    throw new LogError(
      "invalid_request",
      `Unknown agent "${named}". Use one of ${agentNames(bridge).join(", ")}.`,
    );
  const answer = await answerTo(request, await upstream.forward(request.message));
  if (answer.error !== null) return respondWith(bridge, request, { answer, session: null });
  const { agent, account } = upstream;
  const keepContext = options["keepContext"] === true;
  const signedOut = await bridge.holdfast.signOut({ agent, account, keepContext });
  const result = fieldsOf(resultOf(answer));
  const meta = {
    ...fieldsOf(fieldsOf(result["_meta"])["holdfast"]),
    signedOut: { agent, account, ...signedOut },
  };
  bridge.wire.respond(
    request.id,
    JSON.stringify({ ...result, _meta: { ...fieldsOf(result["_meta"]), holdfast: meta } }),
  );
}
