import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimWorld } from "#testing/index";
import { type Call, type Command, jsonLine, type Sink } from "#edges/cli/command";
import { HostProcess } from "#edges/cli/demo/host-process";
import { Stage } from "#edges/cli/chat/chat-printer";
import { FACTS, IDENTITIES, type Play, Story, type Told } from "#edges/cli/demo/story";
import { STATUS } from "#edges/cli/exit";
import { safeLine } from "#edges/cli/terminal";
import type { Link } from "#log/projections/chain";
import { chainRows, type ToldLink, withFidelity } from "#edges/cli/view/chain-view";

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
    const folder = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
    const store = `sqlite:${join(folder, "demo.db")}`;
    const slow = call.io.out.isTerminal && !call.flags.has("fast") && !call.json;
    const stage = new Stage(call.json ? silent(call.io.out) : call.io.out);
    const { openHoldfast } = await import("#open");
    await using holdfast = await openHoldfast({ store });
    const conversation = await holdfast.create({ id: CONVERSATION, title: "Ada's party" });
    const world = new SimWorld({ startMs: Date.now() });
    const play: Play = {
      store,
      conversation: CONVERSATION,
      world,
      stage,
      paceMs: slow ? PACE_MS : 0,
      restMs: slow ? REST_MS : 0,
      ids: new Set(),
      onEvent: (event) => stage.event(event),
    };
    const told = await perform(play);
    const verdict = judge(play, told, await conversation.chain());
    const links = withFidelity(await conversation.chain(), await conversation.facts(["attempt"]));
    await finish(call, play, { ...verdict, links });
    return verdict.kept ? STATUS.ok : STATUS.unexpected;
  },
};

async function perform(play: Play): Promise<Told> {
  const host = await HostProcess.start(play);
  const story = new Story(play, host);
  try {
    play.stage.say(
      `A small assistant plans a party while everything goes wrong. The agent is simulated: it knows only what its own session was told. The host is a real process (${host.pid}) that uses Holdfast; the store is a real file. No key, no network.`,
    );
    return await story.tell();
  } finally {
    await story.close();
  }
}

interface Verdict {
  readonly kept: boolean;
  readonly promises: Readonly<Record<string, boolean>>;
  readonly answers: Told["answers"];
  readonly sent: Readonly<Record<string, number>>;
  readonly killed: Told["killed"];
}

/** Holds what came out against what was promised. The agent's world is the witness, not Holdfast. */
function judge(play: Play, told: Told, links: readonly Link[]): Verdict {
  const { world, ids } = play;
  const chained = new Set(links.map((link) => link.id));
  const sent = Object.fromEntries(
    [...IDENTITIES, ...world.outbox.doubles()].map((identity) => [identity, world.outbox.count(identity)]),
  );
  const promises = {
    everyFaultStruck: world.faults.waiting === 0,
    parkedAndResumed: told.parkedAndResumed,
    reallyKilled: told.killed.signal === "SIGKILL",
    remembered: Object.entries(FACTS).every(([name, value]) => told.answers[name] === value),
    sentOnce: Object.values(sent).every((count) => count === 1),
    chainComplete: chained.size === ids.size && [...ids].every((id) => chained.has(id)),
  };
  const kept = Object.values(promises).every(Boolean);
  return { kept, promises, sent, answers: told.answers, killed: told.killed };
}

const SENTENCES: Readonly<Record<string, string>> = {
  everyFaultStruck: "every fault struck",
  parkedAndResumed: "the limit was waited out, and the same session went on",
  reallyKilled: "the host was killed with SIGKILL",
  remembered: "everything told was remembered",
  sentOnce: "every email went out exactly once",
  chainComplete: "the chain holds every session id the agent has had",
};

async function finish(
  call: Call,
  play: Play,
  end: Verdict & { readonly links: readonly ToldLink[] },
): Promise<void> {
  const { links, ...verdict } = end;
  if (call.json) {
    const chain = links.map(({ id, reason, carried }) => ({ id, reason, carried }));
    return call.io.out.write(jsonLine({ ...verdict, chain, conversation: CONVERSATION, store: play.store }));
  }
  const { stage } = play;
  const { style } = call.io.out;
  stage.scene("What is left");
  stage.say("\nThe outbox, as the world saw it:");
  stage.rows(Object.entries(verdict.sent).map(([identity, count]) => `${count} ×  ${identity}`));
  stage.say(`\n$ holdfast chain ${CONVERSATION}`);
  stage.rows(chainRows(links, true));
  stage.say("");
  stage.rows(
    Object.entries(verdict.promises).map(
      ([name, held]) => `${held ? style.green("✓") : style.red("✗ BROKEN:")} ${SENTENCES[name] ?? name}`,
    ),
  );
  stage.say("\nThe store is yours to look into:");
  stage.rows([
    `export HOLDFAST_STORE=${safeLine(play.store)}`,
    `./holdfast show ${CONVERSATION}      ./holdfast log ${CONVERSATION}`,
    `./holdfast chat ${CONVERSATION}      go on with it, and let faults strike yourself`,
    "./holdfast tour            branches, compaction, forks, search",
  ]);
}

function silent(sink: Sink): Sink {
  return { ...sink, write: async () => undefined };
}
