import { LogError } from "#log/errors";
import type { Host } from "#turn/host";
import type { AgentOptions, SendOptions } from "./options.ts";
import type { Upstream } from "./upstream.ts";

export type Upstreams = readonly [Upstream, ...Upstream[]];

/** The agent that is meant, and behind it those that may carry on where it is limited. */
export function upstreamsFor(
  all: Upstreams,
  request: AgentOptions & Pick<SendOptions, "whenLimited">,
): Upstreams {
  const { agent, account, whenLimited = "park" } = request;
  const chosen = all.find(
    (upstream) =>
      (agent ?? upstream.agent) === upstream.agent && (account ?? upstream.account) === upstream.account,
  );
  if (chosen === undefined)
    throw new LogError(
      "invalid_request",
      `Unknown agent "${agent ?? account}". Use one of ${all.map((upstream) => upstream.agent).join(", ")}.`,
    );
  return whenLimited === "park" ? [chosen] : [chosen, ...all.filter((upstream) => upstream !== chosen)];
}

// Whoever writes plain JavaScript hears of a missing part here, by its name, and not from the first verb that needs it.

function has(value: unknown, verb: string): boolean {
  return typeof (value as { readonly [name: string]: unknown } | null | undefined)?.[verb] === "function";
}

export function checkUpstreams(upstreams: unknown): void {
  const list: readonly unknown[] = Array.isArray(upstreams) ? upstreams : [];
  if (list.length === 0)
    throw new LogError("invalid_request", "options.upstreams must be an array of at least one Upstream");
  for (const [at, upstream] of list.entries()) checkUpstream(upstream, `options.upstreams[${at}]`);
}

export function checkUpstream(upstream: unknown, label: string): void {
  const missing = ["open", "resume"].filter((verb) => !has(upstream, verb));
  if (missing.length === 0) return;
  throw new LogError("invalid_request", `${label} must implement Upstream (missing: ${missing.join(", ")})`, {
    missing,
  });
}

/** One login at a time per agent, however many conversations need it; a person who cancels does not wait for it. */
export class Logins {
  readonly #answers = new Map<Upstream, Promise<boolean>>();

  async ask(
    upstream: Upstream,
    message: string,
    { host, cancelled }: { readonly host: Host; readonly cancelled: AbortSignal },
  ): Promise<boolean> {
    if (host.onAuth === undefined) return false;
    const login =
      this.#answers.get(upstream) ??
      host
        .onAuth(message)
        .catch(() => false) // whoever cannot answer has no login for us
        .finally(() => this.#answers.delete(upstream));
    this.#answers.set(upstream, login);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    cancelled.addEventListener("abort", () => resolve(false), { once: true });
    return Promise.race([login, promise]);
  }
}
