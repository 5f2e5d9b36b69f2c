import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { Icon } from "../../../parts/marks/icon.tsx";
import { bytesText, countText } from "../../../parts/numbers.ts";
import { conversationAddress } from "../../../router/addresses.ts";
import { checkWhatCanBeReached, forget, type ImportItem, setAsNew } from "./import-queue.ts";
import { formatWords, type ImportedOne, type ImportFailure, remarksOf, stateWords } from "./import-words.ts";

const PROBLEMS_SHOWN = 5;
const CONVERSATIONS_SHOWN = 100;

function Row({ one, item }: { readonly one: ImportedOne; readonly item: ImportItem }): JSX.Element {
  const { tone, name, more } = stateWords(one, { asNew: item.asNew, isDone: item.state === "done" });
  const words = one.title === null || one.title === "" ? one.from : safeLine(one.title);
  const isHere = item.state === "done" || one.state === "same" || one.state === "blobs";
  return (
    <tr>
      <td>
        <span class={tone === "plain" ? "tag" : `tag ${tone}`}>{name}</span>
      </td>
      <td class="import-name">
        {isHere && !(item.asNew && item.state !== "done") ? (
          <a class="link cut" href={conversationAddress(one.conversation)}>
            {words}
          </a>
        ) : (
          <span class="cut">{words}</span>
        )}{" "}
        <span class="faint">{more}</span>
      </td>
      <td class="num">{countText(one.entries, "entry", "entries")}</td>
      <td class="num">{one.blobs === 0 ? "" : countText(one.blobs, "image")}</td>
    </tr>
  );
}

function Conversations({ item }: { readonly item: ImportItem }): JSX.Element | null {
  const { answer, file } = item;
  if (answer === null) return null;
  const { conversations } = answer;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={`Conversations in ${safeLine(file.name)}`}>
      <table class="sheet import-sheet">
        <thead class="sr">
          <tr>
            {["Result", "Conversation", "Entries", "Images"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {conversations.slice(0, CONVERSATIONS_SHOWN).map((one) => (
            <Row key={one.from} one={one} item={item} />
          ))}
        </tbody>
      </table>
      {conversations.length > CONVERSATIONS_SHOWN ? (
        <p class="faint">And {conversations.length - CONVERSATIONS_SHOWN} more.</p>
      ) : null}
    </div>
  );
}

function Problems({ problems }: { readonly problems: readonly string[] }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <ul class="import-problems mono">
      {problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
        <li key={problem}>{safeLine(problem).slice(0, 300)}</li>
      ))}
      {problems.length > PROBLEMS_SHOWN ? <li>and {problems.length - PROBLEMS_SHOWN} more</li> : null}
    </ul>
  );
}

function Failed({
  item,
  failure,
}: {
  readonly item: ImportItem;
  readonly failure: ImportFailure;
}): JSX.Element {
  const { what, next, problems, isSalvageable } = failure;
  return (
    <div class="banner bad import-failed" role="alert">
      <Icon name="warn" />
      <div class="grow">
        <b>{safeLine(what)}</b> <span class="muted">{safeLine(next)}</span>
        <Problems problems={problems} />
      </div>
      {isSalvageable ? (
        <button class="btn" type="button" onClick={() => checkWhatCanBeReached(item.key)}>
          Show the readable part
        </button>
      ) : null}
    </div>
  );
}

const DOING = { checking: "Reading…", importing: "importing", checked: "", done: "", failed: "" } as const;

function About({ item }: { readonly item: ImportItem }): JSX.Element {
  const { file, answer, state, key } = item;
  return (
    <div class="import-head">
      <Icon name={state === "done" ? "check" : "file"} />
      <h2 class="cut">{safeLine(file.name)}</h2>
      <span class="faint">
        {bytesText(file.size)}
        {answer === null ? "" : ` · ${formatWords(answer)}`}
      </span>
      <span class="grow muted" role="status">
        {DOING[state]}
      </span>
      {state === "checking" || state === "importing" ? null : (
        <button
          class="btn quiet icon small"
          type="button"
          aria-label={`Remove ${safeLine(file.name)} from this list`}
          onClick={() => forget(key)}
        >
          <Icon name="x" />
        </button>
      )}
    </div>
  );
}

/** A file: what it is, what it holds, what would become of that, and what did. */
export function ImportFile({ item }: { readonly item: ImportItem }): JSX.Element {
  const { answer, failure, state, key } = item;
  const isStuck = answer?.conversations.some((one) => one.state === "conflict") === true;
  return (
    <section class="import-item" aria-label={safeLine(item.file.name)}>
      <About item={item} />
      {state === "failed" && failure !== null ? <Failed item={item} failure={failure} /> : null}
      {state === "failed" ? null : <Conversations item={item} />}
      {state === "failed" || answer === null ? null : (
        <>
          {remarksOf(answer).map((remark) => (
            <p key={remark} class="muted">
              {remark}
            </p>
          ))}
          <Problems problems={answer.problems.map(({ message }) => message)} />
        </>
      )}
      {state === "checked" ? (
        <label class="check">
          <input
            type="checkbox"
            checked={item.asNew}
            onChange={(event) => setAsNew(key, event.currentTarget.checked)}
          />
          Import with new ids{isStuck ? ", next to the existing conversation" : ", as separate copies"}
        </label>
      ) : null}
    </section>
  );
}
