import type { Counts, WireName } from "./scripted-answer.ts";

/** A piece of a request that is the same or not; in the order in which a model reads them. */
interface Unit {
  readonly text: string;
  /** A service may keep everything up to here. */
  readonly mark: boolean;
}

const BLOCKS_BACK = 20; // how far before a mark of a request a service looks for what it kept
const CHARS_PER_TOKEN = 4;

/**
 * Counts as a provider's prompt cache would: Anthropic's up to a mark of an earlier request, if a mark of this one stands
 * there or a little behind it; the others' as far as the beginnings are the same.
 */
export class PromptCache {
  readonly #earlier: (readonly Unit[])[] = [];

  /** What a request reads from the cache and writes to it; from then on it is an earlier one. */
  count(wire: WireName, body: unknown): Omit<Counts, "output"> {
    const units = unitsOf(wire, body);
    const cached = wire === "anthropic" ? this.#marked(units) : this.#common(units);
    const lastMark = units.findLastIndex(({ mark }) => mark);
    const upToMark = tokens(units.slice(0, lastMark + 1));
    this.#earlier.push(units);
    const input = tokens(units);
    return {
      input,
      cached: tokens(units.slice(0, cached)),
      written: Math.max(0, upToMark - tokens(units.slice(0, cached))),
    };
  }

  #marked(units: readonly Unit[]): number {
    const marks = units.flatMap(({ mark }, at) => (mark ? [at] : []));
    const ends = this.#earlier.flatMap((other) => {
      const common = commonLength(other, units);
      return other.flatMap(({ mark }, at) => (mark && at < common ? [at] : []));
    });
    const found = ends.filter((end) => marks.some((mark) => mark >= end && mark - end <= BLOCKS_BACK));
    return found.length === 0 ? 0 : Math.max(...found) + 1;
  }

  #common(units: readonly Unit[]): number {
    return Math.max(0, ...this.#earlier.map((other) => commonLength(other, units)));
  }
}

function commonLength(one: readonly Unit[], other: readonly Unit[]): number {
  const differs = one.findIndex(({ text }, at) => text !== other[at]?.text);
  return differs === -1 ? one.length : differs;
}

function tokens(units: readonly Unit[]): number {
  return Math.ceil(units.reduce((sum, { text }) => sum + text.length, 0) / CHARS_PER_TOKEN);
}

type Fields = { readonly [name: string]: unknown };

function unitsOf(wire: WireName, body: unknown): readonly Unit[] {
  const fields = (body ?? {}) as Fields;
  const lists = {
    anthropic: ["tools", "system", "messages"],
    openai: ["tools", "instructions", "input"],
    "openai-compatible": ["tools", "messages"],
    google: ["tools", "systemInstruction", "contents"],
  }[wire];
  return lists.flatMap((name) => listOf(fields[name]).flatMap((item) => itemUnits(item)));
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** A message is as many pieces as it has blocks, each with its role: neighbours of one role are read as one message. */
function itemUnits(item: unknown): readonly Unit[] {
  const { role, content, parts } = (item ?? {}) as Fields;
  const blocks = content ?? parts;
  if (typeof role !== "string" || !Array.isArray(blocks)) return [unit(item, "")];
  return blocks.map((block) => unit(block, role));
}

function unit(value: unknown, role: string): Unit {
  const { cache_control: mark, ...rest } = (typeof value === "object" ? value : { value }) as Fields;
  return { text: role + JSON.stringify(rest), mark: mark !== undefined };
}
