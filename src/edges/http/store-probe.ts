import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { HttpAnswer, HttpRequest } from "./exchange.ts";

/** How long whoever asks for the state of a server waits at most. */
export const HEALTH_MS = 2_000;
const KNOWN_MS = 1_000; // whoever asks more often is told the same

/** Asks the store whether it answers, one question at a time: a store that is silent is not asked again and again. */
export class StoreProbe {
  readonly #holdfast: Holdfast;
  #asking: Promise<unknown> | null = null;
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(holdfast: Holdfast) {
    this.#holdfast = holdfast;
  }

  /** Throws when the store fails, or does not answer within two seconds. */
  async check(): Promise<void> {
    if (performance.now() - this.#answeredAtMs < KNOWN_MS) return;
    this.#asking ??= this.#ask().finally(() => void (this.#asking = null));
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new LogError("store_gone", `The store does not respond within ${HEALTH_MS} ms`)),
      HEALTH_MS,
    );
    await Promise.race([this.#asking, late.promise]).finally(() => clearTimeout(timer));
  }

  async #ask(): Promise<void> {
    await this.#holdfast.listPage({ limit: 1 });
    this.#answeredAtMs = performance.now();
  }

  /** For what restarts a server or sends it requests: asked without a token and by any name, answered with a status alone. */
  async answer({ method, url }: HttpRequest, isDraining: boolean): Promise<HttpAnswer | null> {
    const { pathname } = url;
    if (method !== "GET" || (pathname !== "/livez" && pathname !== "/readyz")) return null;
    const isReady = pathname === "/livez" || (!isDraining && (await this.#isAnswering()));
    return {
      status: isReady ? 200 : 503,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: isReady ? "ok\n" : "not ready\n",
    };
  }

  #isAnswering(): Promise<boolean> {
    return this.check().then(
      () => true,
      () => false,
    );
  }
}
