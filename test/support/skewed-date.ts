/** Sets the date of this process wrong by so many milliseconds; steady clocks stay as they are. */
export function skewDate(byMs: number): void {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + byMs] : given) as [number]));
    }
    static override now(): number {
      return RealDate.now() + byMs;
    }
  } as DateConstructor;
}
