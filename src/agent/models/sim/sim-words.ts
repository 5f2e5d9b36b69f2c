// What everything simulated answers, whether an agent or a model.

/** An order in a person's own words, which are what is typed first: "My name is Ada", "What is my name?". */
export function orderOf(words: string): string {
  const told = /^(?:please )?(?:remember (?:that )?)?my ([\w ]{1,60}?) is ([^?]*[^?.!])[.!]*$/i.exec(words);
  if (told !== null) return `remember ${keyOf(told[1])}=${told[2]}`;
  const asked =
    /^(?:and |so )?(?:tell me )?what(?:'s|’s| is| was) my ([\w ]{1,60}?)(?: again)?\s*[?.!]*$/i.exec(words);
  return asked === null ? words : `recall ${keyOf(asked[1])}`;
}

function keyOf(words: string = ""): string {
  return words.trim().replaceAll(/\s+/g, "_");
}

/** The answer to a fact, in the way it was told: what is told in words may have several, and is found by them. */
export function notedText(key: string, value: string, isSpoken: boolean): string {
  return isSpoken ? `Noted: your ${key.replaceAll("_", " ")} is ${value}` : `Noted ${key}=${value}`;
}

/** What was told last of a key in texts, oldest first; null when nobody said it. */
export function recalled(key: string, texts: readonly string[]): string | null {
  const [written, spoken] = [escapeForRegExp(key), escapeForRegExp(key.replaceAll("_", " "))];
  const wanted = new RegExp(
    String.raw`(?:^|[\s"'(>])${written}=([^\s";)]+)|\b(?:[Mm]y|your) ${spoken} is ([^\n?";)]*[^\s.!?";)])`,
    "g",
  );
  for (const text of texts.toReversed()) {
    const found = [...text.matchAll(wanted)].at(-1);
    if (found !== undefined) return found[1] ?? found[2] ?? null;
  }
  return null;
}

export function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** What is answered to an order that nobody knows: it shows that exactly these words arrived. */
export function echo(command: string): string {
  return `You said "${command}" (${fingerprint(command)})`;
}

function fingerprint(text: string): string {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}

export function workSteps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `Step ${at + 1} of ${count} done. `);
}

const PIECE_CHARS = 12;

/** Answers come in pieces, so that there is a middle to break in. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  const points = Array.from(text);
  for (let at = 0; at < points.length; at += PIECE_CHARS)
    pieces.push(points.slice(at, at + PIECE_CHARS).join(""));
  return pieces;
}
