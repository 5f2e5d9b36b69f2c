import type { PromptEvent, Upstream, UpstreamSession } from "../src/upstream/upstream.ts";

/** An agent in this process that gives the same stream to every prompt, in a new session each time. */
export function benchUpstream(prompt: () => AsyncIterable<PromptEvent>): Upstream {
  let opened = 0;
  const open = async (): Promise<UpstreamSession> => ({
    id: `up-${process.pid}-${++opened}`,
    transcript: null,
    process: "one",
    prompt,
    cancel: async () => undefined,
    close: async () => undefined,
  });
  return {
    agent: "claude",
    account: null,
    capabilities: { resume: false, fork: "none", trustedResume: false },
    open,
    resume: open,
    fork: open,
    restart: async () => undefined,
  };
}
