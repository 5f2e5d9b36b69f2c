import { nameOf } from "../../text/conversation-name.ts";
import type { ConversationCost, DailyRow } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { conversationAddress } from "../../router/addresses.ts";
import { addedUp, type Measure, tokensOf } from "./usage-spans.ts";
import type { Used, UsageLine } from "./usage-table.tsx";

const kindOf = (replay: boolean): string => (replay ? "replay" : "conversation");

function sizeOf(row: Used, measure: Measure): number {
  return measure === "cost" ? (row.costMicros ?? 0) : tokensOf(row);
}

function withShares(lines: readonly UsageLine[], measure: Measure): readonly UsageLine[] {
  const most = Math.max(1, ...lines.map(({ used }) => sizeOf(used, measure)));
  return lines.map(({ key, names, shown, used }) => ({
    key,
    names,
    shown,
    used,
    share: sizeOf(used, measure) / most,
  }));
}

/** One for each day, or month, and model, the newest first. */
export function dayLines(rows: readonly DailyRow[], isByMonth: boolean): readonly UsageLine[] {
  const when = ({ day }: DailyRow): string => (isByMonth ? day.slice(0, 7) : day);
  return addedUp(rows, (row) => JSON.stringify([when(row), row.model, row.replay]))
    .toReversed()
    .map((row) => {
      const names = [when(row), row.model, kindOf(row.replay)];
      return { used: row, key: row.name, names, shown: names.map(safeLine) };
    });
}

export function modelLines(rows: readonly DailyRow[], measure: Measure): readonly UsageLine[] {
  const lines = addedUp(rows, ({ model, replay }) => JSON.stringify([model, replay])).map((row) => {
    const names = [row.model, kindOf(row.replay)];
    return { used: row, key: row.name, names, shown: names.map(safeLine) };
  });
  const sorted = lines.toSorted((a, b) => sizeOf(b.used, measure) - sizeOf(a.used, measure));
  return withShares(sorted, measure);
}

export function conversationLines(
  conversations: readonly ConversationCost[],
  measure: Measure,
): readonly UsageLine[] {
  const lines = conversations.map((one) => {
    const { conversation, title, replay, rollovers } = one;
    const shown = nameOf(conversation, title);
    return {
      used: one,
      key: conversation,
      names: [conversation, kindOf(replay), String(rollovers)],
      shown: [
        <a class="link usage-title" href={conversationAddress(conversation, "usage")} title={shown}>
          <span class="cut">{shown}</span>
        </a>,
        kindOf(replay),
        String(rollovers),
      ],
    };
  });
  return withShares(lines, measure);
}
