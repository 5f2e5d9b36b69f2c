import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#edges/http/client/index";
import type { MemoryView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { say } from "../../frame/said.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { fieldsOf, isSame, KINDS, type MemoryFields, NO_FIELDS, saveInput } from "./memory-input.ts";
import type { ScopeAsked } from "./asked-scope.ts";
import { savedBy } from "./saved-by.ts";

const LineDiff = lazy(async () => (await import("../../text/changes/line-diff.tsx")).LineDiff);

const CONTENT_MAX = 4_000;
const TITLE_MAX = 120;

/** What became of saving it. */
type Outcome =
  | { readonly state: "open" | "busy" }
  | { readonly state: "conflict"; readonly now: MemoryView | null }
  | { readonly state: "failed"; readonly error: unknown };

/** What stands under the key that a refused save meant; null: nothing any more. */
async function standing(asked: ScopeAsked, error: ApiError): Promise<MemoryView | null> {
  const { memories } = await client.listMemory(asked);
  return memories.find(({ key }) => key === error.details?.["memory"]) ?? null;
}

async function outcomeOf(asked: ScopeAsked, error: unknown): Promise<Outcome> {
  if (!(error instanceof ApiError) || error.status !== 409) return { state: "failed", error };
  try {
    return { state: "conflict", now: await standing(asked, error) };
  } catch (failure) {
    return { state: "failed", error: failure };
  }
}

function Conflict({
  now,
  mine,
  keepTheirs,
  saveMine,
}: {
  readonly now: MemoryView | null;
  readonly mine: MemoryFields;
  readonly keepTheirs: () => void;
  readonly saveMine: () => void;
}): JSX.Element {
  return (
    <div class="memory-conflict" role="alert" data-testid="memory-conflict">
      <div class="banner unknown">
        <Icon name="unknown" />
        <span class="grow">
          {now === null ? (
            <>
              <b>This note was removed in the meantime.</b> Nothing was written.
            </>
          ) : (
            <>
              <b>This note has changed in the meantime.</b> “{safeLine(now.title)}” was saved by{" "}
              {safeLine(savedBy(now.by))}. Nothing was written.
            </>
          )}
        </span>
      </div>
      {now === null ? null : (
        <>
          <p class="muted">From the current text (−) to yours (+):</p>
          <LineDiff before={now.content} after={mine.content} name="the current text" />
        </>
      )}
      <div class="row-flex wrap">
        <button class="btn" type="button" onClick={keepTheirs}>
          {now === null ? "Leave it removed" : "Keep theirs"}
        </button>
        <button class="btn" type="button" onClick={saveMine}>
          {now === null ? "Save mine anyway" : "Replace with mine"}
        </button>
        <span class="faint">Its history keeps earlier versions.</span>
      </div>
    </div>
  );
}

function Fields({
  fields,
  change,
}: {
  readonly fields: MemoryFields;
  readonly change: (part: Partial<MemoryFields>) => void;
}): JSX.Element {
  const first = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  return (
    <>
      <label class="wide-field">
        <span>Memory text</span>
        <textarea
          rows={4}
          required
          maxLength={CONTENT_MAX}
          value={fields.content}
          ref={first}
          onInput={({ currentTarget }) => change({ content: currentTarget.value })}
        />
      </label>
      <label>
        <span>Title</span>
        <input
          type="text"
          maxLength={TITLE_MAX}
          placeholder="first line of the text"
          value={fields.title}
          onInput={({ currentTarget }) => change({ title: currentTarget.value })}
        />
      </label>
      <label>
        <span>Kind</span>
        <select
          class="btn"
          value={fields.kind}
          onChange={({ currentTarget }) => change({ kind: currentTarget.value })}
        >
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {kind.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Tags</span>
        <input
          type="text"
          placeholder="separated by commas"
          value={fields.tags}
          onInput={({ currentTarget }) => change({ tags: currentTarget.value })}
        />
      </label>
    </>
  );
}

/** Saves something new, or other words in the place of what was looked at; what somebody else saved meanwhile is shown first. */
export function RememberForm({
  asked,
  of,
  done,
}: {
  readonly asked: ScopeAsked;
  /** What is edited; null: something new. */
  readonly of: MemoryView | null;
  /** Null: nothing was saved. */
  readonly done: (saved: MemoryView | null) => void;
}): JSX.Element {
  // What was looked at when the form was opened, whatever comes in meanwhile.
  const [looked] = useState(of);
  const [fields, setFields] = useState(of === null ? NO_FIELDS : fieldsOf(of));
  const [outcome, setOutcome] = useState<Outcome>({ state: "open" });
  const save = async (base: MemoryView | null, over: string | null): Promise<void> => {
    setOutcome({ state: "busy" });
    try {
      const saved = await client.saveMemory({ ...asked, ...saveInput(fields, base, over) });
      say("Saved");
      done(saved);
    } catch (error) {
      setOutcome(await outcomeOf(asked, error));
    }
  };
  const isUnchanged = looked !== null && isSame(fields, fieldsOf(looked));
  return (
    <form
      class="memory-form"
      aria-label={of === null ? "Add to memory" : "Edit it"}
      onSubmit={(event) => {
        event.preventDefault();
        void save(looked, looked?.entry ?? null);
      }}
    >
      <Fields fields={fields} change={(part) => setFields((was) => ({ ...was, ...part }))} />
      {outcome.state === "conflict" ? (
        <Conflict
          now={outcome.now}
          mine={fields}
          keepTheirs={() => done(null)}
          saveMine={() => void save(looked ?? outcome.now, outcome.now?.entry ?? null)}
        />
      ) : (
        <div class="row-flex wrap">
          <button
            class="btn primary"
            type="submit"
            disabled={outcome.state === "busy" || isUnchanged || fields.content.trim() === ""}
          >
            Save
          </button>
          <button class="btn" type="button" onClick={() => done(null)}>
            Cancel
          </button>
          <span class="faint">This goes into prompts. Never store passwords or keys.</span>
        </div>
      )}
      {outcome.state === "failed" ? <Failure error={outcome.error} /> : null}
    </form>
  );
}
