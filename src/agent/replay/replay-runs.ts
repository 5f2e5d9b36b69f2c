import type { Conversation } from "#conversation/conversation";
import type { Bodies, EntryBody, EntryOf } from "#log/entry";
import type { ReplaySource, SourcePrompt } from "./replay-source.ts";

/** What a run of a replay is triggered by: lists and totals tell it by that. */
export const REPLAY_TRIGGER = "replay";

type RunStart = EntryOf<"run_start">;

/** What the starts of a replay's runs say beside what those of the original said. */
interface RunsRecord {
  readonly model: string;
  readonly tools: readonly string[];
  readonly patchSystem: string | undefined;
  readonly newId: () => string;
}

/**
 * The runs of one replay, in its fork: one for all prompts, but that runs with seeds of their own have one each, since a
 * request of those is made otherwise.
 */
export class ReplayRuns {
  /** In the order in which they were begun. */
  readonly ids: string[] = [];
  readonly #fork: Conversation;
  readonly #source: ReplaySource;
  readonly #recorded: RunsRecord;
  /** By the original's run; "" for those without seeds. */
  readonly #runs = new Map<string, string>();
  #current: { readonly of: string; readonly run: string } | null = null;

  constructor(fork: Conversation, source: ReplaySource, recorded: RunsRecord) {
    this.#fork = fork;
    this.#source = source;
    this.#recorded = recorded;
  }

  /** The run that a prompt goes out in; it is begun where it is another than that of the prompt before. */
  async of({ run: of }: SourcePrompt): Promise<string> {
    const name = of?.run ?? "";
    if (this.#current?.of === name) return this.#current.run;
    const run = this.#recorded.newId();
    const seed = of?.seed === undefined ? null : await this.#seed(run, of.seed);
    await this.#fork.append([...(seed?.bodies ?? []), this.#start(run, of, seed)]);
    this.#runs.set(name, run);
    this.ids.push(run);
    this.#current = { of: name, run };
    return run;
  }

  /** Seeds that are kept are shared. Others are said again, as they were. */
  async #seed(
    run: string,
    id: string,
  ): Promise<{ readonly id: string; readonly bodies: readonly EntryBody[] } | null> {
    if (!this.#source.nodes.some((node) => node.id === id)) return { id, bodies: [] };
    const { conversation } = this.#source;
    const entry = await conversation.entry(id);
    if (entry.type !== "seed") return null;
    const own = this.#recorded.newId();
    return { id: own, bodies: [{ type: "seed", id: own, run, messages: entry.messages }] };
  }

  #start(run: string, of: RunStart | null, seed: { readonly id: string } | null): EntryBody {
    const { conversation, end, run: replayed } = this.#source;
    const { model, tools, patchSystem } = this.#recorded;
    const patch = { ...of?.promptPatch, ...(patchSystem === undefined ? {} : { system: patchSystem }) };
    return {
      type: "run_start",
      run,
      trigger: REPLAY_TRIGGER,
      triggerId: replayed?.run ?? of?.run ?? `${conversation.id}@${end}`,
      model,
      ...toolsOf(of, tools),
      ...(of?.policy === undefined ? {} : { policy: of.policy }),
      ...(seed === null ? {} : { seed: seed.id, seedCount: of?.seedCount ?? 0, ...this.#continued(of) }),
      ...(Object.keys(patch).length === 0 ? {} : { promptPatch: patch }),
    };
  }

  /** The first run continues the original run; later runs continue replayed ones. */
  #continued(of: RunStart | null): Pick<Bodies["run_start"], "continues"> {
    if (of === null) return {};
    if (this.#runs.size === 0) return { continues: of.run };
    const { continues } = of;
    return continues === undefined ? {} : { continues: this.#runs.get(continues) ?? continues };
  }
}

function toolsOf(
  of: RunStart | null,
  here: readonly string[],
): Pick<Bodies["run_start"], "tools" | "toolsOnly"> {
  if (of?.toolsOnly !== true || of.tools === undefined) return { tools: here };
  return { tools: of.tools, toolsOnly: true };
}
