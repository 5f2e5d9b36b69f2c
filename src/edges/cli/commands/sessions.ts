import type { Conversation } from "#conversation/conversation";
import { systemClock } from "#conversation/clock";
import { type OutputOf, perform, valueOf } from "#operations/operation";
import { getChain } from "#operations/records";
import { readAddress } from "#edges/cli/operation-command";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { safeLine, pad, widthOf } from "#edges/cli/terminal/terminal";
import { withFidelity } from "#transfer/views/link-details";
import { kindOf } from "#transfer/views/entry-preview";
import { previewOf } from "#edges/cli/terminal/preview";
import type { Fidelity } from "#log/entry";
import type { Link } from "#log/projections/chain";
import { fidelityText, reasonText } from "#operations/text";
import { clockOf } from "#edges/cli/terminal/time";

export const sessions: Command = {
  name: "sessions",
  summary: "List a conversation's agent sessions and why each started",
  forms: ["ID[@ENTRY]"],
  about: `Oldest first; the last one is current. CONTEXT says how a session knows the conversation: native (it
was there), transcript (from the agent's own record) or replayed (Holdfast sent it the history).
A fork also lists the sessions of its source, marked ⑂; the fork never resumes them. With ENTRY
only the sessions that received or wrote this message.`,
  examples: ["holdfast sessions ID", "holdfast sessions ID --json", "holdfast sessions ID@m3"],
  options: { "--messages SESSION": "list the messages of this session" },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const { conversation: id, entry } = await readAddress(holdfast, call.args[0] ?? "");
    const upstream = call.flags.text("messages");
    if (upstream !== undefined) return listMessages(call, await holdfast.conversation(id), upstream);
    const { links } =
      entry === null
        ? valueOf(await perform(getChain, { conversation: id }, { holdfast, clock: systemClock }))
        : { links: await carriersOf(await holdfast.conversation(id), entry) };
    if (links.length === 0 && !call.json) {
      const subject = entry === null ? "This conversation has held" : "This entry was carried by";
      return remark(call, `${subject} no upstream session${entry === null ? " yet" : ""}.`);
    }
    const about = { conversation: id, ...(entry === null ? {} : { entry }), links };
    return answer(call, about, () => chainRows(links, call.io.out.isTerminal).join("\n"));
  },
};

async function carriersOf(
  conversation: Conversation,
  entry: string,
): Promise<OutputOf<typeof getChain>["links"]> {
  const links = await conversation.carriersOf(entry);
  const attempts = await conversation.facts(["attempt"]);
  return withFidelity(links, attempts).map(({ seq: _, ...link }) => link);
}

async function listMessages(call: Call, conversation: Conversation, upstream: string): Promise<void> {
  const entries = await conversation.messagesOf(upstream);
  if (entries.length === 0 && !call.json)
    return remark(call, `${safeLine(upstream)} has carried no message of this conversation.`);
  const messages = entries.map(({ id, seq, time }) => ({ id, seq, time }));
  return answer(call, { conversation: conversation.id, upstream, messages }, () =>
    entries
      .map(
        (entry) =>
          `${String(entry.seq).padStart(6)}  ${safeLine(entry.id)}  ${kindOf(entry)}  ${safeLine(previewOf(entry))}`,
      )
      .join("\n"),
  );
}

const HEADINGS = ["    #", "SINCE", "AGENT", "SESSION", "ENTRIES", "CONTEXT", "WHY"] as const;

/** The rows of a chain, oldest first; with headings where a person looks at them. */
export function chainRows(
  links: readonly (Omit<Link, "seq"> & { readonly fidelity?: Fidelity | null })[],
  headed: boolean = false,
): readonly string[] {
  const rows = links.map(({ id, agent, account, reason, since, carried, inherited, fidelity }, index) => [
    `${inherited ? "⑂" : " "}${String(index + 1).padStart(4)}`,
    clockOf(since),
    safeLine(account === null ? agent : `${agent}/${account}`),
    safeLine(id),
    carried === null ? "–" : `${carried.fromSeq}–${carried.toSeq}`,
    fidelityText(fidelity ?? null),
    safeLine(reasonText(reason)),
  ]);
  const table = headed ? [[...HEADINGS], ...rows] : rows;
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => widthOf(row[column] ?? ""))));
  return table.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
