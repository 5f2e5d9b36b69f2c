import Anser from "anser";
import type { JSX } from "preact";
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

function classOf(fg: string | null, decorations: readonly string[]): string {
  const colour = (fg ?? "").replace(/^ansi-(?:bright-)?/, "");
  const isDim = decorations.includes("dim") || fg === "ansi-bright-black";
  return [
    ...(COLOURS.has(colour) ? [colour] : []),
    ...(decorations.includes("bold") ? ["b"] : []),
    ...(isDim ? ["dim"] : []),
  ].join(" ");
}

/** What a terminal showed, in its colours. */
export function Ansi({ text }: { readonly text: string }): JSX.Element {
  const parts = Anser.ansiToJson(lastWritten(withoutOrders(text)), { use_classes: true, remove_empty: true });
  return (
    <>
      {parts.map(({ content, fg, decorations }, at) => {
        const shown = safeText(content);
        const name = classOf(fg, decorations);
        return name === "" ? (
          shown
        ) : (
          <span key={at} class={name}>
            {shown}
          </span>
        );
      })}
    </>
  );
}
