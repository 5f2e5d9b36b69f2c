// What everything simulated answers, whether an agent or a model.

/** An order in a person's own words, which are what is typed first: "My name is Ada", "What is my name?". */
export function orderOf(text: string): string {
  const fact = /^(?:please )?(?:remember (?:that )?)?my ([\w ]{1,60}?) is ([^?]*[^?.!])[.!]*$/i.exec(text);
  if (fact !== null) return `remember ${keyOf(fact[1])}=${fact[2]}`;
  const question =
    /^(?:and |so )?(?:tell me )?what(?:'s|’s| is| was) my ([\w ]{1,60}?)(?: again)?\s*[?.!]*$/i.exec(text);
  return question === null ? text : `recall ${keyOf(question[1])}`;
}

function keyOf(text: string = ""): string {
  return text.trim().replaceAll(/\s+/g, "_");
}

/** The answer to a fact, in the way it was told: what is told in words may have several, and is found by them. */
export function notedText(key: string, value: string, isSpoken: boolean): string {
  return isSpoken ? `Noted: your ${key.replaceAll("_", " ")} is ${value}` : `Noted ${key}=${value}`;
}

/** What was told last of a key in texts, oldest first; null when nobody said it. */
export function recallFact(key: string, texts: readonly string[]): string | null {
  const [written, spoken] = [escapeForRegExp(key), escapeForRegExp(key.replaceAll("_", " "))];
  const pattern = new RegExp(
    String.raw`(?:^|[\s"'(>])${written}=([^\s";)]+)|\b(?:[Mm]y|your) ${spoken} is ([^\n?";)]*[^\s.!?";)])`,
    "g",
  );
  for (const text of texts.toReversed()) {
    const match = [...text.matchAll(pattern)].at(-1);
    if (match !== undefined) return match[1] ?? match[2] ?? null;
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
  for (let index = 0; index < text.length; index++)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) >>> 0;
  return hash.toString(36);
}

export function workSteps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `Step ${index + 1} of ${count} done. `);
}

const PIECE_CHARS = 12;

/** Answers come in pieces, so that there is a middle to break in. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  const points = Array.from(text);
  for (let index = 0; index < points.length; index += PIECE_CHARS)
    pieces.push(points.slice(index, index + PIECE_CHARS).join(""));
  return pieces;
}
