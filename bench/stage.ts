import { join } from "node:path";
import type { Conversation } from "../src/conversation/conversation.ts";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { parseSpaceId } from "../src/log/ids.ts";
import type { SpaceStore } from "../src/store/facets.ts";
import { createMany, fill } from "./history.ts";
import { type Plan, ROUNDS_MIN } from "./sample.ts";

export const MESSAGE_CHARS = 400; // the sized conversations; small rows leave a reader the least to hide behind
export const TURN_CHARS = 900; // a row of about 1 KB with what JSON adds
export const CROWD = 10_000;
const SIZES: readonly number[] = [100, 10_000, 100_000, 1_000_000];
const CROWD_SPACE = "crowd";

/** A conversation of a known size in the shared file. */
export interface Sized {
  readonly size: number;
  readonly conversation: Conversation;
  /** The id of an entry half way back. */
  readonly middle: string;
}

/** The one large file that several measurements share: a conversation of every size, and a crowd of small ones. */
export interface Library {
  readonly path: string;
  readonly holdfast: Holdfast;
  readonly space: SpaceStore;
  readonly crowd: SpaceStore;
  readonly sized: readonly Sized[];
}

/** What a measurement is given: where to put files, how long it may take, and what others have built. */
export class Stage implements AsyncDisposable {
  readonly dir: string;
  readonly quick: boolean;
  /** Where what takes long to build is kept for the next run. */
  readonly kept: string;
  /** How large the conversations are, rising. */
  readonly sizes: readonly number[];
  readonly #say: (line: string) => void;
  #library: Promise<Library> | null = null;

  constructor(given: {
    dir: string;
    kept: string;
    quick: boolean;
    sizes: readonly number[] | null;
    say: (line: string) => void;
  }) {
    this.dir = given.dir;
    this.kept = given.kept;
    this.quick = given.quick;
    this.sizes = given.sizes ?? (given.quick ? SIZES.slice(0, -1) : SIZES);
    this.#say = given.say;
  }

  say(line: string): void {
    this.#say(line);
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  plan(rounds: number, limitMs: number): Plan {
    const share = this.quick ? 4 : 1;
    const warmup = Math.min(20, Math.ceil(rounds / 10));
    return { rounds: Math.max(ROUNDS_MIN, Math.ceil(rounds / share)), warmup, limitMs: limitMs / share };
  }

  library(): Promise<Library> {
    this.#library ??= this.#build();
    return this.#library;
  }

  async #build(): Promise<Library> {
    const path = this.path("library.db");
    const holdfast = await openHoldfast({ store: `sqlite:${path}` });
    const sized: Sized[] = [];
    for (const size of this.sizes) {
      this.say(`building a conversation of ${sizeText(size)} entries`);
      const conversation = await holdfast.create({ id: `sized-${size}` });
      sized.push({
        size,
        conversation,
        middle: await fill(conversation, { messages: size, chars: MESSAGE_CHARS }),
      });
    }
    const crowd = holdfast.store.space(parseSpaceId(CROWD_SPACE));
    await createMany(crowd, CROWD, MESSAGE_CHARS);
    return { path, holdfast, space: holdfast.store.space(parseSpaceId("default")), crowd, sized };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#library !== null) await (await this.#library).holdfast.close();
  }
}

export function sizeText(size: number): string {
  if (size >= 1_000_000) return `${Number((size / 1_000_000).toPrecision(2))}M`;
  return size >= 1_000 ? `${size / 1_000}k` : String(size);
}
