import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine, safeText } from "#transfer/views/safe-text";
import type { ContentBlock } from "#log/message";
import { Icon } from "../../../parts/marks/icon.tsx";
import { lazy } from "../../../parts/lazy.tsx";
import { LongText } from "../../../text/long/long-text.tsx";

const Markdown = lazy(async () => (await import("../../../text/markdown.tsx")).Markdown);
const MARKDOWN_CHARS_MAX = 100_000;
const DOWNLOADED = "application/octet-stream"; // no browser opens it as a page
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Words as they are meant to be read; a text that is too long for that as it was written. */
export function Words({ text }: { readonly text: string }): JSX.Element {
  if (text.length <= MARKDOWN_CHARS_MAX) return <Markdown text={text} />;
  return (
    <div class="prose">
      <LongText text={text} label="Message" isProse />
    </div>
  );
}

/** What a model thought, folded. */
function Thinking({
  text,
  isOpen = false,
}: {
  readonly text: string;
  readonly isOpen?: boolean;
}): JSX.Element {
  const [open, setOpen] = useState(isOpen);
  return (
    <div>
      <button class="think" type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        thought, {text.length.toLocaleString("en-US")} characters
      </button>
      {open ? <p class="plain thoughts">{safeText(text)}</p> : null}
    </div>
  );
}

function Media({
  block,
  conversation,
  isCut,
}: {
  readonly isCut: boolean;
  readonly block: Extract<ContentBlock, { type: "image" | "audio" | "file" }>;
  readonly conversation: string;
}): JSX.Element {
  const { mediaType, blob, data } = block;
  const isImage = block.type === "image" && IMAGE_TYPES.has(mediaType);
  const source =
    blob !== undefined
      ? `/api/conversations/${encodeURIComponent(conversation)}/blobs/${encodeURIComponent(blob)}`
      : data !== undefined && !isCut
        ? `data:${isImage ? mediaType : DOWNLOADED};base64,${data}`
        : null;
  if (isImage && source !== null)
    return <img class="shown-image" src={source} alt="Image in this message" loading="lazy" />;
  const name = safeLine(block.type === "file" ? (block.name ?? mediaType) : mediaType);
  return source === null ? (
    <p class="muted">[{name}]</p>
  ) : (
    <p>
      <a class="link" href={source} download={name}>
        <Icon name="file" /> {name}
      </a>
    </p>
  );
}

/** The blocks of a message but for its calls, which are cards. */
export function MessageBody({
  content,
  conversation,
  isCut = false,
}: {
  /** Long texts and bytes are not all here. */
  readonly isCut?: boolean;
  readonly content: readonly ContentBlock[];
  readonly conversation: string;
}): JSX.Element {
  return (
    <>
      {content.map((block, at) => {
        if (block.type === "text") return <Words key={at} text={block.text} />;
        if (block.type === "thinking") return <Thinking key={at} text={block.thinking} />;
        if (block.type === "redactedThinking")
          return (
            <p key={at} class="faint">
              Encrypted thinking (readable by its provider only)
            </p>
          );
        if (block.type === "image" || block.type === "audio" || block.type === "file")
          return <Media key={at} block={block} conversation={conversation} isCut={isCut} />;
        return block.type === "toolCall" ? null : (
          <p key={at} class="faint">
            [{safeLine(block.type)}]
          </p>
        );
      })}
    </>
  );
}
