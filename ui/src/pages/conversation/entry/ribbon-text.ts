import { safeLine } from "#transfer/views/safe-text";
import { endingSentence, reasonText } from "#operations/text";
import type { Ribbon } from "../thread/turn-facts.ts";

/** The text of a ribbon after its mark; a rollover also shows what the new session was sent. */
export function ribbonText(ribbon: Ribbon): string {
  switch (ribbon.kind) {
    case "rollover":
      return safeLine(reasonText(ribbon.reason));
    case "again":
      return ribbon.isRestarted
        ? "The agent process exited before it answered. Holdfast started it again and sent the prompt to the same session."
        : "The agent could not answer. Holdfast sent the prompt to the same session again.";
    case "parked":
      return "Paused: the agent reached its limit. Your prompt is saved.";
    case "broken":
      return safeLine(endingSentence(ribbon));
  }
}
