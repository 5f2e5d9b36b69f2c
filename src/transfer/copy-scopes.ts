import { ScopeLog, beganAs, scopeLogOf } from "#agent/memory/scope-log";
import { Holdfast } from "#conversation/holdfast";
import { readLog } from "#conversation/read-log";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { decorateStore } from "#store/decorate";
import { copyKey } from "./copy-log.ts";
import { spaceOf } from "#conversation/on-space";

/**
 * The logs of what is remembered. Of a scope one log counts; what is removed for ever goes with the log before it. So only
 * the one that counts is copied, and what it took the place of goes from the target, too.
 */
export class ScopesCopy {
  readonly #from: Holdfast;
  readonly #to: Holdfast;

  constructor(from: Holdfast, to: Holdfast) {
    const refuse = async (): Promise<never> => {
      throw new LogError("read_only", "The source of a copy is read-only");
    };
    const source = decorateStore(from.store, { verbs: () => ({ erase: refuse }) });
    this.#from = new Holdfast(source, from.spaceId);
    this.#to = to;
  }

  /** Whether a log is to be copied, after what it took the place of was erased in the target. */
  async clearScope(
    id: ConversationId,
  ): Promise<{ readonly isCurrent: boolean; readonly erased: readonly ConversationId[] }> {
    const scope = scopeLogOf(id);
    if (scope === null) return { isCurrent: true, erased: [] };
    const { name } = scope;
    const current = await new ScopeLog(this.#from, { name, title: "", project: null }).current();
    if (current !== id) return { isCurrent: false, erased: [] };
    const before: ConversationId[] = [];
    for await (const { conversation } of this.#to.list({ filter: { prefix: name, unlisted: true } })) {
      const other = scopeLogOf(conversation);
      if (other?.name !== name || other.number === scope.number) continue;
      const isReplaced =
        other.number < scope.number &&
        (await this.#isReplaced(conversation, id).catch((error: unknown) => {
          if (isGone(error, conversation)) return null; // another copy was faster
          throw error;
        }));
      if (isReplaced === null) continue;
      if (!isReplaced)
        throw new LogError(
          "diverged",
          `The target has memories in ${conversation} that do not come from this store, so ${id} cannot be copied. The target was not modified.`,
          { conversation: id, target: conversation },
        );
      before.push(conversation);
    }
    // First, so that erased memories do not stay until the rest is copied.
    for (const conversation of before)
      await this.#to
        .handle(conversation)
        .erase()
        .catch((error: unknown) => {
          if (!isGone(error, conversation)) throw error;
        });
    return { isCurrent: true, erased: before };
  }

  /** Whether a log of the target is a copy, and of one that this log of the source took the place of. */
  async #isReplaced(copy: ConversationId, by: ConversationId): Promise<boolean> {
    const space = spaceOf(this.#to);
    const starts = new Set([1]);
    for (const { seq } of await space.batchEnds({ conversation: copy, after: 0, limit: ENDS_MAX }))
      starts.add(seq + 1);
    for await (const entry of readLog(space, copy))
      if (starts.has(entry.seq) && (await space.findAppend(copy, copyKey(entry))) === null) return false;
    return beganAs(await space.head(copy)) === beganAs(await this.#from.handle(by).head());
  }
}

function isGone(error: unknown, conversation: ConversationId): boolean {
  const isMissing = isLogError(error, "conversation_not_found") || isLogError(error, "store_gone");
  return isMissing && error.details["conversation"] === conversation;
}

const ENDS_MAX = 1_000_000; // a log of memory has fewer entries than this by far
