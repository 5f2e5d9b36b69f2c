import type { Agent } from "#agent/agent";
import type { AgentResult, AgentTurnOptions } from "#agent/agent-options";
import { modelOfSettings } from "#agent/models/model-choice";
import { modelChange } from "#log/projections/settings";
import { runSkillOrder } from "#agent/skills/change-skills";
import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { newChat } from "#operations/conversations";
import { perform } from "#operations/operation";
import { isLogError, LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { cutAt, forkAtCut } from "#conversation/read-cut";
import { TOO_LITTLE_TO_SUMMARIZE } from "#operations/text";
import { promptTitle } from "#log/title";
import type { Host, HostEvent } from "#turn/host";
import type { ContentBlock, Usage } from "#log/message";
import { counted } from "#edges/cli/terminal/terminal";
import { type OpenedModel, changeConfig } from "./agent-flags.ts";
import type { Printer } from "#edges/cli/terminal/printer";
import { endedText, abandonedText } from "./turn-text.ts";
import { dollarText, usageText } from "#edges/cli/commands/usage";
import { WaitingLine, whenFree } from "./turn-text.ts";

const COMMANDS_HELP = `  /model [NAME [URL]]  the model that is asked; another one from here on
  /compact [FOCUS]     summarises what is older, for the model; the log keeps every word
  /continue            goes on with a turn that was cut off, stopped or waits for an answer
  /skill [NAME [off]]  the skills there are; activates one, or ends that
  /summary [on|off]    whether the model is told of a branch that /goto or /edit leaves
  /usage               what this conversation used, and what it cost`;

interface ChatSessionParts {
  readonly holdfast: Holdfast;
  readonly agent: Agent;
  readonly printer: Printer;
  readonly openedModel: OpenedModel;
  readonly turn: AgentTurnOptions;
  readonly ask: NonNullable<Host["onPermission"]>;
  readonly isNew: boolean;
}

/** A conversation and the model that answers in it. */
export class ChatSession {
  /** Another one after a fork. */
  conversation: Conversation;
  /** A tool asks the person for permission. */
  isAsking: boolean = false;
  /** The last turn is parked until a question is answered. */
  isWaiting: boolean = false;
  /** The lines of help about `commands`. */
  readonly help: string = COMMANDS_HELP;
  /** The slash commands that need a model. */
  readonly commands: { readonly [name: string]: (rest: string) => Promise<void> | void } = {
    model: (rest) => this.#model(rest),
    compact: (rest) => this.#compact(rest),
    skill: async (rest) => this.#printer.lines(await runSkillOrder(this.#agent, this.conversation, rest)),
    continue: () =>
      this.#run((options) => this.#agent.continue(this.conversation, options)).catch((error: unknown) => {
        if (!isLogError(error, "invalid_request") || !("completed" in error.details)) throw error;
        this.#printer.notice(`${error.message}.`);
      }),
    summary: (rest) => this.#summary(rest),
    usage: async () => this.#printer.notice(usageText(await this.conversation.usage())),
  };
  readonly #agent: Agent;
  readonly #holdfast: Holdfast;
  readonly #printer: Printer;
  readonly #patience: WaitingLine;
  readonly #openedModel: OpenedModel;
  readonly #ask: ChatSessionParts["ask"];
  #turn: AgentTurnOptions;
  #isNew: boolean;
  #summarises: boolean = false;
  #waiting: AbortController | null = null;

  constructor(conversation: Conversation, parts: ChatSessionParts) {
    this.conversation = conversation;
    this.#agent = parts.agent;
    this.#holdfast = parts.holdfast;
    this.#printer = parts.printer;
    this.#patience = new WaitingLine(parts.printer);
    this.#openedModel = parts.openedModel;
    this.#ask = async (request, signal) => {
      this.isAsking = true;
      return parts.ask(request, signal).finally(() => void (this.isAsking = false));
    };
    this.#turn = parts.turn;
    this.#isNew = parts.isNew;
  }

  /** Stops the running turn; false when none runs. */
  cancel(): boolean {
    const waits = this.#waiting !== null;
    this.#waiting?.abort();
    return this.#agent.cancel(this.conversation) || waits;
  }

  async send(text: string): Promise<void> {
    const title = this.#isNew ? promptTitle(text) : null;
    if (title !== null) await this.conversation.title(title);
    this.#isNew = false;
    await this.#run(async (options) => {
      const abandoned = await abandonedText(this.conversation);
      if (abandoned !== null) this.#printer.notice(abandoned);
      return this.#agent.send(this.conversation, text, options);
    });
  }

  async #run(turn: (options: AgentTurnOptions) => Promise<AgentResult>): Promise<void> {
    const host: Host = { onEvent: (event) => this.#show(event), onPermission: this.#ask };
    this.isWaiting = false;
    const turnEnd = await this.#whenFree(async () => {
      await this.#keepUrls();
      return turn({ ...this.#turn, ...host });
    }).finally(() => this.#patience.end());
    this.isWaiting = turnEnd.outcome === "waiting";
    const text = endedText(turnEnd);
    if (text !== null) this.#printer.notice(text);
    const { model: _, ...rest } = this.#turn; // it is the conversation's own by now
    this.#turn = rest;
  }

  #keepUrls(): Promise<void> {
    return changeConfig(this.#agent, this.conversation, (config) => this.#openedModel.urls.in(config));
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
        "Another process still has the conversation, so the message was not sent",
        {},
        { cause: error },
      );
    } finally {
      this.#waiting = null;
    }
  }

  /** How a turn ended is told by its result, which says why and what to do. */
  #show(event: HostEvent): void {
    this.#patience.end();
    if (event.type === "step") this.#patience.begin(`waiting for ${event.model}`);
    if (event.type === "ended") this.#printer.endStreams();
    else if (event.type !== "parked" && event.type !== "waiting") this.#printer.event(event);
  }

  async #model(rest: string): Promise<void> {
    const [name = "", url] = rest.split(/\s+/);
    const recordedModel = modelOfSettings(await this.conversation.settings());
    if (name === "") {
      const requestedModel = typeof this.#turn.model === "string" ? this.#turn.model : null;
      return this.#printer.notice(
        `${requestedModel ?? recordedModel ?? this.#openedModel.model.id} is asked. /model PROVIDER/NAME [BASE-URL] chooses another.`,
      );
    }
    const { urls, open } = this.#openedModel;
    const before = urls.of(name);
    if (url !== undefined) urls.set(name, url);
    const { id } = await open(name).catch((error: unknown) => {
      if (before === undefined) urls.forget(name);
      else urls.set(name, before);
      throw error;
    });
    await this.#whenFree(async () => {
      await this.#keepUrls();
      if (id !== recordedModel) await this.#agent.note(this.conversation, [modelChange(id)]);
    });
    const { model: _, ...turnOptions } = this.#turn;
    this.#turn = turnOptions;
    this.#printer.notice(`Switched to ${id}. It receives the whole conversation.`);
  }

  async #compact(focus: string): Promise<void> {
    const { model } = this.#turn;
    const options = {
      ...(model === undefined ? {} : { model }),
      onEvent: (event: HostEvent) => this.#show(event),
      ...(focus === "" ? {} : { focus }),
    };
    const result = await this.#whenFree(() => this.#agent.compact(this.conversation, options));
    if (result.state === "nothing" || result.state === "too_little")
      this.#printer.notice(TOO_LITTLE_TO_SUMMARIZE);
    else if (result.state === "failed") this.#printer.fault(failedSummary(result));
  }

  /** Continues in a fork, at an entry or at the end. `how` says what the model knows. */
  async fork(entry: EntryId | null): Promise<{
    readonly conversation: Conversation;
    readonly note: string;
    readonly editable: readonly ContentBlock[] | null;
  }> {
    const { conversation, editable } = await forkAtCut(
      this.conversation,
      entry === null ? {} : { at: entry },
    );
    return { conversation, note: SEES, editable };
  }

  /** Nothing above reaches the model from here on. */
  async newChat(): Promise<void> {
    const place = { holdfast: this.#holdfast, clock: systemClock };
    await perform(newChat, { conversation: this.conversation.id }, place);
  }

  /** Continues from another entry. */
  async goTo(entry: EntryId): Promise<{ readonly note: string }> {
    return (await this.#leaveFor(entry)) ?? this.#move(entry);
  }

  /** Continues before a message of the person. */
  async goBackTo(entry: EntryId): Promise<{ readonly note: string }> {
    if (this.#summarises) {
      const { at } = await cutAt(this.conversation, entry);
      const move = await this.#leaveFor(at);
      if (move !== null) return move;
    }
    await this.#whenFree(() => this.#agent.goBackTo(this.conversation, entry));
    return { note: this.#summarises ? SEES : UNTOLD };
  }

  async #move(entry: EntryId): Promise<{ readonly note: string }> {
    await this.#whenFree(() => this.#agent.goTo(this.conversation, entry));
    return { note: this.#summarises ? SEES : UNTOLD };
  }

  /** With a summary of what is left, where one is wanted and there is something to tell. */
  async #leaveFor(entry: EntryId): Promise<{ readonly note: string } | null> {
    if (!this.#summarises) return null;
    const options = { summarise: true, onEvent: (event: HostEvent) => this.#show(event) };
    const result = await this.#whenFree(() => this.#agent.goTo(this.conversation, entry, options));
    if (result.state === "failed") throw new LogError("invalid_request", failedSummary(result));
    return {
      note: result.state === "summarised" ? "the model gets a summary of the branch you left" : SEES,
    };
  }

  #summary(rest: string): void {
    if (rest !== "" && rest !== "on" && rest !== "off")
      throw new LogError("invalid_request", "/summary takes on or off");
    if (rest !== "") this.#summarises = rest === "on";
    this.#printer.notice(
      this.#summarises
        ? "When /goto or /edit leaves a branch, the model first writes a summary of it and gets that summary from then on."
        : "A branch that /goto or /edit leaves is not told to the model; /summary on changes that.",
    );
  }
}

/** A try that failed may have cost something, too. */
function failedSummary({
  message,
  usage,
}: {
  readonly message: string;
  readonly usage: Usage | null;
}): string {
  const { costMicros, outputTokens } = usage ?? {};
  const cost = costMicros === undefined ? "" : ` and cost ${dollarText(costMicros)}`;
  const used =
    outputTokens === undefined ? "" : ` The try used ${counted(outputTokens, "token")} of answer${cost}.`;
  return `${message.replace(/\.$/, "")}. The conversation is as it was.${used}`;
}

const SEES = "the model sees only the active branch";
const UNTOLD = `${SEES} (/summary on tells it of the one that is left, too)`;
