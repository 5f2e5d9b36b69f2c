import type { Holdfast } from "#conversation/holdfast";
import type { SignOutFailure } from "#conversation/sign-out";
import { isLogError, LogError } from "#log/errors";
import { isHeld } from "#log/plans/lease";
import { adoptAgentSession as adopt, type AgentSession, readAgentSessions } from "#transfer/agent-sessions";
import { conversationOf } from "./acts.ts";
import { operation } from "./operation.ts";
import {
  answer,
  count,
  flag,
  idField,
  list,
  named,
  nullable,
  open,
  optional,
  text,
  time,
} from "./schemas.ts";

// What takes something away has no route: a person on the machine does it.

export const eraseConversation = operation({
  summary: "Permanently delete a conversation",
  group: "Conversations",
  access: "admin",
  kind: "act",
  cli: "delete conversation",
  input: {
    conversation: idField,
    unchangedSince: optional(time),
    dryRun: optional(flag("reports what would be erased without erasing")),
  },
  output: answer({
    conversation: text(),
    erased: flag(),
    extent: optional(
      open<{ readonly title: string | null; readonly entries: number | null }>({
        title: nullable(text()),
        entries: nullable(count({ about: "null if the log is damaged" })),
      }),
    ),
  }),
  async run({ unchangedSince, dryRun = false, ...input }, context) {
    const conversation = conversationOf(input, context);
    // One that is damaged can go, too: what cannot be read may be what has to.
    const head = await conversation.head().catch((error: unknown) => {
      if (!isLogError(error, "damaged")) throw error;
      return { title: null, headSeq: null };
    });
    if (
      unchangedSince !== undefined &&
      !(await isPrunable(context.holdfast, conversation.id, unchangedSince))
    )
      throw new LogError("head_moved", `${conversation.id} is in use again`, {
        conversation: conversation.id,
      });
    if (dryRun) {
      const { title, headSeq: entries } = head;
      return { conversation: conversation.id, erased: false, extent: { title, entries } };
    }
    await conversation.erase();
    return { conversation: conversation.id, erased: true };
  },
});

export const listPrunable = operation({
  summary: "List old conversations that are not pinned and have no running turn",
  group: "Across conversations",
  access: "read",
  kind: "read",
  cli: "prune",
  input: { before: time, archived: optional(flag("only archived ones")) },
  output: answer({
    conversations: list(
      open<PrunableRow>({
        conversation: text(),
        title: nullable(text()),
        updatedAt: text(),
        entries: count(),
      }),
    ),
  }),
  async run({ before, archived = false }, { holdfast }) {
    if (Number.isNaN(Date.parse(before)))
      throw new LogError("invalid_request", "before must be a time in ISO 8601");
    const conversations: PrunableRow[] = [];
    for await (const row of holdfast.list(archived ? { filter: { archived } } : {})) {
      const { conversation, title, updatedAt, headSeq: entries, damage } = row;
      if (damage === null && (await isPrunable(holdfast, conversation, before)))
        conversations.push({ conversation, title, updatedAt, entries });
    }
    return { conversations };
  },
});

export interface PrunableRow {
  readonly conversation: string;
  readonly title: string | null;
  readonly updatedAt: string;
  readonly entries: number;
}

/** Whether nobody would miss it, as far as the log can say. */
async function isPrunable(holdfast: Holdfast, id: string, before: string): Promise<boolean> {
  try {
    const conversation = await holdfast.conversation(id);
    const { updatedAt, lease, summary } = await conversation.head();
    if (Date.parse(updatedAt) >= Date.parse(before)) return false;
    const { turn, metadata } = summary ?? (await conversation.summary());
    return !isHeld(lease) && turn?.state !== "open" && metadata.pinned !== true;
  } catch (error) {
    if (isLogError(error) && (error.group === "missing" || error.group === "damaged")) return false;
    throw error;
  }
}

export const signOut = operation({
  summary: "Stop resuming an account's sessions and clear their context",
  group: "Across conversations",
  access: "admin",
  kind: "act",
  cli: "sign-out",
  input: {
    agent: optional(text({ min: 1 })),
    account: optional(text({ min: 1 })),
    all: optional(flag("of every agent and account")),
    keepContext: optional(flag("sends the context to the next account")),
  },
  output: answer({
    agent: nullable(text()),
    account: nullable(text()),
    ended: count(),
    reset: list(text()),
    failed: list(open<SignOutFailure>({ conversation: text(), code: text(), message: text() })),
  }),
  async run({ agent, account, all = false, keepContext = false }, { holdfast, onProgress }) {
    if (all === (agent !== undefined || account !== undefined))
      throw new LogError("invalid_request", "Pass `agent`, `account` or `all`");
    const { ended, reset, failed } = await holdfast.signOut({
      ...(agent === undefined ? {} : { agent }),
      ...(account === undefined ? {} : { account }),
      keepContext,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    return { agent: agent ?? null, account: account ?? null, ended, reset, failed };
  },
});

export const listAgentSessions = operation({
  summary: "List agent sessions on the server's machine that are not imported yet, newest first",
  group: "Agent sessions",
  access: "admin",
  kind: "read",
  http: "GET /api/agent-sessions",
  input: {},
  output: answer({
    sessions: list(
      named(
        "AgentSession",
        open<AgentSession>({
          agent: text(),
          session: text(),
          cwd: nullable(text()),
          title: nullable(text()),
          updatedAt: text(),
        }),
      ),
    ),
  }),
  run: async (_input, { holdfast, agentRecords = new Map() }) => ({
    sessions: await readAgentSessions(holdfast, agentRecords),
  }),
});

export const adoptAgentSession = operation({
  summary: "Import an agent session as a conversation; you can continue it in both",
  group: "Agent sessions",
  access: "admin",
  kind: "act",
  http: "POST /api/agent-sessions",
  status: 201,
  input: { agent: text({ min: 1, max: 100 }), session: text({ min: 1, max: 200 }) },
  output: answer({ conversation: text() }),
  async run(input, { holdfast, agentRecords = new Map() }) {
    try {
      return { conversation: (await adopt(holdfast, agentRecords, input)).id };
    } catch (error) {
      // What came again finds it there, or being made: it is what was asked for.
      if (!isLogError(error, "conversation_not_found") && !isLogError(error, "conversation_exists"))
        throw error;
      const made = await holdfast.conversation(`${input.agent}:${input.session}`).catch(() => null);
      if (made === null) throw error;
      return { conversation: made.id };
    }
  },
});
