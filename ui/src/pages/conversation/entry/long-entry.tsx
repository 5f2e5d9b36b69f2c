import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { LongText } from "../../../text/long/long-text.tsx";
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
    const whole = await attempted(() => client.getEntry({ conversation, entry }));
    if (whole !== null) setText(JSON.stringify(whole, null, 2).replaceAll("\\n", "\n"));
  };
  if (text === null)
    return (
      <button class="link" type="button" onClick={() => void load()}>
        Show all ({sizeText(chars)})
      </button>
    );
  return <LongText text={text} label="The whole entry" />;
}
