import { forkAside, goBackTo } from "../src/upstream/sessions/fork-session.ts";
import { Runtime } from "../src/upstream/runtime.ts";
import type { PromptEvent } from "../src/upstream/upstream.ts";
import { benchUpstream } from "./bench-upstream.ts";
import { flatRows } from "./reads.ts";
import type { Row } from "./report.ts";
import { alternate, type Side, type Timing, timingNamed } from "./sample.ts";
import { openShaped, SHAPES, type Shaped, sizesOf } from "./shapes.ts";
import type { Stage } from "./stage.ts";

async function* answer(): AsyncGenerator<PromptEvent> {
  yield { type: "text", text: `the answer ${Math.random()}` };
  const usage = { inputTokens: 1_000, outputTokens: 10 };
  yield { type: "end", end: { stopReason: "end_turn", error: null, exited: false, durationMs: 900, usage } };
}

/** Ways to go on, each from the end of the stretch it was built with. */
const WAYS: readonly { readonly name: string; readonly side: (at: Shaped) => Side }[] = [
  {
    name: "send to a new session",
    side: (at) => {
      const runtime = new Runtime(at.holdfast, { upstreams: [benchUpstream(answer)] });
      return {
        before: () => at.conversation.goTo(at.leaf),
        run: () => runtime.send(at.conversation, "go"),
      };
    },
  },
  {
    name: "send to a live session",
    side: (at) => {
      const runtime = new Runtime(at.holdfast, { upstreams: [benchUpstream(answer)] });
      const send = (): Promise<unknown> => runtime.send(at.conversation, "go");
      const before = async (): Promise<void> => {
        await at.conversation.goTo(at.leaf);
        await send();
      };
      return { before, run: send };
    },
  },
  {
    name: "go back before the last prompt",
    side: (at) => ({
      before: () => at.conversation.goTo(at.leaf),
      run: () => goBackTo(at.conversation, benchUpstream(answer), at.prompt),
    }),
  },
  {
    name: "fork before the last prompt",
    side: (at) => ({
      before: () => at.conversation.goTo(at.leaf),
      run: () => forkAside(at.conversation, benchUpstream(answer), { at: at.prompt }),
    }),
  },
];

/** A send, an edit and a fork, in every awkward shape: what they cost must not follow the log. */
export async function measureTurns(stage: Stage): Promise<readonly Row[]> {
  return [...(await measureStore(stage, "sqlite")), ...(await measureStore(stage, "jsonl"))];
}

async function measureStore(stage: Stage, store: "sqlite" | "jsonl"): Promise<readonly Row[]> {
  const taken = new Map<string, Timing>();
  for (const shape of SHAPES) {
    const sizes = sizesOf(stage, store, shape);
    if (sizes.length < 2) continue;
    const shaped = await Promise.all(
      sizes.map((size) => openShaped(stage, store, shape, { size, copy: true })),
    );
    for (const { conversation } of shaped) await conversation.head(); // JSONL: once opened
    for (const { name, side } of WAYS) {
      const sides: { [name: string]: Side } = {};
      for (const at of shaped) sides[`${name} ${shape.name} ${at.size}`] = side(at);
      const timings = await alternate(sides, stage.plan(100, 2_000));
      for (const timed of Object.keys(sides)) taken.set(timed, timingNamed(timings, timed));
    }
    for (const { holdfast } of shaped) await holdfast.close();
  }
  // The facts a send is decided on are more than a log of a hundred entries has.
  return WAYS.flatMap(({ name }) =>
    flatRows(stage, `${store} ${name}`, { find: (at) => taken.get(`${name} ${at}`), fullFrom: 10_000 }),
  );
}
