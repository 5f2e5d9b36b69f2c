import { type Command, jsonLine, remark } from "../command.ts";
import { headingRow, listRow, standingOf } from "../view/list-view.ts";

export const ls: Command = {
  name: "ls",
  summary: "Lists conversations, the most recently changed first",
  usage: ["[PREFIX] [-n COUNT]"],
  about: `One line each: id, last change, number of entries, state, agent, folder, title. The state is
empty when all is well; else working, cut off (a turn never ended), stopped, failed, at its
limit, damaged, or of a newer format. On a terminal ids are shown by their end, which names
them as well as the whole; in a pipe whole. With --json one object per line.

  PREFIX    only ids that start with this
  -n COUNT  at most this many`,
  examples: ["holdfast ls", "holdfast ls -n 5", "holdfast ls --json | head -1"],
  options: { limit: { type: "string", short: "n" } },
  arity: [0, 1],
  async run(call) {
    const { hold } = await call.open({ readOnly: true });
    const [prefix] = call.args;
    const limit = call.flags.count("limit") ?? Number.POSITIVE_INFINITY;
    const { out } = call.io;
    const how = { columns: out.columns, style: out.style, short: out.isTerminal };
    let shown = 0;
    for await (const listed of hold.list(prefix === undefined ? {} : { prefix })) {
      if (shown >= limit) break;
      shown++;
      if (call.json) {
        await out.write(jsonLine(listed));
        continue;
      }
      if (shown === 1 && how.short) await out.write(`${headingRow(how)}\n`);
      const standing = await standingOf(hold, listed, Date.now());
      await out.write(`${listRow(listed, standing, how)}\n`);
    }
    if (shown === 0 && !call.json && limit > 0) {
      await remark(
        call,
        prefix === undefined
          ? "No conversations yet. `holdfast new` makes one; `holdfast tour` shows around."
          : "No conversation id starts with that.",
      );
    }
  },
};
