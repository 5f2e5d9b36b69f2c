export interface Said {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Neighbours of one role. */
export interface Stretch {
  readonly role: "user" | "assistant";
  /** Newest first. */
  readonly texts: readonly string[];
  /** The oldest one: the texts that are known may begin in the middle of it. */
  readonly oldest: boolean;
}

/**
 * Whether what an upstream shows of itself ends with what we know it carried. Resumes succeed on histories that were
 * cut or emptied, so a success alone proves nothing. Agents split and merge messages as they like: a reply with tools
 * may be one text or several, a prompt may stand behind a preamble or behind one that failed, so neighbours of one
 * role are compared as a whole, and of what the user said only the last words.
 */
export function transcriptMatches(shown: readonly Said[], oursNewestFirst: readonly Said[]): boolean {
  const theirs = stretches(shown.toReversed());
  return stretches(oursNewestFirst).every((ours, back) => isSameStretch(theirs[back], ours));
}

export function isSameStretch(there: Stretch | undefined, ours: Stretch): boolean {
  if (there === undefined || there.role !== ours.role) return false;
  if (ours.role === "assistant") {
    const [whole, known] = [bare(there.texts.toReversed().join("")), bare(ours.texts.toReversed().join(""))];
    return ours.oldest ? whole.endsWith(known) : whole === known;
  }
  return (there.texts[0] ?? "").trim().endsWith((ours.texts[0] ?? "").trim());
}

export function stretches(newestFirst: readonly Said[]): readonly Stretch[] {
  const found: { readonly role: Said["role"]; readonly texts: string[] }[] = [];
  for (const { role, text } of newestFirst) {
    if (text.trim() === "") continue;
    const last = found.at(-1);
    if (last?.role === role) last.texts.push(text);
    else found.push({ role, texts: [text] });
  }
  return found.map(({ role, texts }, at) => ({ role, texts, oldest: at === found.length - 1 }));
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
