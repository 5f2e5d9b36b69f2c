import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const DEPTH_MAX = 3;
const MEMBERS_MAX = 5;
const NAMES = ["_meta", "codex", "claudeCode", "type", "kind", "error", "message", "content", "status", ""];
const VALUES: readonly Json[] = [null, true, false, 0, -1, 0.5, 1e308, "", "x", "error", "\0", "\ud800"];

/** Objects as a peer might send them, whatever it means by them: made by chance, and the same ones every time. */
export class OddValues {
  #state: number = 1;
  readonly #names: readonly string[];
  readonly #values: readonly Json[];

  /** What the examples hold is mixed in: a reader looks closer at what it knows. */
  constructor(examples: readonly Json[] = []) {
    const members = membersOf(examples);
    this.#names = [...NAMES, ...members.map(({ name }) => name)];
    this.#values = [...VALUES, ...members.map(({ value }) => value)];
  }

  fields(depth: number = DEPTH_MAX): Fields {
    const members = Array.from({ length: this.#below(MEMBERS_MAX) }, () => [
      this.#oneOf(this.#names),
      this.#value(depth),
    ]);
    return Object.fromEntries(members) as Fields;
  }

  #value(depth: number): Json {
    const kind = depth === 0 ? 0 : this.#below(4);
    if (kind === 3) return this.fields(depth - 1);
    if (kind === 2) return Array.from({ length: this.#below(3) }, () => this.#value(depth - 1));
    return this.#oneOf(this.#values);
  }

  #oneOf<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  /** The generator of Park and Miller: small, and its numbers stay exact. */
  #below(count: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % count;
  }
}

interface Member {
  readonly name: string;
  readonly value: Json;
}

/** Every member of a value, however deep, and every item of its lists. */
function membersOf(value: Json): readonly Member[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries(value).map(([name, member]) => ({ name, value: member }));
  return own.concat(own.flatMap((member) => membersOf(member.value)));
}
