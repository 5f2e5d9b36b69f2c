import type { Holdfast } from "#conversation/holdfast";
import { readSettings } from "#conversation/reading";
import type { Runtime } from "#sending/runtime";
import { decodeEntry } from "#log/codec";
import { withoutCwd } from "#log/projections/settings";
import type { EntryBody } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { AgentLine } from "#edges/acp/agent/host-port";
import { isModel } from "#edges/acp/agent/meaning/options";

import type { Notice } from "./notices.ts";
import type { OtherTurns } from "./other-turns.ts";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

type Fields = { readonly [name: string]: Json };

/** What the bridge keeps about one conversation while the host has it open. The log can make it again. */
export class Desk {
  readonly id: ConversationId;
  /** What the host gave with the session, as the text of an object; null when this host has not opened it. */
  params: string | null = null;
  title: string | null;
  /** Lines that wait until the host knows the conversation. */
  gate: AgentLine[] | null = null;
  /** The prompts the host has sent, one after the other. */
  line: Promise<void> = Promise.resolve();
  /** Sessions are got ready one after the other, too. */
  connecting: Promise<void> = Promise.resolve();
  /** The last prompt was kept back because its agent is parked; the next one is sent all the same. */
  insists: boolean = false;
  /** What a person is to be told of an agent that is parked, once it is known that no other goes on. */
  parked: Notice | null = null;
  /** Counts cancels: a prompt that was queued before one does not run. */
  cancels: number = 0;
  /** The turn that runs is being cancelled: whoever it asks for leave is not asked any more. */
  stopping: boolean = false;
  /** Shows what others do in it, once the host has it open. */
  others: OtherTurns | null = null;
  /** The options as the session had them when it was opened. */
  #initial: ReadonlyMap<Json, Json> = new Map();
  #config: Fields;
  /** The config as the log has it. */
  #written: Fields;
  #writing: Promise<void> = Promise.resolve();
  readonly #runtime: Runtime;

  constructor(
    id: ConversationId,
    known: { readonly config: Fields; readonly title: string | null },
    runtime: Runtime,
  ) {
    this.id = id;
    this.title = known.title;
    this.#config = known.config;
    this.#written = known.config;
    this.#runtime = runtime;
  }

  static async open(holdfast: Holdfast, id: ConversationId, runtime: Runtime): Promise<Desk> {
    const { leaf } = await holdfast.space.head(id);
    const { config } = await readSettings(holdfast.space, id, leaf);
    const { title } = await lastTitle(holdfast, id);
    return new Desk(id, { config, title }, runtime);
  }

  /** Takes a title that no person gave; one that a person gave stays. */
  async entitle(holdfast: Holdfast, title: string): Promise<void> {
    const { title: now, given } = await lastTitle(holdfast, this.id);
    this.title = given ? now : title;
    if (given || now === title) return;
    const body = JSON.stringify({ type: "title", title, by: "agent" });
    await (await holdfast.conversation(this.id)).appendOutside(body);
  }

  get config(): Fields {
    return this.#config;
  }

  /** The agent that carries the conversation, where one was chosen. */
  get agent(): string | null {
    const { agent } = this.#config;
    return typeof agent === "string" ? agent : null;
  }

  /** Remembers how the options stand in a new session, so that later changes can be told from them. */
  started(options: Json): void {
    this.#initial = new Map(
      listIn(options).map((option) => [option["id"] ?? null, option["currentValue"] ?? null]),
    );
  }

  /** The config with these values is what holds from now on; what is written already is not written again. */
  change(values: Fields, more: readonly EntryBody[] = []): Promise<void> {
    this.#config = { ...this.#config, ...values };
    const write = async (): Promise<void> => {
      const config = this.#config;
      const isNew = JSON.stringify(config) !== JSON.stringify(this.#written);
      const bodies: readonly EntryBody[] = isNew ? [{ type: "config_change", config }, ...more] : more;
      if (bodies.length === 0) return;
      // A turn that began meanwhile has taken the conversation over; it takes this along.
      const note = (): Promise<void> => this.#runtime.note(this.id, bodies);
      await note().catch(note);
      this.#written = config;
    };
    // One after the other: two that write at once take the conversation from each other, and one of them is lost.
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** The conversation is worked on in another directory from now on. */
  moveTo(cwd: string): Promise<void> {
    this.#config = withoutCwd(this.#config);
    return this.change({}, [{ type: "cwd", cwd }]);
  }

  /** Keeps what was chosen for an agent. */
  async choose(agent: string, choices: Fields, model: string | null): Promise<void> {
    const all = fieldsOf(this.#config["agents"]);
    const known = fieldsOf(all[agent]);
    const options = { ...fieldsOf(known["options"]), ...fieldsOf(choices["options"]) };
    const merged = { ...known, ...choices, ...(Object.keys(options).length === 0 ? {} : { options }) };
    const more: readonly EntryBody[] =
      model === null ? [] : [{ type: "model_change", model, provider: agent }];
    await this.change({ agents: { ...all, [agent]: merged } }, more);
  }

  /** What a session says of its options now, as far as it differs from how it began. */
  changed(options: Json): { readonly options: Fields; readonly model: string | null } {
    const differ = listIn(options).filter(
      (option) =>
        option["currentValue"] !== undefined &&
        this.#initial.get(option["id"] ?? null) !== option["currentValue"],
    );
    const values = differ.map((option) => [wordsIn(option["id"]), option["currentValue"] ?? null] as const);
    const model = differ.find((option) => isModel(option))?.["currentValue"];
    return { options: Object.fromEntries(values), model: typeof model === "string" ? model : null };
  }
}

/** What the conversation is called, and whether a person called it that. */
async function lastTitle(
  holdfast: Holdfast,
  conversation: ConversationId,
): Promise<{ readonly title: string | null; readonly given: boolean }> {
  const [stored] = await holdfast.space.read({ conversation, limit: 1, newestFirst: true, types: ["title"] });
  const entry = stored === undefined ? null : decodeEntry(stored);
  if (entry?.type !== "title") return { title: null, given: false };
  return { title: entry.title, given: !("by" in entry) };
}
