import { type Fields, fieldsIn, listIn, textIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import type { ToolOutput } from "#turn/effects/tool";

const BLOCKS_MAX = 256;
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]); // what models are shown
const IMAGE_BYTES_MAX = 5_242_880; // what providers take
const URI_CHARS_MAX = 1_024;

/** What a server answered to a call, as a tool's output: text and images for the model, structured content beside it. */
export function outputOf(result: Json): ToolOutput {
  const fields = fieldsIn(result);
  if (fields === null || (fields["content"] !== undefined && !Array.isArray(fields["content"])))
    return { content: "The server answered something that is no result.", isError: true };
  const given = listIn(fields["content"]);
  const structured = fieldsIn(fields["structuredContent"]);
  const shown = given.slice(0, BLOCKS_MAX).map((block) => blockOf(block));
  const more: ContentBlock[] =
    given.length > BLOCKS_MAX ? [text(`[${given.length - BLOCKS_MAX} more parts left out]`)] : [];
  // A server that gives nothing to read has said it all in what it gives to programs.
  const instead = shown.length === 0 && structured !== null ? [text(JSON.stringify(structured))] : [];
  return {
    content: [...shown, ...more, ...instead],
    ...(structured === null ? {} : { details: { structured } }),
    ...(fields["isError"] === true ? { isError: true } : {}),
  };
}

function text(words: string): ContentBlock {
  return { type: "text", text: words };
}

function blockOf(block: Fields): ContentBlock {
  const { type } = block;
  if (type === "text") return text(wordsIn(block["text"]));
  if (type === "image" || type === "audio") return mediaOf(block["mimeType"], block["data"]);
  if (type === "resource_link") return text(`[A resource: ${nameOf(block)}]`);
  const resource = type === "resource" ? fieldsIn(block["resource"]) : null;
  if (resource === null) return text(`[A part of a kind that is not known here was left out]`);
  const words = textIn(resource["text"]);
  if (words !== null) return text(`[The resource ${nameOf(resource)}]\n${words}`);
  return mediaOf(resource["mimeType"], resource["blob"]);
}

function nameOf({ uri, name }: Fields): string {
  const [place, title] = [wordsIn(uri), wordsIn(name)].map((words) =>
    words.slice(0, URI_CHARS_MAX).toWellFormed(),
  );
  return [title, place].filter((words) => words !== "").join(" at ");
}

/** Images that a model can be shown; of other bytes only that they were there: one that no provider takes spoils every turn to come. */
function mediaOf(mimeType: Json | undefined, data: Json | undefined): ContentBlock {
  const mediaType = wordsIn(mimeType).slice(0, 100) || "data";
  const encoded = wordsIn(data);
  const bytes = Buffer.from(encoded, "base64");
  const isExact = bytes.length > 0 && bytes.toString("base64") === encoded;
  if (IMAGE_TYPES.has(mediaType) && isExact && bytes.length <= IMAGE_BYTES_MAX)
    return { type: "image", mediaType, data: encoded };
  return text(
    `[${isExact ? "" : "Broken "}${mediaType.toWellFormed()} of ${bytes.length} bytes was left out]`,
  );
}
