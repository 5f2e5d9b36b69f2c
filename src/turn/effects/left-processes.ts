import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import { eachEntry } from "#conversation/read-log";
import type { Entry, EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { turnsOf } from "#log/projections/turns";
import { fieldsIn, textIn } from "#log/json/json-fields";
import { endGroup, readIdentity } from "./process-group.ts";
import { spaceOf } from "#conversation/on-space";

/** Said with a result: what the tool had started is ended. */
export function processEnded(call: string, process: string): Extract<EntryBody, { type: "tool_progress" }> {
  return { type: "tool_progress", call, data: { process, ended: true } };
}

interface ToolProcess {
  readonly call: string;
  readonly process: string;
}

/** The processes that tools made known and of which nothing says that they ended. */
export function openToolProcesses(facts: Iterable<Entry>): readonly ToolProcess[] {
  const open = new Map<string, ToolProcess>();
  for (const fact of facts) {
    if (fact.type !== "tool_progress") continue;
    const data = fieldsIn(fact.data);
    const process = textIn(data?.["process"]);
    if (process === null) continue;
    if (data?.["ended"] === true) open.delete(process);
    else open.set(process, { call: fact.call, process });
  }
  return [...open.values()];
}

/**
 * Ends what the tools of an open turn have left running when their process died, before anybody goes on with it: else two
 * would work in one folder. A number that is another process's by now is left alone. `startSeq`: where the turn began.
 */
export async function endLeftTools(
  at: { readonly conversation: Conversation; readonly owner: Owner },
  startSeq: number,
): Promise<void> {
  const ended = await endToolProcesses(at.conversation, startSeq);
  if (ended.length > 0) await at.owner.append(ended);
}

/** The same for a caller that writes the entries itself. */
export async function endToolProcesses(
  conversation: Conversation,
  startSeq: number,
): Promise<readonly EntryBody[]> {
  const processes = openToolProcesses(await progressFacts(conversation, startSeq));
  for (const { process } of processes) {
    const identity = readIdentity(process);
    try {
      if (identity !== null) await endGroup(identity);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      const why = `A process started by a tool of the last turn may still be running and could not be stopped (${message}). Stop it, then try again.`;
      throw new LogError("busy", why, {}, { cause });
    }
  }
  return processes.map(({ call, process }) => processEnded(call, process));
}

async function progressFacts(conversation: Conversation, startSeq: number): Promise<readonly Entry[]> {
  const facts: Entry[] = [];
  const onEntry = (entry: Entry): void => {
    // What tools say while they run may be long, and is not asked for here.
    if (entry.type === "tool_progress" && entry.data !== undefined) facts.push(entry);
  };
  await eachEntry(spaceOf(conversation), conversation.id, {
    after: startSeq,
    types: ["tool_progress"],
    onEntry,
  });
  return facts;
}

/** Ends the process a record names, where it names one of this machine; else there is nothing that could be ended from here. */
export async function endRecordedProcess(process: string): Promise<void> {
  const identity = readIdentity(process);
  if (identity !== null) await endGroup(identity);
}

/** The same for an agent in a process of its own that was asked in a turn nobody ended: it may be at work still. */
export async function endLeftAgent(
  facts: readonly Entry[],
  endProcess: (process: string) => Promise<void>,
): Promise<void> {
  const open = turnsOf(facts).findLast((turn) => turn.outcome === null);
  const attempt = facts.findLast((fact) => fact.type === "attempt" && fact.turn === open?.id);
  if (attempt?.type !== "attempt" || attempt.process === undefined) return;
  try {
    await endProcess(attempt.process);
  } catch (cause) {
    const why =
      "The agent of the last turn may still be running and could not be stopped. Stop its process, then try again.";
    throw new LogError("busy", why, {}, { cause });
  }
}
