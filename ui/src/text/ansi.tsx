import Anser from "anser";
import type { CSSProperties, JSX } from "preact";
import { safeText } from "#transfer/views/safe-text";

// What a terminal would do, not show: titles, clipboards, links, device strings; ended properly, or cut off.
const [ESC, BEL, ST] = ["\u001B", "\u0007", "\u009C"];
const STRING = `[^${BEL}${ESC}${ST}]*(?:${BEL}|${ESC}\\\\|${ST}|$)`;
const STRINGS = new RegExp(`(?:${ESC}[\\]PX^_]|[\u0090\u0098\u009D-\u009F])${STRING}`, "g");
// Of what moves and paints, only colours are understood.
const OTHER_CONTROLS = new RegExp(`${ESC}\\[[0-9;:?<=>]*[ -/]*[@-ln-~]|${ESC}[ -/]*[0-Z\\\\^-~]`, "g");
const COLOURS: ReadonlySet<string> = new Set(["red", "green", "yellow", "blue", "magenta", "cyan"]);

/** The text of a terminal without what it would obey, colours excepted. */
export function withoutOrders(text: string): string {
  return text.replaceAll(STRINGS, "").replaceAll(OTHER_CONTROLS, "");
}

/** What a line that was written over again ends up as. */
function lastWritten(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/^.*\r(?=[^\n])/gm, "");
}

type Part = ReturnType<typeof Anser.ansiToJson>[number];

const DECORATIONS: Readonly<Record<string, string>> = {
  bold: "b",
  dim: "dim",
  italic: "it",
  underline: "un",
  strikethrough: "st",
  reverse: "inv",
};

function classOf({ fg, bg, decorations }: Part): string {
  const [ink, ground] = [fg, bg].map((color) => (color ?? "").replace(/^ansi-(?:bright-)?/, ""));
  const isInverse = decorations.includes("reverse");
  return [
    ...(!isInverse && ink !== undefined && COLOURS.has(ink) ? [ink] : []),
    ...(!isInverse && ground !== undefined && COLOURS.has(ground) ? [`on-${ground}`] : []),
    ...(fg === "ansi-bright-black" ? ["dim"] : []),
    ...decorations.flatMap((one) => DECORATIONS[one] ?? []),
  ].join(" ");
}

const STEPS = [0, 95, 135, 175, 215, 255]; // of each color of the 6 × 6 × 6 cube
const CUBE_START = 16;
const GRAY_START = 232;

/** One of the 256 colors, but for the first 16, which are the theme's. */
function paletteColor(index: number): string | null {
  if (index < CUBE_START) return null;
  if (index >= GRAY_START) return Array.from({ length: 3 }, () => 8 + 10 * (index - GRAY_START)).join(", ");
  const cube = index - CUBE_START;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => STEPS[step]).join(", ");
}

function exactColor(name: string | null, trueColor: string | null): string | null {
  if (name === "ansi-truecolor") return trueColor;
  const index = /^ansi-palette-(\d+)$/.exec(name ?? "")?.[1];
  return index === undefined ? null : paletteColor(Number(index));
}

/** Colors that no class has. Text that brings only its ground is black or white, whichever is read more easily on it. */
function styleOf({ fg, bg, fg_truecolor, bg_truecolor }: Part): CSSProperties | undefined {
  const [ink, ground] = [exactColor(fg, fg_truecolor), exactColor(bg, bg_truecolor)];
  if (ink === null && ground === null) return undefined;
  const [red = 0, green = 0, blue = 0] = (ground ?? "").split(", ").map(Number);
  const readable = 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000" : "#fff";
  return {
    ...(ground === null ? {} : { backgroundColor: `rgb(${ground})`, color: readable }),
    ...(ink === null ? {} : { color: `rgb(${ink})` }),
  };
}

/** What a terminal showed, in its colours. */
export function Ansi({ text }: { readonly text: string }): JSX.Element {
  const parts = Anser.ansiToJson(lastWritten(withoutOrders(text)), { use_classes: true, remove_empty: true });
  return (
    <>
      {parts.map((part, at) => {
        const shown = safeText(part.content);
        const [name, style] = [classOf(part), styleOf(part)];
        return name === "" && style === undefined ? (
          shown
        ) : (
          <span key={at} class={name} style={style}>
            {shown}
          </span>
        );
      })}
    </>
  );
}
