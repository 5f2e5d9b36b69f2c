import { safeLine, shortId } from "#transfer/views/safe-text";

/** What a conversation is called everywhere: its title, else its id, of which a UUID is told by its end. */
export function nameOf(conversation: string, title: string | null): string {
  if (title !== null && title !== "") return safeLine(title);
  const short = shortId(conversation);
  return short === conversation ? short : `Untitled ${short}`;
}
