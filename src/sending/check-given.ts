import { LogError } from "#log/errors";

// Whoever writes plain JavaScript hears of a missing part here, by its name, and not from the first verb that needs it.

function has(given: unknown, verb: string): boolean {
  return typeof (given as { readonly [name: string]: unknown } | null | undefined)?.[verb] === "function";
}

export function checkHoldfast(given: unknown): void {
  if (has(given, "conversation")) return;
  throw new LogError("invalid_request", "The first argument is what openHoldfast gave: a space of a store");
}

export function checkUpstreams(given: unknown): void {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  if (list.length === 0)
    throw new LogError(
      "invalid_request",
      "Say who answers: options.upstreams is a list of at least one upstream",
    );
  for (const [at, upstream] of list.entries()) checkUpstream(upstream, `options.upstreams[${at}]`);
}

export function checkUpstream(given: unknown, what: string): void {
  const missing = ["open", "resume"].filter((verb) => !has(given, verb));
  if (missing.length === 0) return;
  throw new LogError("invalid_request", `${what} is no upstream: it has no ${missing.join(", ")}`, {
    missing,
  });
}
