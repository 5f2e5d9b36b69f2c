import { called, ended, intent, link, prompt, reply, result, text, type Told, turn } from "./told-entries.ts";

const TURNS = 24;
const TURNS_OF_A_SESSION = 7;
const TURNS_OF_A_SUMMARY = 10;
const HOURS_APART = 9;
const REASONS = ["new", "rate_limit", "expired", "rolled_by_upstream"];
const MODELS = ["example-1", "example-1", "example-2"];

/** A job that comes back every few hours for days: contexts that grow until they are summed up, sessions that come and go. */
function job(at: number): readonly Told[] {
  const session = Math.floor(at / TURNS_OF_A_SESSION);
  const upstream = `sim-session-0001${String(session).padStart(2, "0")}`;
  const isNew = at % TURNS_OF_A_SESSION === 0;
  const context = 6_200 + (at % TURNS_OF_A_SUMMARY) * 3_450;
  const [id, model] = [`n${at}`, MODELS[session % MODELS.length] ?? "example-1"];
  const check = { command: "npm run check" };
  const priorContext = { messages: 6, leftOut: at * 4, effects: at, summary: at > TURNS_OF_A_SUMMARY };
  return [
    prompt(`u${id}`, `Check the site, round ${at + 1}: links, sizes, words.`, { after: HOURS_APART * 3_600 }),
    turn(`t${id}`, `u${id}`),
    ...(isNew ? [link(upstream, REASONS[session % REASONS.length] ?? "new")] : []),
    {
      type: "attempt",
      turn: `t${id}`,
      upstream,
      ...(isNew && at > 0 ? { fidelity: "preamble", priorContext } : {}),
    },
    reply(
      `c${id}`,
      [called(`call-${at}`, "bash", check)],
      isNew ? [context, 60] : [900, 60, context - 900],
      model,
    ),
    intent(`call-${at}`, "bash", check),
    result(`r${id}`, `call-${at}`, "bash", `${204 + at} links, ${at % 5} of them moved`),
    reply(
      `a${id}`,
      [text(`Round ${at + 1}: ${204 + at} links are whole, ${at % 5} moved.`)],
      [420, 90 + at, context],
      model,
    ),
    ended(`t${id}`, upstream, `a${id}`),
    ...((at + 1) % TURNS_OF_A_SUMMARY === 0
      ? [
          {
            type: "compaction",
            id: `s${id}`,
            summary: `The site was checked ${at + 1} times; moved links are mended.`,
            firstKeptEntryId: `u${id}`,
            tokensBefore: context,
          } as const,
        ]
      : []),
  ];
}

export const LONG_JOB: readonly Told[] = Array.from({ length: TURNS }, (_, at) => job(at)).flat();
export const LONG_JOB_MS: number = TURNS * HOURS_APART * 3_600_000;
