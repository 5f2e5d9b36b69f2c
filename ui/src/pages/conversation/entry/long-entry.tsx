import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ThreadRow } from "#edges/http/client/views";
import type { EntryOf } from "#log/entry";
import { client } from "../../../data/api-client.ts";
import { sizeText } from "../../../text/long/shown-chars.ts";
import { attempted } from "./acts.ts";

const IMAGE_CHARS_MAX = 12_000_000; // a larger one is read when somebody asks for it

export interface WholeMessage {
  /** Whole where it was read whole; else as it came, with long texts cut. */
  readonly entry: EntryOf<"message">;
  /** How long it is and how to read it; null: it is whole. */
  readonly rest: { readonly chars: number; readonly load: () => void } | null;
}

/** A message of which long texts come cut. One with an image is read whole at once: cut bytes draw nothing. */
export function useWholeMessage(
  conversation: string,
  { cut }: Pick<ThreadRow, "cut">,
  entry: EntryOf<"message">,
): WholeMessage {
  const [whole, setWhole] = useState<EntryOf<"message"> | null>(null);
  const load = (): void =>
    void attempted(() => client.getEntry({ conversation, entry: entry.id })).then(
      (read) => read?.type === "message" && setWhole(read),
    );
  const hasImage = entry.message.content.some(({ type, ...block }) => type === "image" && "data" in block);
  const isDue = cut !== null && cut <= IMAGE_CHARS_MAX && hasImage;
  useEffect(() => {
    if (isDue && whole === null) load();
  }, [entry.id, isDue]);
  if (cut === null) return { entry, rest: null };
  return whole?.id === entry.id
    ? { entry: whole, rest: null }
    : { entry, rest: isDue ? null : { chars: cut, load } };
}

/** Reads the rest of a long message. */
export function ShowAll({ rest }: { readonly rest: NonNullable<WholeMessage["rest"]> }): JSX.Element {
  return (
    <button class="link" type="button" onClick={rest.load}>
      Show all ({sizeText(rest.chars)})
    </button>
  );
}
