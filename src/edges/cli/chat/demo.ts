import type { Fault } from "#testing/faults";
import { emailIdentity } from "#testing/agent/replies";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Link } from "#log/projections/chain";
import { SimWorld } from "#testing/index";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { Printer } from "#edges/cli/terminal/printer";
import { safeLine } from "#edges/cli/terminal/terminal";
import { chainRows } from "#edges/cli/commands/sessions";
import { type LinkWithFidelity, withFidelity } from "#transfer/views/link-details";
import type { SendResult } from "#upstream/finish-turn";
import { type HostOptions, HostProcess } from "./host-process.ts";

const CONVERSATION = "party";
const PACE_MS = 60;
const REST_MS = 520;

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

/** Facts that the agent is asked for at the end. */
const FACTS = { guest: "Ada", venue: "orchard", cake: "lemon", budget: "900", music: "jazz" } as const;

const EMAILS = { baker: "the lemon cake", band: "playing at eight", guests: "the invitation" } as const;
type Receiver = keyof typeof EMAILS;

const IDENTITIES: readonly string[] = Object.entries(EMAILS).map(([to, about]) => emailIdentity(to, about));

interface StoryResult {
  /** The answers at the end, by fact. */
  readonly answers: Readonly<Record<string, string>>;
  /** The turn that met the limit was parked, and its session answered the next one. */
  readonly parkedAndResumed: boolean;
  readonly killed: { readonly pid: number; readonly signal: string | null };
}

interface StoryOptions extends HostOptions {
  readonly printer: Printer;
  /** The pause between two events, for people to read. */
  readonly restMs: number;
}

export const demo: Command = {
  name: "demo",
  summary: "Watch an agent survive faults, in half a minute",
  forms: [""],
  about: `A simulated agent works through a task on a real store in a temporary folder while one fault follows
another: a rate limit, an empty answer, a crash while it sends an email, a SIGKILL of the host
process, three new session ids. It needs no key and no network. Exit code 1: something was
forgotten, sent twice or is missing from the session history.`,
  examples: ["holdfast demo", "holdfast demo --fast", "holdfast demo --json"],
  options: { "--fast": "skip the pauses, as when output isn't a terminal" },
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
    const promises = judge(options, result, links);
    if (call.json) {
      const chain = links.map(({ id, reason, carried }) => ({ id, reason, carried }));
      await out.write(jsonLine({ ...promises, chain, conversation: CONVERSATION, store }));
    } else showVerdict(call, options, { ...promises, links });
    return promises.isKept ? STATUS.ok : STATUS.unexpected;
  },
};

interface Verdict extends Pick<StoryResult, "answers" | "killed"> {
  readonly isKept: boolean;
  readonly promises: Readonly<Record<string, boolean>>;
  readonly sent: Readonly<Record<string, number>>;
}

/** Compares the results with the promises. The evidence comes from the agent's world, not from Holdfast. */
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
  return { isKept: Object.values(promises).every(Boolean), promises, sent, answers, killed };
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
  { sent, promises, links }: Verdict & { readonly links: readonly LinkWithFidelity[] },
): void {
  const { style } = io.out;
  printer.heading("Result");
  printer.say("\nThe outbox, as the world saw it:");
  printer.rows(Object.entries(sent).map(([identity, count]) => `${count} ×  ${identity}`));
  printer.say(`\n$ holdfast chain ${CONVERSATION}`);
  printer.rows([...chainRows(links, true), ""]);
  const mark = (isKept: boolean): string => (isKept ? style.green("✓") : style.red("✗ BROKEN:"));
  printer.rows(
    Object.entries(promises).map(([name, isKept]) => `${mark(isKept)} ${SENTENCES[name] ?? name}`),
  );
  printer.say("\nInspect the store:");
  printer.rows([
    `export HOLDFAST_STORE=${safeLine(store)}`,
    `./holdfast show ${CONVERSATION}      ./holdfast log ${CONVERSATION}`,
    `./holdfast chat ${CONVERSATION} --model sim      continue it`,
    "./holdfast ui --agent simulated    cause faults yourself, in the browser",
  ]);
}

/** The task from beginning to end, with its faults. */
async function playStory(options: StoryOptions): Promise<StoryResult> {
  let host = await HostProcess.start(options);
  const { printer, world, restMs } = options;
  const rest = (): Promise<void> => sleep(restMs);
  const scene = async (heading: string): Promise<void> => {
    await sleep(restMs * 2);
    printer.heading(heading);
    await rest();
  };
  const inject = (text: string, ...faults: readonly Fault[]): void => {
    world.script(...faults);
    printer.fault(text);
  };
  const say = async (text: string): Promise<SendResult> => {
    printer.you(text);
    await rest();
    return host.say(text);
  };
  const email = (to: Receiver): string => `email ${to} about ${EMAILS[to]}`;
  const remember = (name: keyof typeof FACTS): string => `remember ${name}=${FACTS[name]}`;
  const showOutbox = (to: Receiver): void => {
    const count = world.outbox.count(emailIdentity(to, EMAILS[to]));
    printer.notice(
      `In the outbox: ${count} ${count === 1 ? "email" : "emails"} to ${to} about ${EMAILS[to]}`,
    );
  };
  try {
    printer.say(
      `A small assistant plans a party while everything goes wrong. The agent is simulated: it knows only the messages sent to its own session. The host is a real process (${host.pid}) that uses Holdfast; the store is a real file. No key, no network.`,
    );
    await scene("A party is to be planned");
    await say(`${remember("guest")}; ${remember("venue")}`);
    await say(`${remember("cake")}; ${email("baker")}`);

    await scene("The agent hits its rate limit");
    const limit = { kind: "limit", phase: "start", resetMs: HOUR_MS } as const;
    inject("the next prompt is refused: out of quota for an hour", limit);
    const limited = await say(remember("budget"));
    await rest();
    printer.say("          … an hour later (on the agent's clock) …");
    await world.timeline.pass(HOUR_MS + SECOND_MS); // agents round up
    const after = await say("recall budget");
    const isSameUpstream = limited.upstream !== null && limited.upstream === after.upstream;
    if (isSameUpstream) printer.notice(`The same session went on: ${after.upstream}`);

    await scene("The agent answers nothing");
    inject("the next answer is empty, and the agent calls that a success", { kind: "empty" });
    await say("recall venue");

    await scene("The agent dies in the middle of sending an email");
    const crash = { kind: "crash", phase: "in_tool" } as const;
    inject("its process will die after the email left and before it could say so", crash);
    await say(email("band"));
    await say(email("band"));
    showOutbox("band");

    await scene("The host itself is killed: kill -9, for real");
    const { pid } = host;
    printer.fault(`process ${pid} gets SIGKILL while its agent sends an email`);
    printer.you(email("guests"));
    await rest();
    await host.dieDuring(email("guests"));
    const { signal } = host;
    printer.fault(`process ${pid} is gone (${signal})`);
    await rest();
    host = await HostProcess.start(options);
    printer.notice(`A new host, process ${host.pid}, opens the same store`);
    await say(email("guests"));
    showOutbox("guests");

    await scene("The session id rolls, three times in a row");
    inject("first the agent switches to a new session automatically", { kind: "roll", phase: "text" });
    await say(remember("music"));
    inject("then the session expires", { kind: "expire", phase: "start" });
    // Not behind the attempt that expires, but behind the one that takes its place.
    world.script({ kind: "restart", phase: "idle", skip: 1 });
    await say("recall guest");
    const lose = { kind: "lose", phase: "resume" } as const;
    inject("then its process is replaced without a word, and the transcript is lost", lose);
    await say("recall cake");

    await scene("Does it still know?");
    const names = Object.keys(FACTS);
    const { text } = await say(names.map((name) => `recall ${name}`).join("; "));
    const lines = text.split("\n");
    return {
      answers: Object.fromEntries(names.map((name, index) => [name, lines[index] ?? ""])),
      parkedAndResumed: limited.class === "limit" && isSameUpstream,
      killed: { pid, signal },
    };
  } finally {
    await host.stop();
  }
}
