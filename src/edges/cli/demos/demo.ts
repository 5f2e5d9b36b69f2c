import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Link } from "#log/projections/chain";
import { SimWorld } from "#testing/index";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { safeLine } from "#edges/cli/terminal/terminal";
import { chainRows } from "#edges/cli/view/chain-view";
import { type ToldLink, withFidelity } from "#transfer/shown/told-links";
import { FACTS, IDENTITIES, playStory, type StoryOptions, type StoryResult } from "./demo-story.ts";
import { Printer } from "#edges/cli/terminal/printer";

const CONVERSATION = "party";
const PACE_MS = 60;
const REST_MS = 520;

export const demo: Command = {
  name: "demo",
  summary: "Half a minute of everything going wrong, and nothing being lost",
  usage: ["[--fast]"],
  about: `A simulated assistant works through a task on a real store in a temporary folder while faults
strike one after the other: a rate limit, an empty answer, a crash in the middle of sending
an email, the host process killed with SIGKILL, the session id rolled three times. No key,
no network. Exit 1 if anything was forgotten, sent twice or is missing from the chain.

  --fast  without the pauses; also when the output is not a terminal`,
  examples: ["holdfast demo", "holdfast demo --fast", "holdfast demo --json"],
  options: { fast: { type: "boolean" } },
  arity: [0, 0],
  async run(call) {
    const { out } = call.io;
    const folder = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
    const store = `sqlite:${join(folder, "demo.db")}`;
    const slow = out.isTerminal && !call.flags.has("fast") && !call.json;
    const printer = new Printer(call.json ? { ...out, write: async () => undefined } : out);
    const { openHoldfast } = await import("#open");
    await using holdfast = await openHoldfast({ store });
    const conversation = await holdfast.create({ id: CONVERSATION, title: "Ada's party" });
    const options: StoryOptions = {
      store,
      conversation: CONVERSATION,
      world: new SimWorld({ startMs: Date.now() }),
      printer,
      paceMs: slow ? PACE_MS : 0,
      restMs: slow ? REST_MS : 0,
      ids: new Set(),
      onEvent: (event) => printer.event(event),
    };
    const result = await playStory(options);
    const links = withFidelity(await conversation.chain(), await conversation.facts(["attempt"]));
    const verdict = judge(options, result, links);
    if (call.json) {
      const chain = links.map(({ id, reason, carried }) => ({ id, reason, carried }));
      await out.write(jsonLine({ ...verdict, chain, conversation: CONVERSATION, store }));
    } else showVerdict(call, options, { ...verdict, links });
    return verdict.kept ? STATUS.ok : STATUS.unexpected;
  },
};

interface Verdict extends Pick<StoryResult, "answers" | "killed"> {
  readonly kept: boolean;
  readonly promises: Readonly<Record<string, boolean>>;
  readonly sent: Readonly<Record<string, number>>;
}

/** Holds what came out against what was promised. The agent's world is the witness, not Holdfast. */
function judge({ world, ids }: StoryOptions, result: StoryResult, links: readonly Link[]): Verdict {
  const { answers, killed, parkedAndResumed } = result;
  const chained = new Set(links.map((link) => link.id));
  const sent = Object.fromEntries(
    [...IDENTITIES, ...world.outbox.doubles()].map((identity) => [identity, world.outbox.count(identity)]),
  );
  const promises = {
    everyFaultStruck: world.faults.waiting === 0,
    parkedAndResumed,
    reallyKilled: killed.signal === "SIGKILL",
    remembered: Object.entries(FACTS).every(([name, value]) => answers[name] === value),
    sentOnce: Object.values(sent).every((count) => count === 1),
    chainComplete: chained.size === ids.size && [...ids].every((id) => chained.has(id)),
  };
  return { kept: Object.values(promises).every(Boolean), promises, sent, answers, killed };
}

const SENTENCES: Readonly<Record<string, string>> = {
  everyFaultStruck: "every fault struck",
  parkedAndResumed: "the limit was waited out, and the same session went on",
  reallyKilled: "the host was killed with SIGKILL",
  remembered: "everything told was remembered",
  sentOnce: "every email went out exactly once",
  chainComplete: "the chain holds every session id the agent has had",
};

function showVerdict(
  { io }: Call,
  { printer, store }: StoryOptions,
  { sent, promises, links }: Verdict & { readonly links: readonly ToldLink[] },
): void {
  const { style } = io.out;
  printer.heading("What is left");
  printer.say("\nThe outbox, as the world saw it:");
  printer.rows(Object.entries(sent).map(([identity, count]) => `${count} ×  ${identity}`));
  printer.say(`\n$ holdfast chain ${CONVERSATION}`);
  printer.rows([...chainRows(links, true), ""]);
  const mark = (held: boolean): string => (held ? style.green("✓") : style.red("✗ BROKEN:"));
  printer.rows(Object.entries(promises).map(([name, held]) => `${mark(held)} ${SENTENCES[name] ?? name}`));
  printer.say("\nThe store is yours to look into:");
  printer.rows([
    `export HOLDFAST_STORE=${safeLine(store)}`,
    `./holdfast show ${CONVERSATION}      ./holdfast log ${CONVERSATION}`,
    `./holdfast chat ${CONVERSATION}      go on with it, and let faults strike yourself`,
    "./holdfast tour            branches, compaction, forks, search",
  ]);
}
