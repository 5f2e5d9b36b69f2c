import type { Entry } from "#log/entry";
import { LogJudge, type Witness } from "#testing/judge/log-judge";

/** What is known beside the log of a story. */
export interface StoryWitness extends Required<Witness> {
  /** Whose facts this conversation may hold. */
  readonly names: ReadonlySet<string>;
}

/** What must hold of a log, and of the facts people tell in a story besides. */
export class StoryRules extends LogJudge {
  readonly #names: ReadonlySet<string>;
  readonly #told = new Set<string>();

  constructor(witness: StoryWitness) {
    super(witness);
    this.#names = witness.names;
  }

  told(fact: string): boolean {
    return this.#told.has(fact);
  }

  override add(entry: Entry): void {
    super.add(entry);
    for (const [, name = ""] of entry.payload.matchAll(/\b(p\d+)[kv]\d+/g))
      if (!this.#names.has(name)) this.blame(`hears ${name}`);
    if (entry.type !== "message" || entry.message.role !== "user") return;
    for (const [, fact = ""] of (this.texts.get(entry.id) ?? "").matchAll(/remember (\S+)/g)) {
      if (this.#told.has(fact)) this.blame(`${fact} was told twice`);
      this.#told.add(fact);
    }
  }
}
