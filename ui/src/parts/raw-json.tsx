import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { jsonLines } from "../text/json-lines.ts";
import { LongText } from "../text/long/long-text.tsx";
import { copyText } from "./copy-button.tsx";
import { Icon } from "./marks/icon.tsx";

/** A JSON text: what is read is in lines, harmless and piece by piece; what is copied is as it came, to the letter. */
export function RawJson({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const lines = useMemo(() => jsonLines(text), [text]);
  return (
    <div class="raw-json">
      <button class="btn small" type="button" onClick={() => void copyText(text)}>
        <Icon name="copy" /> Copy JSON
        <span class="sr"> of {what}</span>
      </button>
      <LongText text={lines} label={`JSON of ${what}`} />
    </div>
  );
}
