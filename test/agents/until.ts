const WITHIN_MS = 20_000;
const LOOK_AGAIN_MS = 50;

/** What files and processes come to is told by no event, so it is looked for, with a bound. */
export async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`Not within ${String(WITHIN_MS)} ms: ${what}`);
    await new Promise((next) => setTimeout(next, LOOK_AGAIN_MS));
  }
}
