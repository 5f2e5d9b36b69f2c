import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { Inbox } from "#edges/cli/chat/typed-lines";
import { order } from "#edges/cli/chat/slash-commands";
import { ChatSession } from "#edges/cli/chat/chat-session";
import type { Call, Command } from "#edges/cli/command";
import { failureOf, STATUS } from "#edges/cli/exit";
import { Stage } from "#edges/cli/chat/chat-printer";
import { safeLine } from "#edges/cli/terminal";

const PACE_MS = 25;

export const chat: Command = {
  name: "chat",
  summary: "Talk to a simulated agent; the conversation survives quitting, and faults",
  usage: ["[ID] [--pace MS]"],
  about: `Goes on with conversation ID, or begins one: under that id if none has it, else under a fresh
one. No key, no network: the agent is simulated and says so. Its own sessions are gone when
you quit; the next chat restores the conversation from the log. /help lists what may be
typed, /quit or Ctrl-D ends. Ctrl-C stops the running turn; a second one quits.

  --pace MS  between two pieces of an answer: 25 on a terminal, else 0

Works with piped input too: each line waits for the one before it, but /cancel does not.`,
  examples: [
    "holdfast chat",
    "holdfast chat party",
    "printf 'remember a=1\\nrecall a\\n' | holdfast chat demo",
  ],
  options: { pace: { type: "string" } },
  writes: true,
  arity: [0, 1],
  async run(call) {
    if (call.json)
      throw new LogError(
        "invalid_request",
        "chat is for people; `holdfast log ID -f --json` follows a conversation for scripts",
      );
    const { out } = call.io;
    const stage = new Stage(out);
    const { holdfast } = await call.open();
    const conversation = await enter(holdfast, call, stage);
    const paceMs = call.flags.count("pace") ?? (out.isTerminal ? PACE_MS : 0);
    const chatSession = await ChatSession.enter(holdfast, conversation, { space: call.space, stage, paceMs });
    const status = await talk(call, chatSession, stage);
    stage.say(`\nEverything is kept. → holdfast chat ${safeLine(chatSession.conversation.id)}`);
    return status;
  },
};

async function enter(holdfast: Holdfast, call: Call, stage: Stage): Promise<Conversation> {
  const [name] = call.args;
  const found = name === undefined ? null : await existing(holdfast, name);
  if (found === null) {
    const made = await holdfast.create(name === undefined ? {} : { id: name });
    stage.say(
      `A new conversation, ${safeLine(made.id)}. The agent is simulated: try "remember color=blue", then "recall color". /help lists more.`,
    );
    return made;
  }
  const { length } = (await found.branch()).filter((entry) => entry.type === "message");
  stage.say(
    `Conversation ${safeLine(found.id)}, ${length} messages. The simulated agent lost its own sessions when the last chat ended; your next message restores the conversation from the log. /help lists what may be typed.`,
  );
  return found;
}

async function existing(holdfast: Holdfast, name: string): Promise<Conversation | null> {
  try {
    return await holdfast.find(name);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

/** Takes line after line until there are no more. Scripts learn from the status that something was refused. */
async function talk(call: Call, chatSession: ChatSession, stage: Stage): Promise<number> {
  const { io } = call;
  const inbox = new Inbox();
  const isCancel = (line: string): boolean => line.trim() === "/cancel" && chatSession.cancel();
  const reading = inbox.read(io.stdin, isCancel);
  reading.catch(() => inbox.close());
  onInterrupt(call, chatSession, inbox);
  let status: number = STATUS.ok;
  for (;;) {
    // Fails when nobody reads any more.
    await io.out.write(io.stdinIsTerminal ? io.out.style.cyan("> ") : "");
    const line = (await inbox.next())?.trim() ?? null;
    if (line === null || line === "/quit" || line === "/exit") return status;
    if (line === "") continue;
    if (!io.stdinIsTerminal) stage.you(line);
    try {
      if (line.startsWith("/")) await order({ chatSession, stage, out: io.out }, line);
      else await chatSession.send(line);
    } catch (error) {
      if (!isLogError(error)) throw error;
      const failure = failureOf(error);
      stage.strike([failure.message, failure.next].filter(Boolean).join(" "));
      if (!io.stdinIsTerminal && status === STATUS.ok) ({ status } = failure);
    }
  }
}

/** Ctrl-C stops the running turn; one while nothing runs, or a second one in the same turn, quits. */
function onInterrupt(call: Call, chatSession: ChatSession, inbox: Inbox): void {
  call.io.catchInterrupt().addEventListener("abort", () => {
    if (chatSession.interrupt()) return onInterrupt(call, chatSession, inbox);
    inbox.close();
  });
}
