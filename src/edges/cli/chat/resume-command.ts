import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import { vendorOf } from "#vendors/known-vendors";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const resumeCommand: Command = {
  name: "resume",
  summary: "Resume a conversation in its own agent, or in chat",
  forms: ["ID"],
  about: `Opens a conversation of Claude Code, Codex or opencode in that agent's program, with its current
session and folder; Holdfast imports what you say there with the next turn it runs. A conversation
of Holdfast's own loop opens as with \`holdfast chat ID\`. Use \`continue\` to finish an interrupted
turn in a script.`,
  examples: [
    "holdfast resume ID",
    "holdfast resume ID --print-command",
    "holdfast resume ID --print-command --json",
  ],
  options: { "--print-command": "print the command for a shell instead of running it" },
  writes: true,
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const way = await wayOn(conversation);
    if (call.flags.has("print-command")) return print(call, conversation.id, way);
    if (way.session === null) return call.run(way.command.slice(1), call.io);
    return runProgram(call, way);
  },
};

interface WayOn {
  readonly agent: string | null;
  /** The session of the agent; null: it goes on in a chat. */
  readonly session: string | null;
  readonly cwd: string | null;
  readonly command: readonly string[];
}

/** Which command goes on with it. */
async function wayOn(conversation: Conversation): Promise<WayOn> {
  const { cwd, summary } = await conversation.head();
  const link = (await conversation.chain()).at(-1);
  const command = link === undefined ? null : (vendorOf(link.agent).resumeCommand?.(link.id) ?? null);
  if (link !== undefined && command !== null) return { agent: link.agent, session: link.id, cwd, command };
  const model = summary?.model ?? null;
  const modelFlags = link !== undefined || model === null ? [] : ["--model", model];
  const chat = ["holdfast", "chat", conversation.id, ...modelFlags];
  return { agent: link?.agent ?? null, session: null, cwd, command: chat };
}

async function print(call: Call, conversation: string, way: WayOn): Promise<void> {
  const line = shellLine(way.command, way.cwd);
  await answer(call, { conversation, ...way, line }, () => line);
}

async function runProgram(call: Call, { command, cwd, agent }: WayOn): Promise<number> {
  const [program = "", ...args] = command;
  if (cwd !== null && !existsSync(cwd))
    throw new LogError("invalid_request", `Folder ${cwd} no longer exists`, {
      cwd,
    });
  if (!call.json)
    await remark(call, `${safeLine(agent ?? program)} continues. Holdfast imports its new messages later.`);
  const child = spawn(program, args, {
    stdio: "inherit",
    env: call.io.env,
    ...(cwd === null ? {} : { cwd }),
  });
  try {
    const [status] = (await once(child, "exit")) as [number | null];
    return status ?? 1;
  } catch (cause) {
    throw new LogError(
      "invalid_request",
      `${program} could not be started; --print-command prints the command for another shell`,
      { program },
      { cause },
    );
  }
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A command as a line for a shell, in its folder: every word is one word there, whatever it holds. */
function shellLine(command: readonly string[], cwd: string | null): string {
  const line = command.map(quoted).join(" ");
  return cwd === null ? line : `cd ${quoted(cwd)} && ${line}`;
}

function quoted(word: string): string {
  // A terminal that such a line is pasted into would obey them.
  if (/\p{Cc}/u.test(word))
    throw new LogError(
      "invalid_request",
      "The command has control characters, so it cannot be a line for a shell",
    );
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
