import type { Holdfast } from "#conversation/holdfast";
import { readSummary } from "#conversation/list-conversations";
import { isLogError, LogError } from "#log/errors";
import { isHeld } from "#log/plans/lease";
import type { ConversationRow } from "#store/requests";
import { audited } from "#edges/http/access/audit-log";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { counted, pad, safeLine } from "#edges/cli/terminal/terminal";
import { pastTime } from "./past-time.ts";
import { ageOf } from "#edges/cli/view/time";

export const pruneCommand: Command = {
  name: "prune",
  summary: "Removes conversations for good that nobody has changed for long",
  usage: ["--older-than TIME [--archived] [--dry-run | --yes]"],
  about: `Nothing is ever removed by itself: this is how it is done on purpose. Those that are pinned, that have a
turn that did not end, or that are damaged stay. Forks keep what they inherited. The bytes are really gone: \`holdfast
export\` first what you may want back.

  --older-than TIME  not changed since: 90d, 12w, 2026-01-31
  --archived         only those that are archived
  --dry-run          says what would go, and removes nothing
  --yes              removes it; without either it says what would go and exits with 2`,
  examples: ["holdfast prune --older-than 90d --dry-run", "holdfast prune --older-than 1w --archived --yes"],
  options: {
    "older-than": { type: "string" },
    archived: { type: "boolean" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean" },
  },
  writes: true,
  arity: [0, 0],
  async run(call) {
    const { flags } = call;
    const asked = flags.text("older-than");
    if (asked === undefined)
      throw new LogError("invalid_request", "Say how old: --older-than 90d; nothing was removed");
    if (flags.has("yes") && flags.has("dry-run"))
      throw new LogError("invalid_request", "--dry-run and --yes are opposites; nothing was removed");
    const before = pastTime("older-than", asked, Date.now());
    const holdfast = await call.open({ readOnly: !flags.has("yes") });
    const found: ConversationRow[] = [];
    for await (const listed of holdfast.list(flags.has("archived") ? { filter: { archived: true } } : {}))
      if (await mayGo(holdfast, listed, before)) found.push(listed);
    let gone = 0;
    for (const listed of found) {
      // Somebody may have come back to it meanwhile.
      const erased =
        flags.has("yes") && (await mayGo(holdfast, listed, before)) && (await erase(holdfast, listed));
      if (erased) gone++;
      await tell(call, listed, erased);
    }
    if (!call.json) await remark(call, verdict(call, found.length, gone));
    return flags.has("yes") || flags.has("dry-run") ? STATUS.ok : STATUS.caller;
  },
};

function verdict({ flags }: Call, found: number, gone: number): string {
  if (flags.has("yes")) return `${counted(gone, "conversation is", "conversations are")} gone.`;
  const would = `${counted(found, "conversation", "conversations")} would go. Nothing was removed`;
  return flags.has("dry-run") ? `${would}.` : `${would}; add --yes to do it.`;
}

/** Whether nobody would miss it, as far as the log can say. */
async function mayGo(
  holdfast: Holdfast,
  { conversation, damage }: ConversationRow,
  before: string,
): Promise<boolean> {
  if (damage !== null) return false;
  try {
    const head = await holdfast.space.head(conversation);
    if (Date.parse(head.updatedAt) >= Date.parse(before)) return false;
    const { turn, metadata } = head.summary ?? (await readSummary(holdfast.space, conversation));
    return !isHeld(head.lease) && turn?.state !== "open" && metadata.pinned !== true;
  } catch (error) {
    if (isLogError(error) && (error.group === "missing" || error.group === "damaged")) return false;
    throw error;
  }
}

async function erase(holdfast: Holdfast, { conversation }: ConversationRow): Promise<boolean> {
  const act = { space: holdfast.spaceId, operation: "prune", conversation };
  await audited(holdfast, act, () => holdfast.handle(conversation).erase());
  return true;
}

async function tell(call: Call, listed: ConversationRow, erased: boolean): Promise<void> {
  const { conversation, title, updatedAt, headSeq } = listed;
  const row = [pad(safeLine(conversation), 36), pad(ageOf(updatedAt, Date.now()), 7), safeLine(title ?? "")];
  await call.io.out.write(
    call.json
      ? jsonLine({ conversation, title, updatedAt, entries: headSeq, erased })
      : `${row.join("  ").trimEnd()}\n`,
  );
}
