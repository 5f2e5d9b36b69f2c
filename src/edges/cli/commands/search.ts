import { isLogError, LogError } from "#log/errors";
import { queryWords, wordSpans } from "#log/search";
import { findConversation } from "#edges/cli/address";
import { type Command, jsonLine, remark } from "#edges/cli/command";
import { snippetOf } from "#transfer/shown/search-snippet";
import { safeLine } from "#edges/cli/terminal/terminal";

const HITS_DEFAULT = 20;

export const search: Command = {
  name: "search",
  summary: "Finds entries that hold all the words",
  usage: ["WORDS [--in ID] [-n COUNT]"],
  about: `Every word must occur, in any case, with or without accents, and also inside longer words. The
newest hits come first, each with its ID@ENTRY, ready to be pasted into another command. Hidden entries are left out.

  --in ID   only in this conversation
  -n COUNT  at most this many (${HITS_DEFAULT} unless told)`,
  examples: [
    "holdfast search changelog",
    'holdfast search "rate limit" --in ID -n 5',
    "holdfast search timeout --json",
  ],
  options: { in: { type: "string" }, limit: { type: "string", short: "n" } },
  arity: [1, Number.POSITIVE_INFINITY],
  async run(call) {
    const query = call.args.join(" ");
    const words = queryWords(query);
    if (words.length === 0) throw new LogError("invalid_request", "There are no words to search for");
    // Opened for writing where it can be: a search brings the index up to date.
    const holdfast = await call.open().catch((error: unknown) => {
      if (isLogError(error, "read_only")) return call.open({ readOnly: true });
      throw error;
    });
    const within = call.flags.text("in");
    const scope = within === undefined ? {} : { conversation: (await findConversation(holdfast, within)).id };
    const hits = await holdfast.search(query, { limit: call.flags.count("limit") ?? HITS_DEFAULT, ...scope });
    const { out } = call.io;
    for (const { conversation, entry, seq, text } of hits) {
      const snippet = snippetOf(text, words);
      if (call.json) await out.write(jsonLine({ conversation, entry, seq, snippet }));
      else
        await out.write(
          `${out.style.cyan(safeLine(`${conversation}@${entry}`))}\n    ${highlight(safeLine(snippet), words, out.style.bold)}\n`,
        );
    }
    if (hits.length === 0 && !call.json) await remark(call, "Nothing found.");
  },
};

function highlight(line: string, words: readonly string[], paint: (text: string) => string): string {
  let painted = "";
  let at = 0;
  for (const [from, to] of wordSpans(line, words)) {
    painted += line.slice(at, from) + paint(line.slice(from, to));
    at = to;
  }
  return painted + line.slice(at);
}
