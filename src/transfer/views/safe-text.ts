/** What people read passes through here: stored text comes from models, tools and strangers. */

const LINE_END = /\r\n/g;
// C0 but tab and line feed, DEL, C1: whatever a terminal could take for an order. ESC falls, its words stay as text.
const CONTROLS = /[^\P{Cc}\n\t]/gu;
// What turns the reading direction or cannot be seen at all, so that a reader would not know it is there.
// The braille blank and the two line separators are not among what Unicode calls ignorable, but look like nothing too.
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB]/gu;
// Not every browser's table of pictographs has the flags, which carry a selector.
const EMOJI_BEFORE = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\p{Emoji}\uFE0F)\uFE0F?$/u;
const STYLED_BEFORE = /\p{Emoji}$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;
// Scripts in which joiners are spelling: they choose the form of the letters around them, which shows.
const SPELLED_WITH_JOINERS =
  "\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}";
const JOINERS: ReadonlySet<string> = new Set(["\u200C", "\u200D"]);
const LETTER = `(?=[\\p{L}\\p{M}])[${SPELLED_WITH_JOINERS}]`;
const LETTER_BEFORE = new RegExp(`${LETTER}$`, "u");
const LETTER_AFTER = new RegExp(`^${LETTER}`, "u");

/** Makes stored text safe to show: it cannot move the cursor, and cannot hide or reorder text. */
export function safeText(text: string): string {
  return text.replaceAll(LINE_END, "\n").replaceAll(CONTROLS, "").replaceAll(UNSEEN, marker).toWellFormed();
}

function marker(unit: string, index: number, whole: string): string {
  const [before, after] = [whole.slice(Math.max(0, index - 4), index), whole.slice(index + 1, index + 3)];
  // The joiner inside an emoji is seen: as the emoji.
  if (unit === "\u200D" && EMOJI_BEFORE.test(before) && EMOJI_AFTER.test(after)) return unit;
  if (JOINERS.has(unit) && LETTER_BEFORE.test(before) && LETTER_AFTER.test(after)) return unit;
  // So is the selector that chooses how an emoji looks.
  if (
    (unit === "\uFE0F" || unit === "\uFE0E") &&
    STYLED_BEFORE.test(whole.slice(Math.max(0, index - 2), index))
  )
    return unit;
  return codeOf(unit);
}

function codeOf(unit: string): string {
  return `‹U+${(unit.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

/** The same where what a terminal would obey is to be seen, too: in a file it does nothing, and tells who wrote it. */
export function visibleText(text: string): string {
  return safeText(text.replaceAll(LINE_END, "\n").replaceAll(CONTROLS, codeOf));
}

// Colours of a terminal. On a line of plain text they are neither colour nor words.
// oxlint-disable-next-line no-control-regex -- escapes of terminals are what is looked for
const COLOURS = /\u001B\[[\d;:]{0,64}m/g;

/** The same on one line, for names, titles, labels and previews: a line break could fake a row. */
export function safeLine(text: string): string {
  return safeText(text.replaceAll(COLOURS, "")).replaceAll(/\s+/g, " ").trim();
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The end of a UUIDv7 is chance; its start is the time it was made, which many share. */
export const SHORT_ID_CHARS = 8;

/** An id by what tells it from others. */
export function shortId(id: string): string {
  return safeLine(UUID.test(id) ? id.slice(-SHORT_ID_CHARS) : id);
}
