import type { JSX } from "preact";
import type { MemoryChangeView, MemoryView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Moment } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import type { ScopeAsked } from "./asked-scope.ts";
import { savedBy } from "./saved-by.ts";

const LineDiff = lazy(async () => (await import("../../text/changes/line-diff.tsx")).LineDiff);

const WORDS = { saved: "Saved", removed: "Removed", restored: "Restored" } as const;

function Change({
  change,
  before,
  log,
}: {
  readonly change: MemoryChangeView;
  /** The wording that it took the place of. */
  readonly before: MemoryChangeView | undefined;
  readonly log: string | null;
}): JSX.Element {
  const { entry, time, by, conversation, content } = change;
  return (
    <li>
      <div class="row-flex wrap">
        <b>{WORDS[change.change]}</b>
        <span class="muted">
          by {safeLine(savedBy(by))}, <Moment time={time} />
        </span>
        {conversation === null ? null : (
          <a class="link" href={conversationAddress(conversation)}>
            where it was saved
          </a>
        )}
        {log === null ? null : (
          <a class="link" href={conversationAddress(log, "log", { at: entry })}>
            record in the log
          </a>
        )}
      </div>
      {content === null || (before?.content ?? content) === content ? null : (
        <LineDiff
          before={before?.content ?? ""}
          after={content}
          name={`what it says, by record ${change.seq}`}
        />
      )}
    </li>
  );
}

/** How something that is remembered came to be what it is. */
export function MemoryChanges({
  memory,
  asked,
  log,
}: {
  readonly memory: MemoryView;
  readonly asked: ScopeAsked;
  readonly log: string | null;
}): JSX.Element | null {
  const { value, error, reload } = useLoaded(
    (signal) => client.listMemoryChanges({ ...asked, memory: memory.key }, { signal }),
    [memory.key, memory.entry, memory.removedAt],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return null;
  return (
    <section class="memory-changes" aria-label="Change history">
      <h2>Change history</h2>
      <ol>
        {value.changes.map((change, at) => (
          <Change
            key={change.entry}
            change={change}
            before={value.changes.slice(at + 1).find((one) => one.change === "saved")}
            log={log}
          />
        ))}
      </ol>
      {value.more ? <p class="faint">Older changes are in the log.</p> : null}
    </section>
  );
}
