import { NEVER } from "#conversation/clock";
import type { ConversationId } from "#log/ids";
import { type Fields, fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { SendOptions } from "#upstream/options";
import type { PromptContent } from "#turn/accept";
import type { Connected } from "#upstream/missing-context";
import type { AgentLine } from "#edges/acp/agent/agent-line";
import { BridgeSession, type BridgeTurn, type HostedAgent } from "#edges/acp/bridge-agents";
import { readableAt } from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import { type BridgeParts, agentNames, agentOf, agentOption, withAgentOption } from "./bridge-parts.ts";
import {
  ConversationSettings,
  type StoredTitle,
  inBackground,
  observe,
  readStoredConfig,
  readTitle,
} from "./conversation-settings.ts";
import { HostView, type ViewedConversation } from "./host-view.ts";
import { ExternalTurns } from "./external-turns.ts";
import { changedChoices, choicesIn, type Config } from "#log/projections/config";
import { bounded } from "#upstream/sessions/bounded";

/** A session that stands ready for a conversation. */
export interface ReadySession {
  readonly connected: Omit<Connected, "session">;
  readonly session: BridgeSession;
}

/** The prompt of this host that is with the runtime. */
interface SentPrompt {
  readonly agent: string;
  readonly isCancelled: () => boolean;
}

/** A prompt of the host, and how it is to be sent. */
export interface HostPrompt extends SendOptions {
  readonly content: PromptContent;
  readonly agent: string;
}

/** A conversation that the host has open. Everything but the host's own params can be read from the log again. */
export class OpenConversation implements ViewedConversation {
  readonly id: ConversationId;
  readonly settings: ConversationSettings;
  readonly view: HostView;
  readonly #parts: BridgeParts;
  /** Shows what others do in it, once the host has it open. */
  #externalTurns: ExternalTurns | null = null;
  #title: StoredTitle;
  #params: string | null = null;
  #cwd: string | null = null;
  /** Settles when the prompts the host has sent have ended. */
  #prompts: Promise<void> = Promise.resolve();
  /** Settles when no session is being got ready. */
  #connecting: Promise<void> = Promise.resolve();
  #sent: SentPrompt | null = null;
  #stopping: boolean = false;
  #forceNext: boolean = false;
  /** Another agent runs it than the one whose options the host received. */
  #optionsOwed: boolean = false;
  /** Counts cancels: a prompt that was queued before one does not run. */
  #cancels: number = 0;

  constructor(
    parts: BridgeParts,
    id: ConversationId,
    state: { readonly config: Fields; readonly title: StoredTitle },
  ) {
    this.id = id;
    this.#parts = parts;
    this.#title = state.title;
    this.settings = new ConversationSettings(state.config, {
      config: () => readStoredConfig(parts, id),
      note: (bodies) => parts.turns.note(id, bodies),
    });
    this.view = new HostView(parts, this);
  }

  static async open(parts: BridgeParts, id: ConversationId): Promise<OpenConversation> {
    const config = await readStoredConfig(parts, id);
    return new OpenConversation(parts, id, { config, title: await readTitle(parts, id) });
  }

  /** The agent that carries it now. */
  get upstream(): HostedAgent {
    return agentOf(this.#parts, this.settings.config);
  }

  /** The session its agent holds for it now, if it is alive. */
  get session(): BridgeSession | null {
    return this.upstream.sessionOf(this.id);
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** The host's params for the session, as the text of an object; null when this host has not opened it. */
  get params(): string | null {
    return this.#params;
  }

  /** The host opened it with these params. They stay in memory, since they may hold secrets. */
  openedWith(params: string, cwd: string | null): void {
    this.#params = params;
    this.#cwd = cwd;
  }

  /** The folder the host opened it in. */
  get cwd(): string | null {
    return this.#cwd;
  }

  get title(): StoredTitle {
    return this.#title;
  }

  /** Keeps a title that an agent gave, or a prompt; one that a person or a fork gave stays. */
  async setTitle(title: string): Promise<void> {
    const now = await readTitle(this.#parts, this.id);
    this.#title = now.isFixed ? now : { title, isFixed: false };
    if (now.isFixed || now.title === title) return;
    const body = JSON.stringify({ type: "title", title, by: "agent" });
    await (await this.#parts.holdfast.conversation(this.id)).appendOutside(body);
  }

  /** A conversation follows its project. An agent whose sessions stay where they began starts a new one there. */
  async moveTo(cwd: string): Promise<void> {
    const { holdfast, turns, upstreams } = this.#parts;
    const stored = await holdfast.conversation(this.id);
    const recorded = this.settings.folder((await stored.head()).cwd);
    if (cwd === recorded) return;
    await turns.release(this.id);
    // Its former folder is unknown, so it has not moved.
    const links = recorded === null ? [] : await stored.chain();
    for (const { id, agent, inherited } of links) {
      const upstream = upstreams.find((one) => one.agent === agent);
      if (!inherited && upstream?.native?.move === undefined) await stored.endUpstream(id, "cwd_changed");
    }
    await this.settings.moveTo(cwd);
  }

  /** Prepares a session. Its lines wait until `view.release`. */
  async connect(): Promise<ReadySession> {
    const isFirst = this.view.holdBack();
    // One at a time: a caller that finds a session there uses that one.
    const connecting = this.#connecting.then(() => this.#connect());
    this.#connecting = untilDone(connecting);
    try {
      return await connecting;
    } catch (error) {
      this.#optionsOwed = true;
      if (isFirst) this.view.release();
      throw error;
    }
  }

  async #connect(): Promise<ReadySession> {
    const { agent } = this.upstream;
    const connected = await this.#parts.turns.connect(this.id, { agent, ...this.view.host });
    const { session } = connected;
    if (!(session instanceof BridgeSession)) throw new TypeError("Unknown session");
    this.settings.sessionBegan(firstOptions(session));
    await this.settings.modelAtWork(this.upstream.agent, session.model ?? null);
    return { connected, session };
  }

  /** The session that requests of the host are for; it is got ready if none is held. */
  async readySession(): Promise<BridgeSession> {
    if (this.session !== null) return this.session;
    const { session } = await this.connect();
    this.view.release();
    return session;
  }

  /** Runs a prompt after those before it, which may have been cancelled by then. */
  queuePrompt(run: (isCancelled: () => boolean) => Promise<void>): Promise<void> {
    const before = this.#cancels;
    const isCancelled = (): boolean => this.#cancels !== before;
    const running = this.#prompts.then(() => this.#connecting).then(() => run(isCancelled));
    this.#prompts = untilDone(running);
    return running;
  }

  /** Settles when every prompt has ended. */
  promptsEnded(): Promise<void> {
    return this.#prompts;
  }

  /** Sends a prompt; `promptShown` follows when the host has its answer. */
  async send(request: HostPrompt, isCancelled: () => boolean): Promise<BridgeTurn> {
    this.#stopping = false;
    this.#sent = { agent: request.agent, isCancelled };
    this.#externalTurns?.promptSent();
    const { content, ...options } = request;
    const force = options.force === true || this.#forceNext;
    const result = await this.#parts.turns.send(this.id, content, {
      ...options,
      force,
      ...this.view.host,
    });
    if (this.#optionsOwed && this.session !== null) {
      this.#optionsOwed = false;
      this.tellOptions();
    }
    // Limits can end early: a user who was notified and asks again means it.
    this.#forceNext = result.class === "limit" && result.upstream === null;
    return result;
  }

  /** The host has its answer: other processes' turns and the agent's other lines are shown again. */
  promptShown(): void {
    this.#sent = null;
    void this.#externalTurns?.promptEnded().catch(() => undefined);
    for (const upstream of this.#parts.upstreams) upstream.sessionOf(this.id)?.turnShown();
  }

  accepted(turn: string): void {
    // A cancel that came before there was anything to cancel.
    if (this.#sent?.isCancelled() === true) this.cancelTurn();
    this.#externalTurns?.promptAccepted(turn);
  }

  continued(): void {
    if (this.#sent !== null && this.#sent.agent !== this.upstream.agent) this.switchedTo(this.#sent.agent);
  }

  switchedTo(agent: string): void {
    this.#optionsOwed = true;
    inBackground(this.settings.change({ agent }));
  }

  /** Ends the turn that runs, and those of the prompts that wait behind it. */
  cancel(): void {
    this.#cancels++;
    this.cancelTurn();
  }

  cancelTurn(): void {
    // A second cancel finds nothing running, and does not undo the first.
    if (this.#parts.turns.cancel(this.id)) this.#stopping = true;
    this.#parts.wire.cancelPermissions(this.id);
  }

  /** From this entry on the host is shown what others do in the conversation. */
  showExternalTurnsAfter(seq: number): void {
    this.#externalTurns ??= new ExternalTurns(this.#parts, this.view, () => this.#followSettings());
    this.#externalTurns.showAfter(seq);
  }

  /** What another window chose holds here, too, before the next prompt is sent. */
  #followSettings(): void {
    const following = this.#connecting.then(() => followSettings(this.#parts, this));
    this.#connecting = untilDone(following);
    void following.then(
      (switched) => (this.#optionsOwed ||= switched),
      () => undefined,
    );
  }

  /** The host has closed it, or is gone. */
  close(): void {
    this.#externalTurns?.close();
  }

  observe(line: AgentLine): readonly Edit[] {
    return observe(this.#parts, this, line);
  }

  /** The option that chooses the agent; null when there is only one. */
  agentOption(): Json | null {
    return agentOption(agentNames(this.#parts), this.upstream.agent);
  }

  /** The options of its session, with the agent's among them. */
  options(): Json {
    return withAgentOption(this.session?.options.options ?? null, this.agentOption());
  }

  /** Another agent has other options. */
  tellOptions(): void {
    const configOptions = this.options();
    if (configOptions !== null)
      this.#parts.wire.update(this.id, { sessionUpdate: "config_option_update", configOptions });
  }
}

function untilDone(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => undefined,
    () => undefined,
  );
}

/** The options as they came with the session, before anything was set again. */
function firstOptions({ openAnswer }: BridgeSession): Json {
  if (openAnswer === null || openAnswer.result === null) return null;
  return fieldsOf(readableAt(openAnswer.bytes, openAnswer.result))["configOptions"] ?? null;
}

const APPLY_MS = 10_000; // an agent that takes longer keeps no prompt waiting

interface FollowingConversation {
  readonly id: ConversationId;
  readonly settings: { readonly config: Config; refresh(): Promise<Config> };
  /** The session its agent holds for it now. */
  readonly session: BridgeSession | null;
  /** Tells the host the options of that session, with the agent's among them. */
  tellOptions(): void;
}

/**
 * Takes over what another window chose: the agent, and the mode and options, which the session that is held here is given
 * as well. The host is told what is different. True when another agent carries the conversation.
 */
async function followSettings(parts: BridgeParts, conversation: FollowingConversation): Promise<boolean> {
  const { id, settings } = conversation;
  const before = await settings.refresh();
  const now = settings.config;
  const [{ agent: from }, { agent }] = [agentOf(parts, before), agentOf(parts, now)];
  const { session } = conversation;
  const earlier = settingsView(session);
  const chosen = changedChoices(choicesIn(before, agent), choicesIn(now, agent));
  if (session !== null && Object.keys(chosen).length > 0)
    await bounded(
      { clock: parts.clock, resumeMs: APPLY_MS, cancelled: NEVER },
      session.applyChoices(chosen),
    ).catch(() => undefined);
  await session?.refresh();
  const { mode, options } = settingsView(session);
  if (from !== agent) {
    const _meta = { holdfast: { event: "switched", from, agent } };
    parts.wire.update(id, { sessionUpdate: "session_info_update", _meta });
  }
  if (typeof mode === "string" && mode !== earlier.mode)
    parts.wire.update(id, { sessionUpdate: "current_mode_update", currentModeId: mode });
  if (from !== agent || options !== earlier.options) conversation.tellOptions();
  return from !== agent;
}

/** What a host shows of a session's settings; options as text, to be compared. */
function settingsView(session: BridgeSession | null): { readonly mode: Json; readonly options: string } {
  const { modes = null, options = null } = session?.options ?? {};
  return { mode: fieldsOf(modes)["currentModeId"] ?? null, options: JSON.stringify(options) };
}
