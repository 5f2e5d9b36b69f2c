import { setTimeout as sleep } from "node:timers/promises";
import type { PromptEvent, Upstream, UpstreamSession } from "#sending/upstream";
import type { SimWorld } from "#testing/index";

/** Real time for people to read, during which the agent's own time stands still. */
export async function pause(world: SimWorld, ms: number): Promise<void> {
  if (ms > 0) await world.timeline.freeze(sleep(ms));
}

/** The same agent, speaking at a pace that can be read. */
export function pacedUpstream(upstream: Upstream, world: SimWorld, paceMs: number): Upstream {
  if (paceMs === 0) return upstream;
  const paced = (session: UpstreamSession): UpstreamSession => ({
    id: session.id,
    shown: session.shown,
    get process() {
      return session.process;
    },
    prompt: (request) => slowly(session.prompt(request), world, paceMs),
    cancel: () => session.cancel(),
    close: () => session.close(),
  });
  return {
    ...upstream,
    open: async (settings) => paced(await upstream.open(settings)),
    resume: async (id, settings) => paced(await upstream.resume(id, settings)),
    fork: async (id, settings, keepTurns) => paced(await upstream.fork(id, settings, keepTurns)),
  };
}

async function* slowly(
  events: AsyncIterable<PromptEvent>,
  world: SimWorld,
  paceMs: number,
): AsyncGenerator<PromptEvent> {
  for await (const event of events) {
    await pause(world, event.type === "text" ? paceMs : paceMs * 4);
    yield event;
  }
}
