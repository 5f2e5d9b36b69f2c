import type { AgentTurnOptions } from "#agent/agent-options";
import type { Agent } from "#agent/agent";
import type { Refusal } from "#agent/tools/permissions";
import type { Conversation } from "#conversation/conversation";
import type { EndingClass } from "#log/ending-class";
import type { TurnOutcome } from "#log/entry";
import type { Host, HostEvent, PermissionAsked } from "#turn/host";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { STATUS, failureOf } from "#edges/cli/exit";
import { safeLine, safeText } from "#edges/cli/terminal/terminal";
import { deniedBy, deniedLine, toolLines } from "#edges/cli/terminal/printer";
import { jsonPreview } from "#transfer/views/entry-preview";
import {
  AGENT_OPTIONS,
  type BaseUrls,
  changeConfig,
  chatModel,
  openAgent,
  turnFlags,
} from "./agent-flags.ts";
import { endingText } from "./turn-text.ts";
import { whenFree } from "./turn-text.ts";
import { isLogError } from "#log/errors";
import { findConversation } from "#edges/cli/address";

/** What a turn came to, whoever carried it. */
export interface Ended {
  readonly outcome: TurnOutcome | "waiting";
  readonly class: EndingClass | null;
  readonly text: string;
  readonly message: string;
  readonly resetAtMs: number | null;
  readonly model?: string | null;
  readonly waiting?: readonly PermissionAsked[];
}

/** Who listens where nobody looks on, and what may stop it. */
export interface Headless {
  readonly host: Host;
  readonly signal: AbortSignal;
  /** Told beside the answer. */
  readonly remark: (text: string) => void;
  /** Names the conversation as soon as it is known. */
  begin(conversation: Conversation): void;
}

/** Runs one turn for a script: the answer on stdout, or every event as a line of JSON, and a status that says how it ended. */
export async function runHeadless(call: Call, run: (output: Headless) => Promise<Ended>): Promise<number> {
  const { out, err } = call.io;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const write = (sink: typeof out, text: string): void => {
    lastWrite = lastWrite.then(() => sink.write(text));
    lastWrite.catch(() => undefined); // told below
  };
  let conversation: string | null = null;
  // The last line says how it all went, so it is written once, at the end.
  const end = (value: object): void => write(out, jsonLine({ type: "ended", conversation, ...value }));
  let isDenied = false;
  const output: Headless = {
    host: {
      onEvent: (event) => {
        isDenied ||= denialIn(event) !== null;
        if (!call.json) write(err, toolLine(event));
        else if (event.type !== "ended") write(out, jsonLine(event));
      },
      ...(call.flags.has("allow-all") ? { onPermission: async () => "allow" } : {}),
    },
    signal: call.io.catchInterrupt(),
    remark: (text) => write(err, call.json ? "" : `${safeLine(text)}\n`),
    begin: ({ id }) => void (conversation = id),
  };
  try {
    const turnEnd = await run(output);
    if (call.json) end(turnEnd);
    else {
      if (turnEnd.text !== "") write(out, `${safeText(turnEnd.text).trimEnd()}\n`);
      else if (turnEnd.outcome === "completed" && turnEnd.message !== "")
        write(err, `${safeLine(turnEnd.message)}.\n`);
      if (turnEnd.outcome !== "completed")
        write(err, `holdfast: ${safeText(messageOf(turnEnd, conversation))}\n`);
    }
    await lastWrite;
    return statusOf(turnEnd, isDenied);
  } catch (error) {
    const { code, message } = failureOf(error);
    if (call.json) end({ outcome: "failed", class: null, message, code });
    await lastWrite;
    throw error;
  }
}

/** Lets an agent carry the turn, once whoever has the conversation lets go of it. */
export async function runAgent(
  call: Call,
  output: Headless,
  turn: {
    readonly agent: Agent;
    readonly conversation: Conversation;
    readonly urls: BaseUrls;
    run(options: AgentTurnOptions): Promise<Ended>;
  },
): Promise<Ended> {
  const { agent, conversation } = turn;
  output.signal.addEventListener("abort", () => agent.cancel(conversation));
  for (const { message } of (await agent.restore(conversation)).missing) output.remark(`⚡ ${message}`);
  return whenFree(conversation, { signal: output.signal, onWait: output.remark }, async () => {
    await changeConfig(agent, conversation, (config) => turn.urls.in(config));
    const onEvent = (event: HostEvent): void => {
      // An interrupt may have come when there was no turn yet.
      if (output.signal.aborted) agent.cancel(conversation);
      output.host.onEvent?.(event);
    };
    return turn.run({ ...turnFlags(call), ...output.host, onEvent });
  });
}

function toolLine(event: HostEvent): string {
  if (event.type === "backing_off")
    return `${safeLine(event.message)}; asked again in ${Math.ceil(event.delayMs / 1_000)} s\n`;
  if (event.type !== "update" || event.event.type !== "tool") return "";
  const { name, input, state, output } = event.event;
  const denied = denialIn(event);
  if (state === "started") return `▸ ${safeLine(name)} ${safeLine(jsonPreview(input))}\n`;
  if (state !== "failed") return "";
  if (denied === "nobody")
    return `✗ ${safeLine(name)}: requires approval, and no terminal is connected. Use --allow-all to allow it.\n`;
  if (denied !== null) return `${safeLine(deniedLine(name, denied))}\n`;
  const [first = "", ...rest] = toolLines(true, output ?? "");
  const lines = [`✗ ${safeLine(name)}: ${first.slice(2)}`, ...rest];
  return lines.map((line) => `${safeText(line).replaceAll("\n", " ")}\n`).join("");
}

function denialIn(event: HostEvent): Refusal | null {
  return event.type === "update" && event.event.type === "tool" ? deniedBy(event.event.details) : null;
}

function messageOf(turnEnd: Ended, conversation: string | null): string {
  const { outcome, message, model = null } = turnEnd;
  if (model === null) return message;
  const place = { at: "command", conversation: conversation ?? "ID" } as const;
  if (outcome !== "waiting") return endingText({ ...turnEnd, model }, place, Date.now());
  return `${message}. \`holdfast chat ${conversation}\` asks you again; \`holdfast continue ${conversation} --allow-all\` allows it.`;
}

const LATER: ReadonlySet<EndingClass | null> = new Set(["limit", "credit", "overloaded"]);

function statusOf({ outcome, class: endClass }: Ended, isDenied: boolean): number {
  if (outcome === "waiting") return STATUS.waiting;
  if (outcome === "completed") return isDenied ? STATUS.denied : STATUS.ok;
  return LATER.has(endClass) ? STATUS.unavailable : STATUS.unexpected;
}

export const continueCommand: Command = {
  name: "continue",
  summary: "Finish an interrupted turn",
  forms: ["ID"],
  about: `Runs the tool calls that hadn't started, keeps the results that are known, and tells the model which
outcomes are unknown: those calls are not repeated. Prints the answer and exits as \`chat -p\`
does. Takes over from a crashed process at once and waits for a running one. A question for you
stays open unless you answered it or pass --allow-all. If the last turn is complete, it says so
and exits with 0. Use \`resume\` to open a conversation.`,
  examples: ["holdfast continue ID", "holdfast continue ID --allow-all --json"],
  options: AGENT_OPTIONS,
  writes: true,
  run: (call) =>
    runHeadless(call, async (output) => {
      const holdfast = await call.open();
      const conversation = await findConversation(holdfast, call.args[0] ?? "");
      output.begin(conversation);
      if (await isComplete(conversation)) return COMPLETE;
      const openedModel = await chatModel(call, conversation, `holdfast continue ${conversation.id}`);
      const { agent } = await openAgent(holdfast, conversation, openedModel);
      return runAgent(call, output, {
        agent,
        conversation,
        urls: openedModel.urls,
        run: (options) => agent.continue(conversation, options).catch(ifComplete),
      });
    }),
};

const COMPLETE: Ended = {
  outcome: "completed",
  class: "completed",
  text: "",
  message: "Nothing to continue: the last turn is complete",
  resetAtMs: null,
};

/** Whether the last turn has ended well; then no model is needed, whichever agent ran it. */
async function isComplete(conversation: Conversation): Promise<boolean> {
  const last = await conversation.latest(["turn_start", "turn_end"]);
  return last?.type === "turn_end" && last.outcome === "completed";
}

/** Of two processes that continue a turn the later one finds it complete. */
function ifComplete(error: unknown): Ended {
  if (!isLogError(error, "invalid_request") || !("completed" in error.details)) throw error;
  return COMPLETE;
}
