import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { importBundle, type ImportOptions } from "#transfer/bundles/import-bundle";
import type { ImportFile } from "#transfer/bundles/open-import";
import { type ExportOptions, exportLines } from "#transfer/bundles/export-lines";

const EXPORTED_AT = "2026-01-01T12:00:00.000Z";

/** What an export of these conversations writes. */
export async function bundleText(
  conversations: readonly Conversation[],
  options: Partial<ExportOptions> = {},
): Promise<string> {
  const how = { exportedAt: EXPORTED_AT, onMissing: () => undefined, ...options };
  let text = "";
  for await (const line of exportLines(conversations, how)) text += `${line.text}\n`;
  return text;
}

export function fileOfText(bytes: Uint8Array | string): ImportFile {
  return {
    name: "file",
    async *chunks() {
      yield typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    },
  };
}

/** Imports a text, and gives the first conversation of it. */
export async function bring(
  holdfast: Holdfast,
  text: string,
  options: ImportOptions = {},
): Promise<Conversation> {
  const { conversations } = await importBundle(holdfast, fileOfText(text), options);
  return holdfast.conversation(conversations[0]?.conversation ?? "");
}

/** The file as versions before wrote it: its last line holds the header alone. */
export function withOldEnd(text: string): string {
  return text.replace(/^(\{"type":"end","header":"[0-9a-f]{64}").*\}$/m, "$1}");
}
