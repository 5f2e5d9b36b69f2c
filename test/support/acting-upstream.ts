import type { PromptEvent, PromptRequest, RawEnd, Upstream, UpstreamSession } from "#upstream/upstream";
import { COMMON_ENDINGS } from "#vendors/shared-endings";

type Work = (request: PromptRequest) => AsyncIterable<PromptEvent>;

/** An agent that lives in this very process: `work` is its turn, and ends by itself once it returns. */
export function actingUpstream(work: Work, more: Partial<UpstreamSession> = {}): Upstream {
  let sessions = 0;
  const session = (id: string): UpstreamSession => ({
    id,
    transcript: null,
    process: "this one",
    prompt: (request) => withEnd(work(request)),
    cancel: async () => undefined,
    close: async () => undefined,
    ...more,
  });
  return {
    agent: "inside",
    account: null,
    capabilities: { resume: true, fork: "none", trustedResume: true },
    open: async () => session(`inside-${++sessions}`),
    resume: async (id) => session(id),
    fork: async () => session(`inside-${++sessions}`),
    restart: async () => undefined,
    endings: COMMON_ENDINGS,
  };
}

async function* withEnd(events: AsyncIterable<PromptEvent>): AsyncGenerator<PromptEvent> {
  yield* events;
  const end: RawEnd = { stopReason: "end_turn", error: null, exited: false, durationMs: 1_000, usage: null };
  yield { type: "end", end };
}

export const EMAIL = { type: "tool", call: "call_0", name: "send_email", input: { to: "bob" } } as const;

/** One email: told of, sent, told of again. */
export function emailing(send: () => unknown): Work {
  return async function* () {
    yield { ...EMAIL, state: "started" };
    await send();
    yield { ...EMAIL, state: "done", output: "sent" };
    yield { type: "text", text: "It is sent." };
  };
}
