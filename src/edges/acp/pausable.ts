/** What a slow reader makes wait. */
export class Pausable {
  #paused: PromiseWithResolvers<void> | null = null;

  pause(paused: boolean): void {
    if (paused) this.#paused ??= Promise.withResolvers<void>();
    else {
      this.#paused?.resolve();
      this.#paused = null;
    }
  }

  /** Resolves when it goes on; null when nothing has to wait. */
  resumed(): Promise<void> | null {
    return this.#paused === null ? null : this.#paused.promise;
  }
}
