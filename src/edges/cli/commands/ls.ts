import type { ListFilter } from "#conversation/list-conversations";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { withKnownCost } from "#transfer/shown/known-cost";
import { headingRow, listRow, plainRow, listedState } from "#edges/cli/view/list-view";

export const ls: Command = {
  name: "ls",
  summary: "Lists conversations, the most recently changed first",
  usage: ["[PREFIX] [-n COUNT] [--folder PATH] [--tag TAG] [--agent NAME] [--archived] [--unlisted]"],
  about: `On a terminal one line each with headings: the end of the id, which names it as well as the
whole; last change, number of entries, state, agent or model, folder, title. The state is empty when
all is well; else working, waiting (for a person's answer), cut off (a turn never ended),
stopped, failed, at its limit, limit over, damaged, or of a newer format. In a pipe: the whole id, last change, entries, title.
With --json one object per line.

  PREFIX         only ids that start with this
  -n COUNT       at most this many
  --folder PATH  only those of this folder, as it was written
  --tag TAG      only those with this tag
  --agent NAME   only those that this agent carried last
  --archived     only those that are archived
  --unlisted     only those that are kept for a program, which are left out otherwise`,
  examples: ["holdfast ls", "holdfast ls -n 5", "holdfast ls --json | head -1"],
  options: {
    limit: { type: "string", short: "n" },
    folder: { type: "string" },
    tag: { type: "string" },
    agent: { type: "string" },
    archived: { type: "boolean" },
    unlisted: { type: "boolean" },
  },
  arity: [0, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const [prefix] = call.args;
    const limit = call.flags.count("limit") ?? Number.POSITIVE_INFINITY;
    const { out } = call.io;
    const how = { columns: out.columns, style: out.style };
    let shown = 0;
    const filter = filterOf(call);
    for await (const listed of holdfast.list({ filter, ...(prefix === undefined ? {} : { prefix }) })) {
      if (shown >= limit) break;
      shown++;
      if (call.json) {
        await out.write(jsonLine(withKnownCost(listed)));
        continue;
      }
      if (shown === 1 && out.isTerminal) await out.write(`${headingRow(how)}\n`);
      const looked = out.isTerminal || listed.damage !== null;
      const state = looked ? await listedState(holdfast, listed, Date.now()) : { agent: null, state: "" };
      const row = out.isTerminal ? listRow(listed, state, how) : plainRow(listed, state.state, how);
      await out.write(`${row}\n`);
    }
    if (shown === 0 && !call.json && limit > 0) {
      await remark(
        call,
        prefix === undefined && Object.keys(filter).length === 0
          ? "No conversations yet. `holdfast new` makes one; `holdfast tour` shows around."
          : prefix === undefined
            ? "No conversation is like that."
            : "No conversation id starts with that.",
      );
    }
  },
};

function filterOf({ flags }: Call): ListFilter {
  const [cwd, tag, agent] = [flags.text("folder"), flags.text("tag"), flags.text("agent")];
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(tag === undefined ? {} : { tag }),
    ...(agent === undefined ? {} : { agent }),
    ...(flags.has("archived") ? { archived: true } : {}),
    ...(flags.has("unlisted") ? { unlisted: true } : {}),
  };
}
