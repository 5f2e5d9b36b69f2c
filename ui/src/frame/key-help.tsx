import type { JSX } from "preact";
import { singleKeys } from "../data/preferences.ts";
import { startTour } from "../tour/tour-under-way.ts";
import { Dialog } from "./dialog.tsx";
import { keyWords } from "./key-table.ts";
import { boundKeys } from "./keys.ts";

/** Every key that does something on this page. */
export function KeyHelp({ close }: { readonly close: () => void }): JSX.Element {
  const shown = new Map(boundKeys().map((binding) => [binding.keys, binding]));
  return (
    <Dialog label="Keyboard shortcuts" close={close}>
      <dl class="keys-list">
        {[...shown.values()].map(({ keys, does }) => (
          <>
            <dt>
              <kbd>{keyWords(keys)}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <p class="over-body muted">
        <label>
          <input
            type="checkbox"
            checked={singleKeys.value === "on"}
            onChange={(event) => (singleKeys.value = event.currentTarget.checked ? "on" : "off")}
          />{" "}
          Single-key shortcuts
        </label>
      </p>
      <p class="over-body">
        <button
          class="btn small"
          type="button"
          onClick={() => {
            close();
            void startTour();
          }}
        >
          Take the 2-minute tour
        </button>
      </p>
    </Dialog>
  );
}
