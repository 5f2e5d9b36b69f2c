import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { parseConversationId, parseSpaceId } from "#log/ids";
import type { Issue } from "#log/projections/issues";
import type { Finding, StoreHealth } from "#store/requests";
import { systemIdsAndTime } from "#store/prepare";
import { redactAddress } from "#stores/redact-address";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, type Sink } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { progressOn } from "#edges/cli/terminal/output";
import { missingBlobs } from "#transfer/bundles/export-lines";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import type { SalvagedRest } from "#open";

const IDLE_TOLD_MS = 1_000; // shorter ones are between two statements

export const doctor: Command = {
  name: "doctor",
  summary: "Check the store, and repair it on request",
  forms: [""],
  about: `Reads every log of the space and reports damage: where it is and which entries you can still read.
Then it reports tool calls without a result, turns that never ended, and missing images. For
PostgreSQL it also reports the state of the server. Logs created before hashes were added are
reported as unverified up to entry N (a note, not an error). Exit code 6: something is damaged.`,
  examples: [
    "holdfast doctor",
    "holdfast doctor --repair --json",
    "holdfast --store jsonl:chats doctor --salvage ID --as ID-2",
  ],
  options: {
    "--repair": "set incomplete bytes aside and rebuild indexes; complete entries are never changed",
    "--salvage ID":
      "copy the readable entries of a damaged conversation into a new one (jsonl stores); the damaged file stays as it is",
    "--as NEW": "the id of that copy",
  },
  async run(call) {
    const damaged = call.flags.text("salvage");
    if (damaged !== undefined) return salvageInto(call, damaged);
    if (call.flags.text("as") !== undefined)
      throw new LogError("invalid_request", "--as names the copy that --salvage ID makes");
    const repair = call.flags.has("repair");
    const holdfast = await call.open(repair ? {} : { readOnly: true, mustExist: true });
    const checking = progressOn(call.io.err, "checking the store");
    const findings = await holdfast.check({ repair, onProgress: checking.step }).catch(asFinding(null));
    checking.end();
    const { conversations, issues, unreadable } = await lookAtAll(call, holdfast);
    const damagedIds = new Set(findings.map(({ conversation }) => conversation));
    const all = [...findings, ...unreadable.filter(({ conversation }) => !damagedIds.has(conversation))];
    // Torn bytes are most likely a write nobody was told of; until they are set aside, who can say.
    const ok = all.every(({ severity, repaired }) => severity === "note" || repaired);
    const health = (await holdfast.store.health?.()) ?? null;
    const value = {
      store: redactAddress(call.store),
      space: call.space,
      ok,
      conversations,
      findings: all,
      issues,
      ...(health === null ? {} : { health }),
    };
    const { logRescue } = await import("#open");
    const canCopy = logRescue(call.store) !== null;
    await answer(call, value, () => report({ ...value, canCopy }, call.io.out));
    return ok ? STATUS.ok : STATUS.damaged;
  },
};

type Located = Issue & { readonly conversation: string };

async function lookAtAll(
  call: Call,
  holdfast: Holdfast,
): Promise<{ conversations: number; issues: readonly Located[]; unreadable: readonly Finding[] }> {
  const issues: Located[] = [];
  const unreadable: Finding[] = [];
  const progress = progressOn(call.io.err, "reading conversations");
  let conversations = 0;
  try {
    for await (const { conversation } of holdfast.listAll()) {
      progress.step(++conversations);
      try {
        const handle = await holdfast.conversation(conversation);
        const ownIssues = [...(await handle.issues()), ...(await missingBlobs(handle))];
        for (const { kind, entry, message } of ownIssues) issues.push({ conversation, kind, entry, message });
      } catch (error) {
        unreadable.push(...asFinding(conversation)(error));
      }
    }
  } catch (error) {
    unreadable.push(...asFinding(null)(error));
  }
  progress.end();
  return { conversations, issues, unreadable };
}

/** What cannot be read at all is a finding too; other failures are not the doctor's to explain. */
function asFinding(conversation: string | null): (error: unknown) => readonly Finding[] {
  return (error) => {
    if (!isLogError(error) || error.group !== "damaged") throw error;
    const { message } = error;
    return [
      { conversation, severity: "damage", message, position: null, reachableSeq: null, repaired: false },
    ];
  };
}

interface Report {
  readonly store: string;
  /** What can be read of a damaged log can be copied. */
  readonly canCopy: boolean;
  readonly ok: boolean;
  readonly conversations: number;
  readonly findings: readonly Finding[];
  readonly issues: readonly Located[];
  readonly health?: StoreHealth;
}

function report(
  { store, canCopy, ok, conversations, findings, issues, health }: Report,
  { style }: Sink,
): string {
  const lines = findings.map(({ conversation, severity, message, position, reachableSeq, repaired }) => {
    const place = [conversation ?? "the store", position === null ? "" : `byte ${position}`]
      .filter(Boolean)
      .join(", ");
    const rest = reachableSeq === null ? "" : ` (readable up to entry ${reachableSeq})`;
    const mark = repaired
      ? style.green("repaired")
      : severity === "damage"
        ? style.red("damage")
        : style.yellow(severity);
    return `${mark}  ${safeLine(place)}: ${safeLine(message)}${rest}`;
  });
  const looks = issues.map(
    ({ conversation, entry, message }) =>
      `${style.yellow("look at")}  ${safeLine(entry === null ? conversation : `${conversation}@${entry}`)}: ${safeLine(message)}`,
  );
  const damaged = findings.some(({ severity, repaired }) => severity === "damage" && !repaired);
  const summary = damaged
    ? [
        style.red("Something is damaged; what can be read is untouched."),
        ...(canCopy ? salvageHint(findings) : []),
        canCopy
          ? "A damaged conversation rejects new entries, because keys of earlier writes may be lost."
          : "Where a row is lost or changed, new entries can still be appended.",
        "`holdfast import FILE --as-new` adds a copy from a backup or an export.",
      ].join("\n")
    : ok
      ? style.green("Nothing is damaged.")
      : style.yellow("A write was cut off; `holdfast doctor --repair` sets its bytes aside.");
  const count = `${counted(conversations, "conversation")} checked in ${safeLine(store)}`;
  const server = health === undefined ? [] : [style.dim(safeLine(healthText(health)))];
  return [...lines, ...looks, summary, ...server, style.dim(count)].join("\n");
}

function healthText(health: StoreHealth): string {
  const { problem, role, server, schemaVersion, clockAheadMs, idleTransactionMs = 0, connections } = health;
  if (problem !== null) return problem;
  const { inUse, most } = connections ?? {};
  const parts = [
    server,
    role,
    schemaVersion === undefined ? undefined : `schema ${schemaVersion}`,
    clockAheadMs === undefined ? undefined : `its clock ${clockAheadMs} ms ahead of this one`,
    inUse === undefined ? undefined : `${inUse} of ${most ?? "?"} connections in use`,
    idleTransactionMs < IDLE_TOLD_MS ? undefined : `a transaction idle for ${idleTransactionMs} ms`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** The next step for one damaged log; a damaged SQLite file is nothing this program can take apart. */
function salvageHint(findings: readonly Finding[]): readonly string[] {
  const readable = findings.find(
    ({ severity, repaired, reachableSeq }) => severity === "damage" && !repaired && (reachableSeq ?? 0) > 0,
  );
  const id = readable?.conversation ?? null;
  if (id === null) return [];
  return [`\`holdfast doctor --salvage ${safeLine(id)}\` copies what can be read into a new conversation.`];
}

async function salvageInto(call: Call, text: string): Promise<number> {
  const { logRescue } = await import("#open");
  const rescue = logRescue(call.store);
  if (rescue === null)
    throw new LogError(
      "invalid_request",
      "--salvage is for jsonl stores; other stores read all that can be read as it is",
    );
  const holdfast = await call.open({ readOnly: true, mustExist: true });
  const { id } = await findConversation(holdfast, text);
  const as = parseConversationId(call.flags.text("as") ?? systemIdsAndTime.newId());
  const saved = await rescue.copy(parseSpaceId(call.space), id, as);
  const value = { conversation: as, from: id, ...saved };
  await answer(call, value, () =>
    [
      `Copied entries 1 to ${saved.reachableSeq} of ${safeLine(id)} to ${safeLine(as)}; ${saved.leftBytes} bytes after byte ${saved.position} cannot be read and stay in the damaged file`,
      ...salvagedText(saved),
    ].join("\n"),
  );
  return STATUS.ok;
}

/** What became of the entries after a damage, for people. */
export function salvagedText({ restEntries, lost, leftOut }: SalvagedRest): readonly string[] {
  const gaps = lost.map(({ fromSeq, toSeq }) =>
    fromSeq === toSeq ? `${fromSeq}` : `${fromSeq} to ${toSeq}`,
  );
  return [
    ...(gaps.length === 0 ? [] : [`These entries cannot be read: ${gaps.join(", ")}`]),
    ...(restEntries === 0
      ? []
      : [
          `Copied ${counted(restEntries, "entry", "entries")} that follow them; those whose parent is lost are a branch of their own`,
        ]),
    ...(leftOut.length === 0
      ? []
      : [
          `Left out ${counted(leftOut.length, "entry", "entries")} that name a lost one: ${leftOut.join(", ")}`,
        ]),
  ];
}
