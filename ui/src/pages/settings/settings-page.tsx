import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { StoreView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { contrast, density, motion, singleKeys, textSize, theme } from "../../data/preferences.ts";
import { health } from "../../frame/store-foot.tsx";
import { copyText } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { bytesText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { diagnosticsText, type Findings } from "./diagnostics.ts";
import { StoreCheck } from "./store-check.tsx";

function Preference<T extends string>({
  label,
  kept,
  choices,
}: {
  readonly label: string;
  readonly kept: Signal<T>;
  readonly choices: readonly (readonly [T, string])[];
}): JSX.Element {
  return (
    <div class="setting">
      <span>{label}</span>
      <span class="seg" role="group" aria-label={label}>
        {choices.map(([value, words]) => (
          <button
            key={value}
            type="button"
            aria-pressed={kept.value === value}
            onClick={() => (kept.value = value)}
          >
            {words}
          </button>
        ))}
      </span>
    </div>
  );
}

function Looks(): JSX.Element {
  return (
    <section class="block settings-part">
      <div class="block-head">
        <h2>This browser</h2>
        <span class="muted">stored in this browser only</span>
      </div>
      <Preference
        label="Theme"
        kept={theme}
        choices={[
          ["system", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
      />
      <Preference
        label="Rows"
        kept={density}
        choices={[
          ["normal", "Normal"],
          ["compact", "Compact"],
        ]}
      />
      <Preference
        label="Text"
        kept={textSize}
        choices={[
          ["90", "90 %"],
          ["100", "100 %"],
          ["110", "110 %"],
          ["120", "120 %"],
          ["130", "130 %"],
        ]}
      />
      <Preference
        label="Contrast"
        kept={contrast}
        choices={[
          ["system", "System"],
          ["more", "More"],
        ]}
      />
      <Preference
        label="Motion"
        kept={motion}
        choices={[
          ["system", "System"],
          ["less", "None"],
        ]}
      />
      <Preference
        label="Single-key shortcuts"
        kept={singleKeys}
        choices={[
          ["on", "On"],
          ["off", "Off"],
        ]}
      />
    </section>
  );
}

function storeFacts(store: StoreView): readonly (readonly [string, ComponentChildren])[] {
  const and = store.more ? " and more" : "";
  const found = health.value;
  return [
    [
      "Data",
      store.address === null ? (
        health.value?.rights === "admin" ? (
          "not known"
        ) : (
          "shown to admins only"
        )
      ) : (
        <code>{safeLine(store.address)}</code>
      ),
    ],
    ["Kind", store.kind ?? "not known"],
    [
      "Size",
      store.bytes === null
        ? "not known"
        : `${bytesText(store.bytes)} (${store.bytes.toLocaleString("en-US")} bytes)`,
    ],
    ["Conversations", `${store.conversations.toLocaleString("en-US")}${and}`],
    ["Internal logs", `${store.unlisted.toLocaleString("en-US")}${and}`],
    ["Log format", store.formatVersion],
    ["API schema version", store.schemaVersion],
    ["Holdfast", found?.version ?? "not known"],
    ["Space", found === null ? "not known" : safeLine(found.space)],
    ["Access level", found === null ? "not known" : `${found.rights}${found.readOnly ? ", read-only" : ""}`],
    ["Active turns / streams", found === null ? "not known" : `${found.turns} / ${found.streams}`],
    ["Agents", found === null || found.agents.length === 0 ? "none" : found.agents.map(safeLine).join(", ")],
  ];
}

function Store({ store }: { readonly store: StoreView }): JSX.Element {
  return (
    <section class="block settings-part">
      <div class="block-head">
        <h2>Health</h2>
        {store.damaged.length === 0 ? (
          <span class="tag ok" data-testid="no-damage">
            <Icon name="check" />
            No damage found
          </span>
        ) : (
          <span class="tag bad">
            <Icon name="warn" />
            {store.damaged.length} damaged
          </span>
        )}
      </div>
      <dl class="store-facts">
        {storeFacts(store).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {store.damaged.length === 0 ? null : (
        <p>
          Damaged:{" "}
          {store.damaged.slice(0, 50).map((id) => (
            <a key={id} class="link mono" href={conversationAddress(id, "log")}>
              {safeLine(id)}
            </a>
          ))}
        </p>
      )}
    </section>
  );
}

/** What is served and how it is, and how this browser shows it. */
export function Page(): JSX.Element {
  const { value, error, reload } = useLoaded((signal) => client.getStore(undefined, { signal }), []);
  const [findings, tell] = useState<Findings | null>(null);
  return (
    <>
      <header class="head">
        <div class="head-row">
          <h1>Settings and health</h1>
          <span class="grow" />
          <button
            class="btn"
            type="button"
            disabled={value === null}
            onClick={() =>
              value === null
                ? undefined
                : void copyText(
                    diagnosticsText({ health: health.value, store: value, findings }, navigator.userAgent),
                  )
            }
          >
            <Icon name="copy" />
            <span>
              Copy<span class="wide"> diagnostics</span>
            </span>
          </button>
        </div>
      </header>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value === null ? error === null ? <GhostRows /> : null : <Store store={value} />}
      <StoreCheck findings={findings} tell={tell} />
      <Looks />
      <p class="block faint">
        Diagnostics contain versions and counts only: no paths, URLs, ids, titles or conversation text.
      </p>
    </>
  );
}
