import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import type { Rig } from "../upstream/rig.ts";
import type { LoopHosts } from "./loop-hosts.ts";
import { visit } from "#testing/agent/simulated-upstream";
import type { Fact, ToldFacts } from "./told-facts.ts";

interface At {
  readonly name: string;
  readonly via: "main" | "other";
  /** By chance, the same for the same prompt. */
  readonly draw: (what: string) => number;
  /** The next prompt has been made. */
  readonly isOver: () => boolean;
  readonly blame: (what: string) => void;
}

const SOON_MS = 1_500; // while a prompt is being worked on, mostly

/** What a person does while a prompt is on its way. */
export class Meanwhile {
  readonly #rig: Rig;
  readonly #loops: LoopHosts;
  readonly #at: At;

  constructor(rig: Rig, loops: LoopHosts, at: At) {
    this.#rig = rig;
    this.#loops = loops;
    this.#at = at;
  }

  /** Another model or option, which may be written while the prompt is on its way. */
  async changeSettings(loop: boolean): Promise<void> {
    const { name, via, draw, blame } = this.#at;
    const which = Math.floor(draw("setting") * 100);
    const change: EntryBody =
      draw("model") < 0.5
        ? { type: "model_change", model: `model-${which}` }
        : { type: "config_change", config: { mode: `mode-${which}` } };
    const host = loop ? this.#loops.agentOf(via) : this.#rig.runtimeOf(via);
    const written = host.note(name, [change]).catch((error: unknown) => {
      if (!isLogError(error, "busy") && !isLogError(error, "disk_full"))
        blame(`the change failed: ${error instanceof Error ? (error.stack ?? "") : String(error)}`);
    });
    if (draw("waits") < 0.5) await written;
  }

  /** Goes on with the session in the agent's own program, behind everyone's back. */
  visit(sessions: readonly string[], facts: ToldFacts): void {
    const { world } = this.#rig;
    const session = sessions.findLast((one) => world.transcript(one) !== null);
    if (session === undefined) return;
    const fact = facts.tellElsewhere();
    visit(world, session, `remember ${fact.key}=${fact.value}`);
  }

  async cancel(): Promise<void> {
    const { name, via, draw, isOver } = this.#at;
    await this.#rig.world.timeline.sleep(draw("when") * SOON_MS);
    if (isOver()) return;
    this.#rig.runtimeOf(via).cancel(name);
    this.#loops.agentOf(via).cancel(name);
  }

  /** Words for a turn that may be running by then. */
  async steer({ key, value }: Fact, acknowledged: string[]): Promise<void> {
    const { name, via, draw, isOver, blame } = this.#at;
    await this.#rig.world.timeline.sleep(draw("when said") * SOON_MS);
    if (isOver()) return;
    try {
      await this.#loops.agentOf(via).steer(name, `remember ${key}=${value}`, { steer: `while ${key}` });
      acknowledged.push(`${key}=${value}`);
    } catch (error) {
      if (!isLogError(error, "disk_full")) blame(`the steer failed: ${String(error)}`);
    }
  }
}
