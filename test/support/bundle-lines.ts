import { endLine, FileDigest } from "#transfer/bundles/bundle-lines";

const TIME = "2026-01-01T10:00:00.000Z";

/** The lines under an end that fits them: only what they say themselves can be wrong. */
export function sealed(lines: readonly string[]): string {
  const passed = new FileDigest();
  for (const line of lines) passed.add(line);
  const count = (opening: string): number => lines.filter((line) => line.startsWith(opening)).length;
  const blobs = lines.filter((line) => line.startsWith('{"type":"blob"') && line.includes('"offset":0,'));
  const counts = {
    conversations: Math.max(1, count('{"type":"log"')),
    entries:
      lines.length -
      1 -
      ['{"type":"log"', '{"type":"batch"', '{"type":"blob"'].map(count).reduce((a, b) => a + b, 0),
    blobs: blobs.length,
  };
  return `${[...lines, endLine(passed, counts)].join("\n")}\n`;
}

export function entry(id: string, parentId: string | null, more: object): string {
  return JSON.stringify({ id, parentId, time: TIME, ...more });
}

export const root = (more: object = {}): string => entry("root-0", null, { type: "conversation", ...more });
export const says = (id: string, parentId: string, text: string = "words"): string =>
  entry(id, parentId, { type: "message", message: { role: "user", content: [{ type: "text", text }] } });
export const log = (conversation: string): string => JSON.stringify({ type: "log", conversation });
export const header = (more: object): string => JSON.stringify({ type: "holdfast", v: 2, ...more });
export const fork = (origin: object | string, id: string = "fork-0"): string =>
  entry(id, null, { type: "conversation", origin });
/** One conversation without links: nothing but the rules of a log speaks against it. */
export const single = (...lines: readonly string[]): string =>
  sealed([header({ conversation: "hostile" }), ...lines]);
export const bundle = (conversations: number, ...lines: readonly string[]): string =>
  sealed([header({ conversations }), ...lines]);
