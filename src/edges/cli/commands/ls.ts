import type { Listed } from "../../../store/store.ts";
import { type Command, jsonLine, remark } from "../command.ts";
import { ageOf } from "../view/time.ts";
import { fit, pad, safeLine, type Style } from "../terminal.ts";

export const ls: Command = {
  name: "ls",
  summary: "Lists conversations, the most recently changed first",
  usage: ["[PREFIX] [-n COUNT]"],
  about: `One line each: id, last change, number of entries, title. With --json one object per line.

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
    let shown = 0;
    for await (const listed of hold.list(prefix === undefined ? {} : { prefix })) {
      if (shown >= limit) break;
      shown++;
      await out.write(call.json ? jsonLine(listed) : `${row(listed, out.columns, out.style)}\n`);
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

function row(listed: Listed, columns: number, style: Style): string {
  const id = pad(safeLine(listed.conversation), 36);
  const age = pad(ageOf(listed.updatedAt, Date.now()), 8);
  const count = String(listed.headSeq).padStart(6);
  const origin = listed.origin === null ? "" : `⑂ ${safeLine(listed.origin.conversation)} `;
  const damage = listed.damage === null ? "" : "⚠ damaged ";
  const title = listed.title === null ? "" : safeLine(listed.title);
  const room = Math.max(16, columns - 36 - 8 - 6 - 6);
  return `${style.cyan(id)}  ${style.dim(age)}  ${count}  ${style.red(damage)}${fit(`${title}${title === "" ? "" : " "}${origin}`.trim(), room)}`.trimEnd();
}
