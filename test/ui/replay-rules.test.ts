import { expect, test } from "vitest";
import { elapsedText } from "../../ui/src/parts/numbers.ts";
import type { ReplayOffer, ReplayEventView } from "#edges/http/client/views";
import {
  choicesIn,
  microsOf,
  modelsText,
  refusalOf,
  replayInput,
  sentCount,
  turnsOf,
} from "../../ui/src/pages/replay/form/replay-choices.ts";
import { modelText, storyOf, turnState, turnText } from "../../ui/src/pages/replay/replay-story.ts";

const OFFER: ReplayOffer = {
  source: { conversation: "c", entry: "e9", run: null },
  title: null,
  promptCount: 5,
  first: 2,
  prompts: [],
  models: ["one", "two"],
  tools: [
    { name: "look", hasEffect: false, hasDryRun: false },
    { name: "send", hasEffect: true, hasDryRun: true },
  ],
  absent: [],
};
const asked = (query: string): ReturnType<typeof choicesIn> => choicesIn(new URLSearchParams(query), OFFER);

test("what an address says of a replay is what is asked for; what it does not say is the careful choice", () => {
  expect(asked("")).toEqual({ models: ["one"], tools: "dry-run", cost: "", turns: "" });
  const chosen = asked("models=two,nobody&tools=live&cost=0.25&turns=2");
  expect(chosen).toMatchObject({ models: ["two"], tools: "live" });
  expect(replayInput({ offer: OFFER, choices: chosen, from: "e3", system: " " })).toEqual({
    conversation: "c",
    at: "e9",
    models: ["two"],
    tools: "live",
    from: "e3",
    confirm: true,
    maxPrompts: 2,
    maxCostMicros: 250_000,
  });
  const ofRun = { ...OFFER, source: { ...OFFER.source, run: "r" } };
  expect(replayInput({ offer: ofRun, choices: asked(""), from: null, system: "Be brief" })).toEqual({
    run: "r",
    conversation: "c",
    models: ["one"],
    tools: "dry-run",
    system: "Be brief",
  });
  expect(asked(`models=${modelsText([])}`).models).toEqual([]);
  expect([sentCount(OFFER, ""), sentCount(OFFER, "3"), sentCount(OFFER, "9")]).toEqual([4, 3, 4]);
});

test("a replay is not begun with an amount that is none, and live not before each tool with an effect is agreed to", () => {
  const none = new Set<string>();
  expect(refusalOf(asked(""), OFFER, none)).toBeNull();
  expect(refusalOf(asked("tools=live"), OFFER, none)).toContain("send");
  expect(refusalOf(asked("tools=live"), OFFER, none)).not.toContain("look");
  expect(refusalOf(asked("tools=live"), OFFER, new Set(["send"]))).toBeNull();
  for (const query of ["models=-", "cost=abc", "cost=0", "cost=-1", "turns=0", "turns=1.5"])
    expect(refusalOf(asked(query), OFFER, none)).not.toBeNull();
  expect([microsOf(" "), microsOf("0.000001"), microsOf("x")]).toEqual([null, 1, undefined]);
  expect([turnsOf(""), turnsOf("7"), turnsOf("7x")]).toEqual([null, 7, undefined]);
});

const told = (...events: readonly object[]): readonly ReplayEventView[] =>
  events.map((event) => ({ event, progress: { turn: 1 } }) as unknown as ReplayEventView);
const CALL = {
  kind: "call",
  entry: "x",
  turn: 2,
  call: "c",
  name: "send",
  input: { to: "anna" },
  result: null,
};
const PARTS = { kind: "call", sameBefore: 1, a: CALL, b: { kind: "prompt", entry: "y", turn: 3, text: "?" } };
const DONE = {
  type: "turn",
  outcome: "completed",
  message: "",
  steps: 1,
  divergence: null,
  textDiffers: false,
};

test("the story of a replay says of each turn of each model what came of it", () => {
  const first = { type: "forked", conversation: "f1", model: "one" };
  const second = { type: "forked", conversation: "f2", model: "two" };
  const prompt = (number: number, conversation: string): object => ({ type: "prompt", number, conversation });
  const story = storyOf(
    told(
      first,
      prompt(1, "f1"),
      { ...DONE, textDiffers: true },
      prompt(2, "f1"),
      { ...DONE, divergence: PARTS },
      { type: "ended", conversation: "f1", model: "one" },
      second,
      prompt(1, "f2"),
      { ...DONE, outcome: "failed", message: "no key" },
      prompt(2, "f2"),
      { type: "asked", conversation: "f2", request: "q" },
    ),
  );
  expect(story.turns.map((turn) => [turn.model, turn.number, turnState(turn)])).toEqual([
    [0, 1, "same"],
    [0, 2, "diverged"],
    [1, 1, "failed"],
    [1, 2, "running"],
  ]);
  expect(story.turns.map((turn) => turnText(turn))).toEqual([
    "same calls, different text",
    "different calls: send anna → no call",
    "failed: no key",
    "running",
  ]);
  expect(story.models.map(({ end }) => end !== null)).toEqual([true, false]);
  expect(story.asks).toBe("f2");
  const answered = storyOf(
    told(second, { type: "asked", conversation: "f2", request: "q" }, { type: "answered", request: "q" }),
  );
  expect(answered.asks).toBeNull();
  expect(storyOf(told({ type: "backing_off", message: "in a minute" })).pause).toBe("in a minute");
  expect(storyOf([])).toMatchObject({ turns: [], progress: null });
});

test("a verdict says where the calls part, and how far a replay came that did not end by itself", () => {
  const end = {
    outcome: "completed",
    message: "",
    divergence: null,
    textDiffers: false,
    sent: 2,
    prompts: 3,
  };
  const of = (more: object): string => modelText({ ...end, ...more } as never);
  expect(of({})).toBe("The same");
  expect(of({ textDiffers: true })).toBe("Same calls, different text");
  expect(of({ divergence: PARTS })).toBe("Differs from turn 2: send anna → no call");
  expect(of({ outcome: "interrupted", message: "Stopped" })).toBe("The same, up to turn 2 of 3. Stopped");
  expect([elapsedText(-5), elapsedText(59_999), elapsedText(61_000)]).toEqual(["0 s", "59 s", "1 min 1 s"]);
});
