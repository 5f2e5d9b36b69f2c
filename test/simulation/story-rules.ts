import { textOfBlocks } from "#log/message";
import type { Entry } from "#log/entry";
import type { TurnResult } from "#turn/host";
import { LogJudge, type Witness } from "#testing/judge/log-judge";

/** One name for an account of an agent. */
export function accountName(agent: string, account: string | null): string {
  return `${agent}/${account ?? ""}`;
}

/** What is known beside the log of a story. */
export interface StoryWitness extends Required<Witness> {
  /** Whose facts this conversation may hold. */
  readonly names: ReadonlySet<string>;
  /** Whether this session said anything to its last prompt. */
  spoke(session: string): boolean;
}

export interface AcceptedPrompt {
  readonly id: string;
  readonly text: string;
}

/** What must hold of a log, and of the facts people tell in a story besides. */
export class StoryRules extends LogJudge {
  readonly #names: ReadonlySet<string>;
  readonly #told = new Set<string>();
  /** By turn: what its last message says. */
  readonly #lastAnswers = new Map<string, string>();
  /** By session: the account it belongs to. */
  readonly #accounts = new Map<string, string>();
  /** By account: the facts that prompts to its sessions told. */
  readonly #saidTo = new Map<string, Set<string>>();

  constructor(witness: StoryWitness) {
    super(witness);
    this.#names = witness.names;
  }

  told(fact: string): boolean {
    return this.#told.has(fact);
  }

  /** What the prompts to sessions of an account told, here. */
  saidTo(account: string): ReadonlySet<string> {
    return this.#saidTo.get(account) ?? new Set();
  }

  /** Whose facts stand in a text and do not belong there. */
  strangersIn(text: string): readonly string[] {
    const names = [...text.matchAll(/\b(p\d+)[kv]\d+/g)].map(([, name = ""]) => name);
    return names.filter((name) => !this.#names.has(name));
  }

  override add(entry: Entry): void {
    super.add(entry);
    for (const name of this.strangersIn(entry.payload)) this.blame(`hears ${name}`);
    this.#addSession(entry);
    if (entry.type !== "message") return;
    if (entry.message.role === "assistant" && this.openTurn !== null)
      this.#lastAnswers.set(this.openTurn, textOfBlocks(entry.message.content));
    if (entry.message.role !== "user") return;
    for (const fact of factsIn(this.texts.get(entry.id) ?? "")) {
      if (this.#told.has(fact)) this.blame(`${fact} was told twice`);
      this.#told.add(fact);
    }
  }

  #addSession(entry: Entry): void {
    if (entry.type === "upstream_link")
      this.#accounts.set(entry.upstream, accountName(entry.agent, entry.account ?? null));
    if (entry.type !== "attempt" || entry.upstream === undefined) return;
    const account = this.#accounts.get(entry.upstream) ?? "";
    const said = this.#saidTo.get(account) ?? new Set();
    this.#saidTo.set(account, said);
    for (const fact of factsIn(this.texts.get(this.prompts.at(-1) ?? "") ?? "")) said.add(fact);
  }

  /** What is wrong with the prompts of a log, by what the host said of them and what became of the last. */
  promptFaults(
    accepted: readonly AcceptedPrompt[],
    sent: number,
    result: (Pick<TurnResult, "turn" | "text"> & { readonly steps?: number }) | null,
  ): readonly string[] {
    const { prompts, texts, replies, openTurn } = this;
    const faults: string[] = [];
    if (prompts.length > sent) faults.push(`${prompts.length} turns for ${sent} prompts`);
    let at = 0;
    for (const { id, text } of accepted) {
      const found = prompts.indexOf(id, at);
      if (found === -1) faults.push(`${id} was accepted and is not in the log, or not in its place`);
      if (texts.get(id) !== text) faults.push(`${id} is "${texts.get(id)}", not "${text}"`);
      at = found + 1;
    }
    if (result === null) return faults;
    if (openTurn !== null) faults.push(`${openTurn} is open though its send has returned`);
    // A loop has said something before its tools ran, too.
    const kept = (result.steps === undefined ? replies : this.#lastAnswers).get(result.turn) ?? "";
    if (kept !== result.text) faults.push(`answered "${result.text}", kept "${kept}"`);
    return faults;
  }
}

/** The facts that a text tells, as `key=value`. */
export function factsIn(text: string): readonly string[] {
  return [...text.matchAll(/remember (\S+)/g)].map(([, fact = ""]) => fact);
}
