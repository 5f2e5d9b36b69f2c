import { COUNTERS } from "#log/add-usage";
import type { Bodies } from "#log/entry";
import type { Usage } from "#log/message";
import type { SummaryChange } from "#log/summary";

// What each type of entry contributes, by its body; the table of entry types says which does what.

type Listing<T extends keyof Bodies> = (body: Bodies[T], time: string) => SummaryChange | null;

export const begun: Listing<"conversation"> = ({ parent, forkedFrom, unlisted }) =>
  parent === undefined && forkedFrom === undefined && unlisted !== true
    ? null
    : {
        ...(parent === undefined ? {} : { parent }),
        ...(unlisted === true ? { unlisted } : {}),
        ...(forkedFrom === undefined ? {} : { inheritedUpTo: forkedFrom.entry }),
      };

export const replied: Listing<"message"> = ({ message }) => {
  if (message.role === "toolResult") return ABOUT_CALL;
  if (message.role !== "assistant") return null;
  const { model = "", usage } = message;
  const calls = message.content.some(({ type }) => type === "toolCall") ? ABOUT_CALL : {};
  if (model === "" && usage === undefined) return { replied: true, ...calls };
  return {
    replied: true,
    ...calls,
    ...(model === "" ? {} : { model: { name: model, chosen: false } }),
    ...spentBy(message),
  };
};

const ABOUT_CALL: SummaryChange = { call: "message" };

export const begunCall: Listing<"tool_intent"> = () => ({ call: "intent" });

export const chosen: Listing<"model_change"> = ({ model }) => ({ model: { name: model, chosen: true } });

/** It stands on a message, or where an attempt left none, at its end; format 1 had it on the attempt or the turn's end. */
export function spentBy(body: {
  readonly usage?: Usage;
  readonly model?: string;
}): Pick<SummaryChange, "spent"> | null {
  const { usage, model = "unknown" } = body;
  if (usage === undefined) return null;
  const counted: { -readonly [K in keyof Usage]: number } = {};
  for (const counter of COUNTERS) if (usage[counter] !== undefined) counted[counter] = usage[counter];
  return { spent: { model, usage: counted } };
}

export const turnBegun: Listing<"turn_start"> = ({ turn, prompt = null, run }, time) => ({
  turn: { state: "open", turn, prompt, since: time, ...(run === undefined ? {} : { run }) },
});

export const turnEnded: Listing<"turn_end"> = (body) => {
  const { turn, outcome, resetAt = null } = body;
  return { turn: { state: "ended", turn, outcome, resetAt }, ...spentBy(body) };
};

export const runBegun: Listing<"run_start"> = ({ run, trigger, mailbox = null }, time) => ({
  run: { run, trigger, mailbox, startedAt: time },
});

export const runEnded: Listing<"run_end"> = ({ run, status }, time) => ({
  runEnd: { run, status, endedAt: time },
});

/** With the prompt of a turn that begins they are part of it: only what comes later is one more. */
export const steered: Listing<"steer"> = ({ state }) => (state === "delivered" ? { steered: true } : null);

export const linked: Listing<"upstream_link"> = ({ agent }) => ({ agent });

export const filed: Listing<"metadata"> = ({ metadata }) => ({ metadata });
