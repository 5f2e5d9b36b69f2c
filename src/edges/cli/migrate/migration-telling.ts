import { type Call, jsonLine, remark } from "#edges/cli/command";
import { counted } from "#edges/cli/terminal/count";
import { safeLine } from "#edges/cli/terminal/terminal";
import type { Json } from "#log/json/json-text";
import type {
  MigrateOutcome,
  MigrateResult,
  MigrationDifference,
  VerifyResult,
} from "#transfer/migrate/migrate-result";

const SIDE_CHARS = 400;
const DIFFERENCES_SHOWN = 20;

/** Says what becomes of each conversation in the order in which it is known. */
export class MigrationTelling {
  readonly #call: Call;
  readonly #source: string;
  #told: Promise<void> = Promise.resolve();
  #differences: number = 0;

  constructor(call: Call, source: string) {
    this.#call = call;
    this.#source = safeLine(source);
  }

  readonly conversation = ({ state: type, ...outcome }: MigrateOutcome): void => {
    if (this.#call.json) this.#write(jsonLine({ type, ...outcome }));
    else if ("message" in outcome) this.#remark(`${outcome.source}: ${outcome.message}`);
  };

  readonly caughtUp = (): void => {
    if (!this.#call.json) this.#remark("Brought all there is; Ctrl-C stops following it");
  };

  readonly difference = (difference: MigrationDifference): void => {
    if (this.#call.json) return this.#write(jsonLine({ type: "difference", ...difference }));
    if (++this.#differences > DIFFERENCES_SHOWN) return;
    const { source, place, number, there, here } = difference;
    const { one, other } = fromDifference(textOf(there), here === null ? "nothing" : textOf(here));
    this.#remark(`${source}, message ${number} is not the same (${place})`);
    this.#remark(`there: ${one}`);
    this.#remark(`here: ${other}`);
  };

  async brought({ left, ...result }: MigrateResult, dryRun: boolean): Promise<void> {
    if (this.#call.json)
      this.#write(jsonLine({ type: "end", ...result, left: left.length, ...(dryRun ? { dryRun } : {}) }));
    else {
      const { messages, brought, conversations, system } = result;
      const all = counted(conversations, "conversation");
      const within = brought === conversations ? all : `${brought} of ${all}`;
      const verb = dryRun ? "Would bring" : "Brought";
      const what =
        messages === 0 ? `Nothing new in ${all}` : `${verb} ${counted(messages, "message")} in ${within}`;
      this.#end(`${what} of ${this.#source}`, system, left.length);
    }
    await this.#told;
  }

  async verified({ differences, left, ...result }: VerifyResult): Promise<void> {
    const counts = { differences: differences.length, left: left.length };
    if (this.#call.json) this.#write(jsonLine({ type: "end", ...result, ...counts }));
    else {
      const { same, ahead, conversations, system } = result;
      const more = ahead === 0 ? "" : `; ${counted(ahead, "message")} more here, behind them`;
      const hidden = differences.length - DIFFERENCES_SHOWN;
      if (hidden > 0) this.#remark(`and ${hidden} more; --json lists them all`);
      const text =
        differences.length === 0
          ? `All ${counted(same, "message")} in ${counted(conversations, "conversation")} of ${this.#source} are the same here`
          : `${counted(differences.length, "conversation")} of ${conversations} not the same as in ${this.#source}`;
      this.#end(`${text}${more}`, system, left.length);
    }
    await this.#told;
  }

  #end(text: string, system: number, left: number): void {
    const told =
      system === 0 ? "" : `; ${counted(system, "system message")} not brought, which no conversation has`;
    const leftOut = left === 0 ? "" : `; ${counted(left, "conversation")} left out`;
    this.#write(`${text}${told}${leftOut}\n`);
  }

  #remark(text: string): void {
    this.#told = this.#told.then(() => remark(this.#call, safeLine(text)));
  }

  #write(text: string): void {
    this.#told = this.#told.then(() => this.#call.io.out.write(text));
  }
}

function textOf(value: Json): string {
  return JSON.stringify(value);
}

/** Both sides from shortly before where they part, so that it is seen in long messages, too. */
function fromDifference(one: string, other: string): { readonly one: string; readonly other: string } {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const start = at < SIDE_CHARS / 2 ? 0 : at - SIDE_CHARS / 4;
  const cut = (text: string): string =>
    `${start > 0 ? "…" : ""}${text.slice(start, start + SIDE_CHARS)}${text.length > start + SIDE_CHARS ? "…" : ""}`;
  return { one: cut(one), other: cut(other) };
}
