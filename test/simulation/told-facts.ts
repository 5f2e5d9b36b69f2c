import type { Conversation } from "#conversation/conversation";
import type { Carried } from "./heard.ts";
import { PRIOR_BUDGET, SMALLER_BUDGET } from "#upstream/rules/prior-budget";
import { recallOf } from "#testing/index";

export interface Fact {
  readonly key: string;
  readonly value: string;
}

/** What one person has told, and what an agent must and must not know of it. */
export class ToldFacts {
  readonly all: Fact[] = [];
  readonly #name: string;
  /** Facts that were told in the agent's own program: they are in the log once they were found. */
  readonly #elsewhere = new Set<Fact>();
  /** How many texts back an agent must know. */
  #window: number = PRIOR_BUDGET.messages;

  constructor(name: string, source: ToldFacts | null) {
    this.#name = name;
    if (source === null) return;
    this.all.push(...source.all);
    for (const fact of source.#elsewhere) this.#elsewhere.add(fact);
    this.#window = source.#window;
  }

  tell(): Fact {
    const at = this.all.length + 1;
    const fact: Fact = { key: `${this.#name}k${at}`, value: `${this.#name}v${at}` };
    this.all.push(fact);
    return fact;
  }

  tellElsewhere(): Fact {
    const fact = this.tell();
    this.#elsewhere.add(fact);
    return fact;
  }

  /** An agent said that it was told too much; it may be asked again, so this stays. */
  tellsLess(): void {
    this.#window = SMALLER_BUDGET.messages;
  }

  /** Hides a fact, in every message it stands in. */
  async hideOne(conversation: Conversation): Promise<void> {
    const secret = this.all.at(-2);
    if (secret === undefined) return;
    for (const node of await conversation.branch())
      if (node.payload.includes(`${secret.key}=`)) await conversation.hide(node.id);
  }

  /** What is wrong with an answer to the question for a fact. */
  async recallFaults(
    conversation: Conversation,
    fact: Fact,
    { prompt, text }: Carried,
  ): Promise<readonly string[]> {
    const branch = await conversation.branch({ at: prompt });
    // A host that was killed meanwhile told nobody that it had to say less.
    const ends = await conversation.facts(["upstream_end"]);
    if (ends.some((end) => end.type === "upstream_end" && end.reason === "too_long")) this.tellsLess();
    const position = recallOf(branch, { fact: `${fact.key}=${fact.value}`, window: this.#window });
    const knows = text.split("\n").includes(fact.value);
    if (position === "known" && !knows) return [`${fact.key} was answered "${text}"`];
    // What was told elsewhere and never found is known to the agent alone.
    const found = !this.#elsewhere.has(fact) || (await isInLog(conversation, fact));
    const leaked = position === "gone" && knows && found;
    return leaked ? [`${fact.key} should not have reached the agent`] : [];
  }
}

async function isInLog(conversation: Conversation, fact: Fact): Promise<boolean> {
  const messages = await conversation.facts(["message"]);
  return messages.some((entry) => entry.payload.includes(`${fact.key}=${fact.value}`));
}
