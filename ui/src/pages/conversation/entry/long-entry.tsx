import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { withText } from "../../../data/exact-text.ts";
import { RawJson } from "../../../parts/raw-json.tsx";
import { sizeText } from "../../../text/long/shown-chars.ts";
import { attempted } from "./acts.ts";

/** The rest of an entry that is too long to be sent with the others, as it was written, piece by piece. */
export function LongEntry({
  conversation,
  entry,
  chars,
}: {
  readonly conversation: string;
  readonly entry: string;
  readonly chars: number;
}): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const load = async (): Promise<void> => {
    const whole = await attempted(() =>
      withText(undefined, (options) => client.getEntry({ conversation, entry }, options)),
    );
    if (whole !== null) setText(whole.text);
  };
  if (text !== null) return <RawJson text={text} what="the whole entry" />;
  return (
    <button class="link" type="button" onClick={() => void load()}>
      Show all ({sizeText(chars)})
    </button>
  );
}
