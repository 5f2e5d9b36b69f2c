import { systemClock } from "#conversation/clock";
import { isLogError } from "#log/errors";
import { queryWords, wordSpans } from "#log/search";
import { search as searchOperation, SEARCH_HITS } from "#operations/comparisons";
import { perform, valueOf } from "#operations/operation";
import { findId } from "#edges/cli/operation-command";
import { type Command, jsonLine, remark } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const search: Command = {
  name: "search",
  summary: "Find entries that contain all the words",
  forms: ["WORDS..."],
  about: `Matches words in any case, with or without accents, and inside longer words. The newest hits come
first, each as ID@ENTRY for use in another command. Hidden entries are left out.`,
  examples: [
    "holdfast search changelog",
    "holdfast search rate limit --in ID -n 5",
    "holdfast search timeout --json",
  ],
  options: {
    "--in ID": "search this conversation only",
    "-n, --limit COUNT": `at most this many hits (default: ${SEARCH_HITS}, at most 500)`,
  },
  async run(call) {
    // Opened for writing where it can be: a search brings the index up to date.
    const holdfast = await call.open().catch((error: unknown) => {
      if (isLogError(error, "read_only")) return call.open({ readOnly: true });
      throw error;
    });
    const q = call.args.join(" ");
    const [within, limit] = [call.flags.text("in"), call.flags.count("limit")];
    const input = {
      q,
      ...(within === undefined ? {} : { conversation: await findId(holdfast, within) }),
      ...(limit === undefined ? {} : { limit }),
    };
    const { hits } = valueOf(await perform(searchOperation, input, { holdfast, clock: systemClock }));
    const terms = queryWords(q);
    const { out } = call.io;
    for (const hit of hits) {
      const { conversation, entry, snippet } = hit;
      if (call.json) await out.write(jsonLine(hit));
      else
        await out.write(
          `${out.style.cyan(safeLine(`${conversation}@${entry}`))}\n    ${highlight(safeLine(snippet), terms, out.style.bold)}\n`,
        );
    }
    if (hits.length === 0 && !call.json) await remark(call, "Nothing found.");
  },
};

function highlight(line: string, terms: readonly string[], paint: (text: string) => string): string {
  let painted = "";
  let position = 0;
  for (const [from, to] of wordSpans(line, terms)) {
    painted += line.slice(position, from) + paint(line.slice(from, to));
    position = to;
  }
  return painted + line.slice(position);
}
