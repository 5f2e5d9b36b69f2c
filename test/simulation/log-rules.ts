import type { Entry } from "#log/entry";

const ATTEMPTS_MAX = 9; // overloads, a login, a recovery and the switches between agents, all in one turn
const GLITCHES: ReadonlySet<string> = new Set(["limit", "credit", "overloaded", "auth"]);
const PREAMBLE = "restored from its log";

interface Turn {
  readonly id: string;
  tool: boolean;
  attempts: number;
}

/** What is known beside the log. */
export interface Beside {
  /** Whose facts this conversation may hold. */
  readonly names: ReadonlySet<string>;
  /** How often an agent was asked for this session. */
  touches(session: string): number;
  /** Whether this agent can take up a session again at all. */
  resumes(agent: string): boolean;
  /** Says whose session this is; false when it is somebody else's. */
  claim(session: string): boolean;
}

/** What must hold of a log, whatever happened; it is given every entry once, as it comes. */
export class LogRules {
  readonly #beside: Beside;
  readonly #broken: string[] = [];
  readonly #ids = new Set<string>();
  readonly #agents = new Map<string, string>();
  readonly #tells = new Set<string>();
  readonly #steers = new Set<string>();
  /** By agent: the session that was limited, and how often it had been asked for by then. */
  readonly #limited = new Map<string, { readonly session: string; readonly touches: number }>();
  #seq: number = 0;
  #open: Turn | null = null;
  /** The prompts of all turns, in order. */
  readonly prompts: string[] = [];
  readonly texts: Map<string, string> = new Map();
  #turnText: { turn: string; text: string } = { turn: "", text: "" };
  readonly replies: Map<string, string> = new Map();

  constructor(beside: Beside) {
    this.#beside = beside;
  }

  get seq(): number {
    return this.#seq;
  }

  get openTurn(): string | null {
    return this.#open?.id ?? null;
  }

  /** Every upstream id of the chain. */
  get sessions(): readonly string[] {
    return [...this.#agents.keys()];
  }

  told(fact: string): boolean {
    return this.#tells.has(fact);
  }

  /** What was found since the last look. */
  broken(): readonly string[] {
    return this.#broken.splice(0);
  }

  take(entry: Entry): void {
    if (entry.seq !== this.#seq + 1) this.#broken.push(`seq ${entry.seq} follows ${this.#seq}`);
    this.#seq = entry.seq;
    if (this.#ids.has(entry.id)) this.#broken.push(`${entry.id} is there twice`);
    this.#ids.add(entry.id);
    this.#takeWords(entry);
    switch (entry.type) {
      case "message":
        this.#takeMessage(entry);
        break;
      case "turn_start":
        if (this.#open !== null) this.#broken.push(`${entry.turn} began while ${this.#open.id} was open`);
        this.#open = { id: entry.turn, tool: false, attempts: 0 };
        this.prompts.push(entry.prompt ?? "");
        this.#turnText = { turn: entry.turn, text: "" };
        break;
      case "turn_end":
        this.#endTurn(entry);
        break;
      case "attempt":
        this.#takeAttempt(entry);
        break;
      case "tool_intent":
        if (this.#open !== null) this.#open.tool = true;
        break;
      case "upstream_link":
        this.#takeLink(entry);
        break;
      case "upstream_end":
        if (GLITCHES.has(entry.reason))
          this.#broken.push(`${entry.upstream} was given up for a mere ${entry.reason}`);
        break;
      case "reset":
      case "leaf":
      case "hide":
        this.#limited.clear();
        break;
      case "steer":
        if (entry.state === "delivered" && this.#steers.has(entry.steer))
          this.#broken.push(`steer ${entry.steer} was delivered twice`);
        if (entry.state === "delivered") this.#steers.add(entry.steer);
        break;
      default:
        break;
    }
  }

  #takeWords(entry: Entry): void {
    if (entry.payload.includes(PREAMBLE)) this.#broken.push("a preamble is in the log");
    for (const [, name = ""] of entry.payload.matchAll(/\b(p\d+)[kv]\d+/g))
      if (!this.#beside.names.has(name)) this.#broken.push(`hears ${name}`);
  }

  #takeMessage(entry: Extract<Entry, { type: "message" }>): void {
    const text = entry.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (entry.message.role === "assistant") this.#turnText.text += text;
    if (entry.message.role !== "user") return;
    this.texts.set(entry.id, text);
    for (const [, fact = ""] of text.matchAll(/remember (\S+)/g)) {
      if (this.#tells.has(fact)) this.#broken.push(`${fact} was told twice`);
      this.#tells.add(fact);
    }
  }

  #takeAttempt(entry: Extract<Entry, { type: "attempt" }>): void {
    if (!this.#agents.has(entry.upstream ?? ""))
      this.#broken.push(`${entry.upstream} was used before it was linked`);
    const turn = this.#open;
    if (turn?.id !== entry.turn) {
      this.#broken.push(`an attempt of ${entry.turn}, which is not open`);
      return;
    }
    if (turn.tool) this.#broken.push(`${entry.turn} was sent again after a tool ran`);
    if (++turn.attempts > ATTEMPTS_MAX) this.#broken.push(`${entry.turn} was sent ${turn.attempts} times`);
  }

  #takeLink(entry: Extract<Entry, { type: "upstream_link" }>): void {
    const { upstream, agent, account = "", reason } = entry;
    const place = `${agent}/${account}`;
    if (!this.#beside.claim(upstream))
      this.#broken.push(`${upstream} belongs to another conversation as well`);
    if (GLITCHES.has(reason)) this.#broken.push(`a new chain after a mere ${reason}`);
    const limited = this.#limited.get(place);
    const asked = limited === undefined || this.#beside.touches(limited.session) > limited.touches;
    if (limited !== undefined && upstream !== limited.session && !asked)
      this.#broken.push(`${limited.session} was limited and then left without being asked again`);
    this.#limited.delete(place);
    this.#agents.set(upstream, place);
  }

  #endTurn(entry: Extract<Entry, { type: "turn_end" }>): void {
    if (this.#open?.id !== entry.turn) this.#broken.push(`${entry.turn} ended, but was not open`);
    this.#open = null;
    this.replies.set(entry.turn, this.#turnText.text);
    const place = this.#agents.get(entry.upstream ?? "");
    if (place === undefined || entry.upstream === undefined) return;
    this.#limited.delete(place);
    if ((entry.class === "limit" || entry.class === "credit") && this.#beside.resumes(place))
      this.#limited.set(place, {
        session: entry.upstream,
        touches: this.#beside.touches(entry.upstream),
      });
  }
}
