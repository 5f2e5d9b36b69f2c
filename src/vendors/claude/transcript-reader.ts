import type { RecordReader } from "#vendors/vendor";
import { type Link, lastBranch, parseLink } from "./chain.ts";
import { messagesIn } from "./messages.ts";

/** Gathers the messages of a transcript: those of the branch that Claude takes up. */
export function transcriptReader(): RecordReader {
  const links: Link[] = [];
  return {
    add: (record) => {
      const link = parseLink(record);
      if (link !== null) links.push(link);
    },
    messages: () => messagesIn(lastBranch(links)),
  };
}
