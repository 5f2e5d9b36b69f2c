import { parseEntryId } from "#log/ids";
import { compareNamed, diff as diffOperation, type DiffOptions, diffPieces } from "#operations/comparisons";
import { check } from "#operations/operation";
import { readAddress } from "#edges/cli/operation-command";
import { type Call, type Command } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { diffLines, startText } from "./diff-view.ts";
import { tableLines } from "./diff-table.ts";
import type { NamedBranch, NamedDiff } from "#transfer/views/diff-json";

const BRANCHES_MAX = 25; // A and one letter for each of the others
const FLUSH_CHARS = 65_536;

export const diffCommand: Command = {
  name: "diff",
  summary: "Compares branches, forks or replays: what was called, said and spent",
  usage: ["A B [B…] [--tools-only] [--stat] [--all] [--exit-code]"],
  about: `A and B are ID, ID@ENTRY or ID@LABEL: two branches of a conversation, forks of one, a
conversation and its replay. They are compared from the last entry that all of them have; those that
have none in common are said to be unrelated and compared from their starts. Prompts hold turns
together; then tool calls are compared by name, arguments and order, then what was said.

  =  the same   ~  changed   −  only in A   +  only in B

Thinking, settings and compactions are not compared. Times are those of the turns alone.

  --tools-only  compares calls and nothing else
  --stat        prints where they part and the totals, not each change
  --all         prints what is the same, too, and changed texts whole
  --exit-code   ends with 1 where there is a difference; else it is no failure`,
  examples: [
    "holdfast diff ID@first-try ID",
    "holdfast diff ID FORK --tools-only --exit-code",
    "holdfast diff ID FORK OTHER --stat",
    "holdfast diff ID FORK --json | jq .divergence",
  ],
  options: {
    "tools-only": { type: "boolean" },
    stat: { type: "boolean" },
    all: { type: "boolean" },
    "exit-code": { type: "boolean" },
  },
  arity: [2, BRANCHES_MAX + 1],
  async run(call) {
    const { flags } = call;
    const options = { toolsOnly: flags.has("tools-only"), stat: flags.has("stat"), all: flags.has("all") };
    const diffs = await compare(call, options);
    if (call.json) for (const one of diffs) await writeJson(call, one, options);
    else await writeText(call, diffs);
    return flags.has("exit-code") && diffs.some(({ diff }) => !diff.isSame) ? STATUS.unexpected : STATUS.ok;
  },
};

async function compare(call: Call, options: DiffOptions): Promise<readonly NamedDiff[]> {
  const holdfast = await call.open({ readOnly: true });
  const branches: NamedBranch[] = [];
  for (const [index, address] of call.args.entries()) {
    const { conversation, entry } = await readAddress(holdfast, address);
    const letter = String.fromCodePoint(65 + index);
    branches.push({ letter, address, conversation, entry: entry === null ? null : parseEntryId(entry) });
  }
  const [a = "", ...others] = branches.map(
    ({ conversation, entry }) => `${conversation}${entry === null ? "" : `@${entry}`}`,
  );
  for (const b of others) check(diffOperation, { a, b, ...options });
  return compareNamed(holdfast, branches, options);
}

async function writeText(call: Call, diffs: readonly NamedDiff[]): Promise<void> {
  const { out } = call.io;
  const showsRows = !call.flags.has("stat");
  let pending = "";
  const write = async (lines: Iterable<string>): Promise<void> => {
    for (const line of lines) {
      pending += `${line.trimEnd()}\n`;
      if (pending.length < FLUSH_CHARS) continue;
      await out.write(pending);
      pending = "";
    }
  };
  const [first] = diffs;
  if (diffs.length > 1 && first !== undefined)
    await write([...tableLines(diffs, out), ...(showsRows ? [] : [out.style.dim(startText(first))])]);
  for (const [at, one] of diffs.entries()) {
    if (diffs.length > 1 && !showsRows) break; // the table has said it
    if (at > 0 || diffs.length > 1) await write([""]);
    await write(diffLines(one, { sink: out, showsRows, showsAll: call.flags.has("all") }));
  }
  await out.write(pending);
}

/** One object on a line, a change after another: all of them need not fit into one text. */
async function writeJson(call: Call, one: NamedDiff, options: DiffOptions): Promise<void> {
  const { out } = call.io;
  let pending = "";
  for (const piece of diffPieces(one, options)) {
    pending += piece;
    if (pending.length < FLUSH_CHARS) continue;
    await out.write(pending);
    pending = "";
  }
  await out.write(pending);
}
