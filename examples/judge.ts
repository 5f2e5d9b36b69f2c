/* oxlint-disable no-console */
import { openHoldfast, Runtime } from "../src/index.ts";
import {
  FAULT_KINDS,
  FAULT_PHASES,
  judgeConversation,
  LogJudge,
  simUpstream,
  SimWorld,
} from "../src/testing/index.ts";

// Every fault in every phase it can strike in. The same seed is the same story.
const world = new SimWorld({ seed: 3 }).chances(
  ...FAULT_KINDS.flatMap((kind) => FAULT_PHASES[kind].map((phase) => ({ kind, phase, probability: 0.05 }))),
);
await using holdfast = await openHoldfast({ store: "memory:" });
const runtime = new Runtime(holdfast, {
  upstreams: [simUpstream(world, { agent: "claude" })],
  clock: world.clock,
});
const chat = await holdfast.create({ title: "Under fire" });

const judge = new LogJudge();
for (let n = 1; n <= 20; n++) {
  await runtime.send(chat, `remember fact${n}=${n}`);
  const violations = await judgeConversation(chat, judge);
  if (violations.length > 0) throw new Error(violations.join("\n"));
}
console.log(`${world.faults.struck.size} kinds of trouble, no rule broken, ${judge.prompts.length} turns`);
