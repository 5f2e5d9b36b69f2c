import type { Agent } from "#agent/agent";
import type { AgentResult, AgentTurnOptions } from "#agent/agent-options";
import { chosenModel } from "#agent/models/model-choice";
import type { Conversation } from "#conversation/conversation";
import { isLogError, LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { cwdOf } from "#log/projections/settings";
import { cutPoint } from "#log/projections/cut-point";
import type { Host, HostEvent } from "#turn/host";
import { fit, safeLine } from "#edges/cli/terminal/terminal";
import type { OpenedModel } from "./agent-flags.ts";
import type { ChatSession } from "./chat-session.ts";
import type { Printer } from "#edges/cli/terminal/printer";
import { usageText } from "#edges/cli/view/usage-text";
import { whenFree } from "./when-free.ts";

const ORDERS = `  /model [NAME]        the model that is asked; another one from the next message on
  /compact [FOCUS]     summarises what is older, for the model; the log keeps every word
  /continue            goes on with a turn that was cut off, stopped or waits for an answer
  /usage               what this conversation used, and what it cost`;

interface AgentSessionParts {
  readonly agent: Agent;
  readonly printer: Printer;
  readonly opened: OpenedModel;
  readonly turn: AgentTurnOptions;
  readonly ask: NonNullable<Host["onPermission"]>;
  readonly isNew: boolean;
}

/** A conversation and the model it is held with. */
export class AgentSession implements ChatSession {
  conversation: Conversation;
  readonly help: ChatSession["help"] = {
    talk: "What you type goes to the model. Lines typed while it works wait their turn.",
    orders: ORDERS,
  };
  readonly orders: ChatSession["orders"] = {
    model: (_, rest) => this.#model(rest),
    compact: (_, rest) => this.#compact(rest),
    continue: () => this.#run((options) => this.#agent.continue(this.conversation, options)),
    usage: async () => this.#printer.notice(usageText(await this.conversation.usage())),
  };
  readonly #agent: Agent;
  readonly #printer: Printer;
  readonly #opened: OpenedModel;
  readonly #ask: AgentSessionParts["ask"];
  #turn: AgentTurnOptions;
  #isNew: boolean;
  #waiting: AbortController | null = null;

  constructor(conversation: Conversation, parts: AgentSessionParts) {
    this.conversation = conversation;
    this.#agent = parts.agent;
    this.#printer = parts.printer;
    this.#opened = parts.opened;
    this.#ask = parts.ask;
    this.#turn = parts.turn;
    this.#isNew = parts.isNew;
  }

  cancel(): boolean {
    const waits = this.#waiting !== null;
    this.#waiting?.abort();
    return this.#agent.cancel(this.conversation) || waits;
  }

  async send(text: string): Promise<void> {
    if (this.#isNew) await this.conversation.title(titleOf(text));
    this.#isNew = false;
    return this.#run((options) => this.#agent.send(this.conversation, text, options));
  }

  async #run(turn: (options: AgentTurnOptions) => Promise<AgentResult>): Promise<void> {
    const host: Host = { onEvent: (event) => this.#show(event), onPermission: this.#ask };
    const { class: known, message } = await this.#whenFree(() => turn({ ...this.#turn, ...host }));
    if (!TOLD.has(known) && message !== "") this.#printer.notice(message);
    const { model: _, ...rest } = this.#turn; // it is the conversation's own by now
    this.#turn = rest;
  }

  async #whenFree<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    let waited = false;
    const onWait = (text: string): void => {
      waited = true;
      this.#printer.notice(text);
    };
    try {
      return await whenFree(this.conversation, { signal, onWait }, work);
    } catch (error) {
      if (!waited || !signal.aborted || !isLogError(error, "busy")) throw error;
      throw new LogError(
        "busy",
        "Another process still has the conversation; nothing was sent",
        {},
        { cause: error },
      );
    } finally {
      this.#waiting = null;
    }
  }

  /** A limit is told by the turn's own message, which says whose it is. */
  #show(event: HostEvent): void {
    if (event.type !== "parked") this.#printer.event(event);
  }

  async #model(name: string): Promise<void> {
    if (name === "") {
      const told = typeof this.#turn.model === "string" ? this.#turn.model : null;
      const model = told ?? chosenModel(await this.conversation.settings()) ?? this.#opened.model.id;
      return this.#printer.notice(`${model} is asked. /model PROVIDER/NAME chooses another.`);
    }
    const { id } = await this.#opened.open(name);
    this.#turn = { ...this.#turn, model: id };
    this.#printer.notice(`${id} is asked from the next message on; it is told everything that was said.`);
  }

  async #compact(focus: string): Promise<void> {
    const { model } = this.#turn;
    const options = {
      ...(model === undefined ? {} : { model }),
      onEvent: (event: HostEvent) => this.#show(event),
      ...(focus === "" ? {} : { focus }),
    };
    const done = await this.#whenFree(() => this.#agent.compact(this.conversation, options));
    if (done.state === "nothing" || done.state === "too_little")
      this.#printer.notice("There is too little to summarise yet; nothing was changed.");
    else if (done.state === "failed") this.#printer.fault(`${done.message}. The conversation is as it was.`);
  }

  async fork(at: EntryId | null): ReturnType<ChatSession["fork"]> {
    const cut = at === null ? null : cutPoint(await this.#branchThrough(at), at);
    const { config } = await this.conversation.settings();
    const cwd = cwdOf(config, (await this.conversation.head()).cwd);
    const conversation = await this.conversation.fork({
      ...(cut === null ? {} : { at: cut.at }),
      ...(cwd === null ? {} : { cwd }),
    });
    return { conversation, how: SEES, editable: cut?.editable ?? null };
  }

  async goBackTo(entry: EntryId): Promise<{ readonly how: string }> {
    await this.#agent.goBackTo(this.conversation, entry);
    return { how: SEES };
  }

  async #branchThrough(entry: EntryId): ReturnType<Conversation["branch"]> {
    const branch = await this.conversation.branch();
    return branch.some(({ id }) => id === entry) ? branch : this.conversation.branch({ at: entry });
  }
}

/** Endings whose event has said it all; null is a turn that waits. */
const TOLD: ReadonlySet<AgentResult["class"]> = new Set(["completed", "cancelled", "empty", null]);
const TITLE_COLUMNS = 60;

/** A list without a word of what was said would not help whoever looks for a conversation. */
export function titleOf(prompt: string): string {
  return fit(safeLine(prompt.trim().split("\n")[0] ?? ""), TITLE_COLUMNS);
}

const SEES = "the model sees what is on the branch";
