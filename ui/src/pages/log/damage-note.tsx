import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { health } from "../../frame/store-foot.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import type { RecordsState } from "./record-store.ts";

type Checked =
  | { readonly state: "not_asked" | "asked" | "sound" }
  | { readonly state: "found"; readonly words: string }
  | { readonly state: "failed"; readonly error: unknown };

/** What is known to be wrong with the log; on a press every link of it is proven. */
export function DamageNote({
  conversation,
  damage,
}: {
  readonly conversation: string;
  readonly damage: RecordsState["damage"];
}): JSX.Element {
  const [checked, setChecked] = useState<Checked>({ state: "not_asked" });
  const check = async (): Promise<void> => {
    setChecked({ state: "asked" });
    try {
      const { findings } = await client.checkSpace();
      const wrong = findings.filter((one) => one.conversation === conversation && one.severity !== "note");
      setChecked(
        wrong.length === 0
          ? { state: "sound" }
          : { state: "found", words: wrong.map(({ message }) => message).join(" ") },
      );
    } catch (error) {
      setChecked({ state: "failed", error });
    }
  };
  const words = damage?.message ?? (checked.state === "found" ? checked.words : null);
  return (
    <>
      {words === null ? null : (
        <div class="banner bad log-damage" role="alert">
          <Icon name="warn" />
          <span class="grow">
            <b>Damaged.</b> {safeLine(words)}{" "}
            <span class="muted">`holdfast doctor` shows details. Viewing changes nothing.</span>
          </span>
        </div>
      )}
      {checked.state === "failed" ? <Failure error={checked.error} retry={() => void check()} /> : null}
      <span role="status">
        {checked.state === "sound" ? (
          <span class="tag ok" data-testid="hashes-match">
            <Icon name="check" />
            all hashes match
          </span>
        ) : null}
      </span>
      {damage !== null || health.value?.rights !== "admin" ? null : (
        <button
          class="btn small"
          type="button"
          disabled={checked.state === "asked"}
          onClick={() => void check()}
        >
          {checked.state === "asked" ? "Checking" : "Verify hashes"}
        </button>
      )}
    </>
  );
}
