import {
  called,
  ended,
  exchange,
  intent,
  link,
  prompt,
  reply,
  result,
  text,
  type Told,
  turn,
} from "./told-entries.ts";

const BAND = { to: "band", about: "playing at eight" };

export const CAKE: readonly Told[] = [
  link("sim-session-000041", "new"),
  ...exchange(
    "cake",
    "sim-session-000041",
    [
      "A lemon cake for twelve: how much of everything?",
      "| what | how much |\n|---|---|\n| flour | 450 g |\n| sugar | 380 g |\n| butter | 300 g |\n| eggs | 6 |\n| lemons | 4 |",
    ],
    [610, 84],
  ),
  ...exchange(
    "oven",
    "sim-session-000041",
    ["And how long in the oven?", "55 minutes at 170 °C, in a tin of 28 cm."],
    [70, 18, 694],
  ),
];

/** It was stopped by a limit and waits for its agent. */
export function map(freeAgainMs: number): readonly Told[] {
  return [
    link("sim-session-000051", "new"),
    ...exchange(
      "map",
      "sim-session-000051",
      [
        "Put a map of the orchard on the invitation page.",
        "It is there, beneath the date, as an image of 40 kB.",
      ],
      [2_210, 96],
    ),
    prompt("u-gate", "Mark the gate on it, and where one may park.", { after: 120 }),
    turn("t-gate", "u-gate"),
    { type: "attempt", turn: "t-gate", upstream: "sim-session-000051" },
    { type: "attempt_end", turn: "t-gate", upstream: "sim-session-000051", class: "rate_limit" },
    {
      type: "turn_end",
      turn: "t-gate",
      outcome: "interrupted",
      class: "rate_limit",
      upstream: "sim-session-000051",
      resetAt: new Date(freeAgainMs).toISOString(),
      after: 0,
    },
  ];
}

/** An email of which nobody knows whether it went out. */
export const MUSIC: readonly Told[] = [
  prompt("u1", "Ask the band whether they can play at eight."),
  turn("t1", "u1"),
  link("sim-session-000061", "new"),
  { type: "attempt", turn: "t1", upstream: "sim-session-000061", fidelity: "native" },
  reply("a1", [text("I will write to them."), called("c1", "send_email", BAND)], [530, 40]),
  intent("c1", "send_email", BAND),
  { type: "attempt_end", turn: "t1", upstream: "sim-session-000061", class: "crashed", after: 4 },
  {
    type: "turn_end",
    turn: "t1",
    outcome: "interrupted",
    class: "crashed",
    upstream: "sim-session-000061",
    after: 0,
  },
];

/** Three ways at one prompt. */
export const BUDGET: readonly Told[] = [
  link("sim-session-000071", "new"),
  ...exchange(
    "budget",
    "sim-session-000071",
    ["Split a budget of 900.", "Music 400, food 350, the rest for lights."],
    [480, 22],
  ),
  ...["Spend less on music.", "Spend nothing on lights."].flatMap((asked, at): readonly Told[] => [
    prompt(`u-way-${at}`, asked, { parentId: "a-budget", after: 90 }),
    turn(`t-way-${at}`, `u-way-${at}`),
    { type: "attempt", turn: `t-way-${at}`, upstream: "sim-session-000071" },
    reply(
      `a-way-${at}`,
      [
        text(
          at === 0 ? "Music 250, food 450, lights 200." : "Music 450, food 450, and candles from the shed.",
        ),
      ],
      [60, 18, 502],
    ),
    ended(`t-way-${at}`, "sim-session-000071", `a-way-${at}`),
  ]),
];

const OUTBOX_SESSION = "sim-session-000081";
const LEMON_CAKE = { to: "baker", about: "the lemon cake" };

/** A run: what began it, its turn, and how it ended. */
function run(name: string, of: string, turns: readonly Told[]): readonly Told[] {
  return [
    { type: "run_start", run: name, trigger: "person", model: "sim", tools: ["send_email"] },
    { type: "turn_start", turn: `t-${name}`, prompt: of, run: name, after: 0 },
    { type: "attempt", turn: `t-${name}`, upstream: OUTBOX_SESSION },
    ...turns,
    { type: "run_end", run: name, status: "completed", after: 0 },
  ];
}

/** In words that a simulated model understands: whoever replays it sees two of them part. */
export const OUTBOX: readonly Told[] = [
  link(OUTBOX_SESSION, "new"),
  prompt("p1", "remember guest=Ada"),
  ...run("run-1", "p1", [
    reply("q1", [text("Noted guest=Ada")], [320, 9]),
    ended("t-run-1", OUTBOX_SESSION, "q1"),
  ]),
  prompt("p2", "email baker about the lemon cake", { after: 80 }),
  ...run("run-2", "p2", [
    reply("q2", [called("o1", "send_email", LEMON_CAKE)], [64, 24, 329]),
    intent("o1", "send_email", LEMON_CAKE),
    result("s1", "o1", "send_email", "Sent"),
    reply("q3", [text("Sent it.")], [40, 5, 393]),
    ended("t-run-2", OUTBOX_SESSION, "q3"),
  ]),
  prompt("p3", "recall guest", { after: 60 }),
  ...run("run-3", "p3", [reply("q4", [text("Ada")], [48, 3, 433]), ended("t-run-3", OUTBOX_SESSION, "q4")]),
];
