import { PHASES } from "#testing/faults";
import { FAULT_KINDS, FAULT_PHASES } from "#testing/index";
import type { Plan, Tally } from "./campaign.ts";

/** Every fault in every phase it can strike in, as `kind/phase`. */
const PAIRS: readonly string[] = FAULT_KINDS.flatMap((kind) =>
  FAULT_PHASES[kind].map((phase) => `${kind}/${phase}`),
);

/** The pair that struck least often, and how often. */
export function leastStruck(tally: Tally): readonly [string, number] {
  const counts = PAIRS.map((pair) => [pair, tally.struck[pair] ?? 0] as const);
  return counts.reduce((least, other) => (other[1] < least[1] ? other : least));
}

/** How often each fault struck in each phase of a turn. */
export function strikesTable(tally: Tally): string {
  const cell = (kind: (typeof FAULT_KINDS)[number], phase: (typeof PHASES)[number]): string =>
    FAULT_PHASES[kind].includes(phase) ? String(tally.struck[`${kind}/${phase}`] ?? 0) : "·";
  return table(
    ["fault", ...PHASES],
    FAULT_KINDS.map((kind) => [kind, ...PHASES.map((phase) => cell(kind, phase))]),
  );
}

/** How often the host was killed in the middle of each kind of append, before it was written and after. */
export function killsTable(tally: Tally): string {
  const moments = [...new Set(Object.keys(tally.kills).map((name) => name.split("/")[0] ?? ""))];
  const count = (moment: string, end: string): string => String(tally.kills[`${moment}/${end}`] ?? "·");
  return table(
    ["host killed at", "not written", "written", "in between", "refused"],
    moments
      .toSorted()
      .map((moment) => [
        moment,
        count(moment, "lost"),
        count(moment, "landed"),
        count(moment, "appends"),
        count(moment, "refused"),
      ]),
  );
}

/** What turns of the hosts' own loops did, met and came to. */
export function loopsTable(tally: Tally): string {
  const rows = Object.entries(tally.loops).toSorted(([one], [other]) => one.localeCompare(other));
  return table(
    ["loop", "times"],
    rows.map(([name, count]) => [name, String(count)]),
  );
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}

/** The command that plays exactly this plan again. */
export function commandFor(plan: Plan): string {
  const { store, seed, conversations, people, prompts, probability, faults, kills } = plan;
  const flags = [
    `--seed ${seed}`,
    `--conversations ${conversations}`,
    `--store ${store}`,
    `--people ${people}`,
    `--prompts ${prompts}`,
    `--probability ${probability}`,
    ...(faults === undefined || faults.length === FAULT_KINDS.length
      ? []
      : [`--faults ${faults.join(",") || "none"}`]),
    ...(kills === false ? ["--no-kills"] : []),
  ];
  return `npm run sim -- ${flags.join(" ")}`;
}

export function summaryOf(tally: Tally, wallMs: number): string {
  const [pair, count] = leastStruck(tally);
  const strikes = Object.values(tally.struck).reduce((sum, one) => sum + one, 0);
  const kills = Object.values(tally.kills).reduce((sum, one) => sum + one, 0);
  const seconds = wallMs / 1_000;
  return [
    `${tally.conversations} conversations and ${tally.forks} forks, ${tally.turns} prompts, ${strikes} faults, ${kills} killed or refused hosts`,
    `in ${seconds.toFixed(1)} s (${(tally.conversations / seconds).toFixed(1)} conversations a second);`,
    `struck least: ${pair}, ${count} times; ${tally.failures.length} stories with violations`,
  ].join(" ");
}
