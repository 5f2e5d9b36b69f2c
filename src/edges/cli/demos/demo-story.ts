import { setTimeout as sleep } from "node:timers/promises";
import type { SendResult } from "#sending/turn";
import { emailIdentity, type Fault, type SimWorld } from "#testing/index";
import { HostProcess, type HostSetting } from "./host-process.ts";
import type { Stage } from "#edges/cli/chat/chat-printer";

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

/** What is told at the start and on the way, and asked back at the end. */
export const FACTS: Readonly<Record<string, string>> = {
  guest: "Ada",
  venue: "orchard",
  cake: "lemon",
  budget: "900",
  music: "jazz",
};

const EMAILS = {
  baker: { to: "baker", about: "the lemon cake" },
  band: { to: "band", about: "playing at eight" },
  guests: { to: "guests", about: "the invitation" },
} as const;

export const IDENTITIES: readonly string[] = Object.values(EMAILS).map(({ to, about }) =>
  emailIdentity(to, about),
);

export interface Told {
  /** The answers to the questions at the end, by fact. */
  readonly answers: Readonly<Record<string, string>>;
  /** The limited turn was parked, and its id carried the next one. */
  readonly parkedAndResumed: boolean;
  readonly killed: { readonly pid: number; readonly signal: string | null };
}

export interface Play extends HostSetting {
  readonly stage: Stage;
  readonly world: SimWorld;
  /** How long the audience gets between two acts. */
  readonly restMs: number;
}

/** A task from beginning to end, with everything that goes wrong on the way. */
export class Story {
  readonly #play: Play;
  #host: HostProcess;

  constructor(play: Play, host: HostProcess) {
    this.#play = play;
    this.#host = host;
  }

  async tell(): Promise<Told> {
    await this.#begin();
    const parkedAndResumed = await this.#limit();
    await this.#empty();
    await this.#crashInEmail();
    const killed = await this.#killHost();
    await this.#rolls();
    return { answers: await this.#askBack(), parkedAndResumed, killed };
  }

  async close(): Promise<void> {
    await this.#host.stop();
  }

  async #scene(heading: string): Promise<void> {
    await sleep(this.#play.restMs * 2);
    this.#play.stage.scene(heading);
    await sleep(this.#play.restMs);
  }

  #strike(text: string, ...faults: readonly Fault[]): void {
    this.#play.world.script(...faults);
    this.#play.stage.strike(text);
  }

  async #say(text: string): Promise<SendResult> {
    this.#play.stage.you(text);
    await sleep(this.#play.restMs);
    return this.#host.say(text);
  }

  async #begin(): Promise<void> {
    await this.#scene("A party is to be planned");
    await this.#say(`remember guest=${FACTS["guest"]}; remember venue=${FACTS["venue"]}`);
    await this.#say(`remember cake=${FACTS["cake"]}; ${emailText("baker")}`);
  }

  async #limit(): Promise<boolean> {
    const { stage, world } = this.#play;
    await this.#scene("The agent hits its rate limit");
    this.#strike("the next prompt is refused: out of quota for an hour", {
      kind: "limit",
      phase: "start",
      resetMs: HOUR_MS,
    });
    const limited = await this.#say(`remember budget=${FACTS["budget"]}`);
    await sleep(this.#play.restMs);
    stage.say("          … an hour later (on the agent's clock) …");
    await world.timeline.pass(HOUR_MS + SECOND_MS); // agents round up
    const after = await this.#say("recall budget");
    const same = limited.upstream !== null && limited.upstream === after.upstream;
    if (same) stage.notice(`The same session went on: ${after.upstream}`);
    return limited.class === "limit" && same;
  }

  async #empty(): Promise<void> {
    await this.#scene("The agent answers nothing");
    this.#strike("the next answer is empty, and the agent calls that a success", { kind: "empty" });
    await this.#say("recall venue");
  }

  async #crashInEmail(): Promise<void> {
    await this.#scene("The agent dies in the middle of sending an email");
    this.#strike("its process will die after the email left and before it could say so", {
      kind: "crash",
      phase: "in_tool",
    });
    await this.#say(emailText("band"));
    await this.#say(emailText("band"));
    this.#outbox("band");
  }

  async #killHost(): Promise<Told["killed"]> {
    const { stage } = this.#play;
    await this.#scene("The host itself is killed: kill -9, for real");
    const { pid } = this.#host;
    stage.strike(`process ${pid} gets SIGKILL while its agent sends an email`);
    const text = emailText("guests");
    stage.you(text);
    await sleep(this.#play.restMs);
    await this.#host.dieDuring(text);
    const { signal } = this.#host;
    stage.strike(`process ${pid} is gone (${signal})`);
    await sleep(this.#play.restMs);
    this.#host = await HostProcess.start(this.#play);
    stage.notice(`A new host, process ${this.#host.pid}, opens the same store`);
    await this.#say(text);
    this.#outbox("guests");
    return { pid, signal };
  }

  async #rolls(): Promise<void> {
    await this.#scene("The session id rolls, three times in a row");
    this.#strike("first the agent changes its id by itself", { kind: "roll", phase: "text" });
    await this.#say(`remember music=${FACTS["music"]}`);
    this.#strike("then the session expires", { kind: "expire", phase: "start" });
    // Not behind the attempt that expires, but behind the one that takes its place.
    this.#play.world.script({ kind: "restart", phase: "idle", skip: 1 });
    await this.#say("recall guest");
    this.#strike("then its process is replaced without a word, and the transcript is lost", {
      kind: "lose",
      phase: "resume",
    });
    await this.#say("recall cake");
  }

  async #askBack(): Promise<Told["answers"]> {
    await this.#scene("Does it still know?");
    const names = Object.keys(FACTS);
    const { text } = await this.#say(names.map((name) => `recall ${name}`).join("; "));
    const lines = text.split("\n");
    return Object.fromEntries(names.map((name, at) => [name, lines[at] ?? ""]));
  }

  #outbox(name: keyof typeof EMAILS): void {
    const { to, about } = EMAILS[name];
    const count = this.#play.world.outbox.count(emailIdentity(to, about));
    this.#play.stage.notice(
      `In the outbox: ${count} ${count === 1 ? "email" : "emails"} to ${to} about ${about}`,
    );
  }
}

function emailText(name: keyof typeof EMAILS): string {
  const { to, about } = EMAILS[name];
  return `email ${to} about ${about}`;
}
