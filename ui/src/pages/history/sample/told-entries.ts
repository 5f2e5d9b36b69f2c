import type { EntryBody } from "#log/entry";
import type { ContentBlock } from "#log/message";

/** An entry, and so many seconds behind the one before. */
export type Told = EntryBody & { readonly after?: number };

/** Input that nobody had in a cache, output, and input that was in one. */
type Tokens = readonly [input: number, output: number, cached?: number];

const USUAL_SECONDS = 3;

/** The entries with their times, from the moment the story begins. */
export function timed(story: readonly Told[], beganMs: number): readonly EntryBody[] {
  let atMs = beganMs;
  return story.map(({ after = USUAL_SECONDS, ...body }) => {
    atMs += after * 1_000;
    return Object.assign(body, { time: new Date(atMs).toISOString() });
  });
}

export const text = (words: string): ContentBlock => ({ type: "text", text: words });

export function prompt(id: string, words: string, more: Partial<Told> = {}): Told {
  return { type: "message", id, message: { role: "user", content: [text(words)] }, ...more } as Told;
}

/** In micros of a dollar a token: what a middling model takes. */
const costOf = ([input, output, cached = 0]: Tokens): number =>
  Math.round(input * 3 + output * 15 + cached * 0.3);

export function reply(
  id: string,
  content: readonly ContentBlock[],
  tokens: Tokens,
  model: string = "example-1",
): Told {
  const [inputTokens, outputTokens, cacheReadTokens = 0] = tokens;
  const usage = { inputTokens, outputTokens, cacheReadTokens, costMicros: costOf(tokens) };
  return { type: "message", id, message: { role: "assistant", model, content, usage } };
}

export const turn = (name: string, of: string): Told => ({
  type: "turn_start",
  turn: name,
  prompt: of,
  after: 0,
});

export const link = (upstream: string, reason: string): Told => ({
  type: "upstream_link",
  upstream,
  agent: "sim",
  reason,
});

export function ended(name: string, upstream: string, node: string): Told {
  return { type: "turn_end", turn: name, outcome: "completed", upstream, node, after: 0 };
}

type Input = { readonly [member: string]: string };

export function called(call: string, name: string, input: Input): ContentBlock {
  return { type: "toolCall", id: call, name, input };
}

export function result(id: string, call: string, toolName: string, words: string): Told {
  return {
    type: "message",
    id,
    message: { role: "toolResult", toolCallId: call, toolName, content: [text(words)] },
  };
}

export const intent = (call: string, name: string, input: Input): Told => ({
  type: "tool_intent",
  call,
  name,
  input,
  replay: "never",
});

/** A prompt that one answer answers, carried by a session that is there already. */
export function exchange(
  name: string,
  upstream: string,
  [asked, answered]: readonly [string, string],
  tokens: Tokens,
): readonly Told[] {
  return [
    prompt(`u-${name}`, asked, { after: 45 }),
    turn(`t-${name}`, `u-${name}`),
    { type: "attempt", turn: `t-${name}`, upstream },
    reply(`a-${name}`, [text(answered)], tokens),
    ended(`t-${name}`, upstream, `a-${name}`),
  ];
}
