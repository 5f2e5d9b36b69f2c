import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { droppedFiles } from "../../../data/dropped-files.ts";
import { health } from "../../../frame/store-foot.tsx";
import { FileDrop } from "../../../parts/file-drop.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { bytesText, countText } from "../../../parts/numbers.ts";
import { TransferHead } from "../transfer-head.tsx";
import { ImportFile } from "./import-item.tsx";
import { addFiles, importAll, type ImportItem, isWanted, items } from "./import-queue.ts";

function mayImport(): boolean {
  return health.value === null || (health.value.rights === "admin" && !health.value.readOnly);
}

function Zone(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const max = health.value?.importBytes;
  if (!mayImport())
    return (
      <div class="drop-zone">
        <p class="state-title">You cannot import with read access</p>
        <p class="muted">
          An imported file can refer to folders and sessions on the server, so importing requires admin
          access.
        </p>
      </div>
    );
  return (
    <div class="drop-zone">
      <p class="state-title">Drop bundles or session logs here</p>
      <p class="muted">
        Files are checked first. Nothing that is already here is overwritten.
        {max === undefined ? "" : ` Up to ${bytesText(max)} each.`}
      </p>
      <p>
        <button class="btn" type="button" onClick={() => input.current?.click()}>
          <Icon name="in" />
          Choose files
        </button>
        <input
          ref={input}
          class="sr"
          type="file"
          multiple
          tabIndex={-1}
          aria-label="Files to import"
          onChange={(event) => {
            addFiles([...(event.currentTarget.files ?? [])].map((file) => ({ file, isFolder: false })));
            event.currentTarget.value = "";
          }}
        />
      </p>
    </div>
  );
}

function Progress({ all }: { readonly all: readonly ImportItem[] }): JSX.Element | null {
  const isImporting = all.some(({ state }) => state === "importing");
  const waiting = all.filter(({ state }) => state === (isImporting ? "importing" : "checking"));
  if (waiting.length === 0) return null;
  const [done, total] = [all.length - waiting.length, all.length];
  return (
    <div class="import-progress" role="status">
      <p>
        {isImporting ? "Importing" : "Reading"} {done + 1} of {countText(total, "file")}
      </p>
      <svg class="progress" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="4" />
        <rect class="done" width={(100 * done) / total} height="4" />
      </svg>
    </div>
  );
}

function outcome(all: readonly ImportItem[]): string {
  const done = all.filter(({ state }) => state === "done");
  const brought = done
    .flatMap(({ answer }) => answer?.conversations ?? [])
    .filter(({ state }) => state !== "same");
  return `${countText(brought.length, "conversation")} of ${countText(done.length, "file")} imported.`;
}

/** Files in: first what is in them, then, when it is wanted, into the store. */
export function Page(): JSX.Element {
  useEffect(() => {
    addFiles(droppedFiles.value);
    droppedFiles.value = [];
  }, []);
  const all = items.value;
  const wanted = all.filter(isWanted);
  const count = wanted.flatMap(({ answer, asNew }) =>
    (answer?.conversations ?? []).filter(({ state }) => asNew || state !== "same"),
  ).length;
  const isBusy = all.some(({ state }) => state === "checking" || state === "importing");
  const isDone = all.some(({ state }) => state === "done") && !isBusy && wanted.length === 0;
  return (
    <>
      <TransferHead way="import">
        {wanted.length === 0 ? null : (
          <button class="btn primary" type="button" disabled={isBusy} onClick={() => void importAll()}>
            <Icon name="in" />
            Import {countText(count, "conversation")}
          </button>
        )}
      </TransferHead>
      <div class="transfer">
        <Zone />
        <Progress all={all} />
        {isDone ? (
          <p role="status" data-testid="imported">
            {outcome(all)}
          </p>
        ) : null}
        {all.map((item) => (
          <ImportFile key={item.key} item={item} />
        ))}
      </div>
      {mayImport() ? <FileDrop take={addFiles} /> : null}
    </>
  );
}
