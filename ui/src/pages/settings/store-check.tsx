import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import type { Findings } from "./diagnostics.ts";

const SHOWN = 200;
const WORDS = { damage: "damaged", torn: "torn end", note: "note" } as const;

function FindingRow({ finding }: { readonly finding: Findings[number] }): JSX.Element {
  const { conversation, severity, message } = finding;
  return (
    <tr>
      <td>
        <span class={severity === "damage" ? "tag bad" : severity === "torn" ? "tag unknown" : "tag"}>
          {WORDS[severity]}
        </span>
      </td>
      <td>
        {conversation === null ? (
          "the store"
        ) : (
          <a class="link mono" href={conversationAddress(conversation, "log")}>
            {safeLine(conversation)}
          </a>
        )}
      </td>
      <td class="finding-words">{safeLine(message)}</td>
    </tr>
  );
}

function Found({ findings }: { readonly findings: Findings }): JSX.Element {
  if (findings.length === 0)
    return (
      <p role="status" data-testid="all-intact">
        All logs are intact.
      </p>
    );
  return (
    <>
      <p role="status">{countText(findings.length, "finding")}. Nothing was repaired or changed.</p>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Findings">
        <table class="sheet">
          <thead>
            <tr>
              {["What", "Where", "Description"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {findings.slice(0, SHOWN).map((finding, at) => (
              <FindingRow key={at} finding={finding} />
            ))}
          </tbody>
        </table>
      </div>
      {findings.length > SHOWN ? <p class="faint">The first {SHOWN} of them.</p> : null}
    </>
  );
}

/** Reads every log and proves its links, as `holdfast doctor` does. */
export function StoreCheck({
  findings,
  tell,
}: {
  readonly findings: Findings | null;
  readonly tell: (findings: Findings) => void;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const check = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      tell((await client.checkSpace()).findings);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <section class="block settings-part">
      <div class="block-head">
        <h2>Checks</h2>
        <button class="btn small" type="button" disabled={isBusy} onClick={() => void check()}>
          {isBusy ? "Reading every log" : "Check every log"}
        </button>
        <span class="muted">Verifies every log. Changes nothing.</span>
      </div>
      {error === null ? null : <Failure error={error} retry={() => void check()} />}
      {findings === null ? null : <Found findings={findings} />}
    </section>
  );
}
