// What everything simulated answers, whether an agent or a model.

/** What was told last of a key in texts, oldest first; null when nobody said it. */
export function recalled(key: string, texts: readonly string[]): string | null {
  const wanted = new RegExp(String.raw`(?:^|[\s"'(>])${escapeForRegExp(key)}=([^\s";)]+)`, "g");
  for (const text of texts.toReversed()) {
    const value = [...text.matchAll(wanted)].at(-1)?.[1];
    if (value !== undefined) return value;
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
