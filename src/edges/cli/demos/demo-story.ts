import { setTimeout as sleep } from "node:timers/promises";
import type { SendResult } from "#upstream/finish-turn";
import { emailIdentity, type Fault } from "#testing/index";
import { HostProcess, type HostOptions } from "./host-process.ts";
import type { Printer } from "#edges/cli/terminal/printer";

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

/** What is told at the start and on the way, and asked back at the end. */
export const FACTS = { guest: "Ada", venue: "orchard", cake: "lemon", budget: "900", music: "jazz" } as const;

const EMAILS = { baker: "the lemon cake", band: "playing at eight", guests: "the invitation" } as const;
type Receiver = keyof typeof EMAILS;

export const IDENTITIES: readonly string[] = Object.entries(EMAILS).map(([to, about]) =>
  emailIdentity(to, about),
);

export interface StoryResult {
  /** The answers to the questions at the end, by fact. */
  readonly answers: Readonly<Record<string, string>>;
  /** The limited turn was parked, and its id carried the next one. */
  readonly parkedAndResumed: boolean;
  readonly killed: { readonly pid: number; readonly signal: string | null };
}

export interface StoryOptions extends HostOptions {
  readonly printer: Printer;
  /** How long people get between two things that happen. */
  readonly restMs: number;
}

/** A task from beginning to end, with everything that goes wrong on the way. */
export async function playStory(options: StoryOptions): Promise<StoryResult> {
  let host = await HostProcess.start(options);
  const { printer, world, restMs } = options;
  const rest = (): Promise<void> => sleep(restMs);
  const scene = async (heading: string): Promise<void> => {
    await sleep(restMs * 2);
    printer.heading(heading);
    await rest();
  };
  const strike = (text: string, ...faults: readonly Fault[]): void => {
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
      `A small assistant plans a party while everything goes wrong. The agent is simulated: it knows only what its own session was told. The host is a real process (${host.pid}) that uses Holdfast; the store is a real file. No key, no network.`,
    );
    await scene("A party is to be planned");
    await say(`${remember("guest")}; ${remember("venue")}`);
    await say(`${remember("cake")}; ${email("baker")}`);

    await scene("The agent hits its rate limit");
    const limit = { kind: "limit", phase: "start", resetMs: HOUR_MS } as const;
    strike("the next prompt is refused: out of quota for an hour", limit);
    const limited = await say(remember("budget"));
    await rest();
    printer.say("          … an hour later (on the agent's clock) …");
    await world.timeline.pass(HOUR_MS + SECOND_MS); // agents round up
    const after = await say("recall budget");
    const same = limited.upstream !== null && limited.upstream === after.upstream;
    if (same) printer.notice(`The same session went on: ${after.upstream}`);

    await scene("The agent answers nothing");
    strike("the next answer is empty, and the agent calls that a success", { kind: "empty" });
    await say("recall venue");

    await scene("The agent dies in the middle of sending an email");
    const crash = { kind: "crash", phase: "in_tool" } as const;
    strike("its process will die after the email left and before it could say so", crash);
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
    strike("first the agent switches to a new session by itself", { kind: "roll", phase: "text" });
    await say(remember("music"));
    strike("then the session expires", { kind: "expire", phase: "start" });
    // Not behind the attempt that expires, but behind the one that takes its place.
    world.script({ kind: "restart", phase: "idle", skip: 1 });
    await say("recall guest");
    const lose = { kind: "lose", phase: "resume" } as const;
    strike("then its process is replaced without a word, and the transcript is lost", lose);
    await say("recall cake");

    await scene("Does it still know?");
    const names = Object.keys(FACTS);
    const { text } = await say(names.map((name) => `recall ${name}`).join("; "));
    const lines = text.split("\n");
    return {
      answers: Object.fromEntries(names.map((name, at) => [name, lines[at] ?? ""])),
      parkedAndResumed: limited.class === "limit" && same,
      killed: { pid, signal },
    };
  } finally {
    await host.stop();
  }
}
