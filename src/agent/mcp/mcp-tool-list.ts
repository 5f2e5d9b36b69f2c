import { createHash } from "node:crypto";
import { type Fields, fieldsIn, fieldsOf, textIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { toolDefinition } from "#agent/tools/tool-schema";
import { errorText } from "#turn/effects/tool-output";

/** A tool that a server offers, as far as it can be believed. */
export interface OfferedTool {
  /** The server's own name of it. */
  readonly own: string;
  /** What models call it. */
  readonly name: string;
  readonly description: string;
  readonly schema: Fields;
  /** It says that it changes nothing. */
  readonly readsOnly: boolean;
  /** It says that doing it twice is doing it once. */
  readonly isIdempotent: boolean;
}

export interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** Problems with tools that are omitted, for the user. */
  readonly issues: readonly string[];
}

const NAME_CHARS_MAX = 64; // what every provider takes
const OWN_NAME_CHARS_MAX = 256;
const DIGEST_CHARS = 8;
const DESCRIPTION_CHARS_MAX = 4_096;
const SCHEMA_CHARS_MAX = 65_536;
const TOOLS_MAX = 128;

/** The same name for the same tool, in whichever order servers and tools come; no two tools have one. */
export function toolName(server: string, own: string): string {
  const plain = `${server}__${own}`;
  // What could be read in two ways, or is no name for providers, is told apart by its digest.
  const isPlain =
    plain.length <= NAME_CHARS_MAX &&
    /^[A-Za-z0-9_-]+$/.test(plain) &&
    !server.includes("__") &&
    !server.endsWith("_");
  if (isPlain) return plain;
  const digest = createHash("sha256")
    .update(JSON.stringify([server, own]))
    .digest("hex");
  const start = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1);
  return `${start}_${digest.slice(0, DIGEST_CHARS)}`;
}

/** What of a server's list can be told to a model. One tool that cannot costs none of the others. */
export function offeredTools(server: string, records: readonly Json[]): OfferedTools {
  const tools = new Map<string, OfferedTool>();
  const issues: string[] = [];
  for (const one of records) {
    if (tools.size === TOOLS_MAX) {
      issues.push(`it has more than ${TOOLS_MAX} tools. The rest are skipped.`);
      break;
    }
    const fields = fieldsOf(one);
    const own = textIn(fields["name"]);
    if (own === null || own === "" || own.length > OWN_NAME_CHARS_MAX) {
      issues.push("skipped a tool without a name");
      continue;
    }
    const name = toolName(server, own);
    const problem = tools.has(name) ? "the name occurs twice" : schemaProblem(name, fields["inputSchema"]);
    if (problem === null) tools.set(name, offeredTool({ own, name, server }, fields));
    else issues.push(`skipped ${name}: ${problem}`);
  }
  return { tools: [...tools.values()], issues };
}

function offeredTool(
  { own, name, server }: { readonly own: string; readonly name: string; readonly server: string },
  fields: Fields,
): OfferedTool {
  const { readOnlyHint, idempotentHint } = fieldsOf(fields["annotations"]);
  const text = wordsIn(fields["description"]).toWellFormed();
  const shortText =
    text.length > DESCRIPTION_CHARS_MAX ? `${text.slice(0, DESCRIPTION_CHARS_MAX).toWellFormed()}…` : text;
  return {
    own,
    name,
    description: `A tool of the MCP server ${server}. The server's description: ${shortText}`,
    schema: fieldsOf(fields["inputSchema"]),
    readsOnly: readOnlyHint === true,
    isIdempotent: idempotentHint === true,
  };
}

function schemaProblem(name: string, schema: Json | undefined): string | null {
  const inputSchema = fieldsIn(schema);
  if (inputSchema === null) return "it has no input schema";
  if (JSON.stringify(inputSchema).length > SCHEMA_CHARS_MAX)
    return `its input schema has more than ${SCHEMA_CHARS_MAX} characters`;
  try {
    toolDefinition({ name, inputSchema, run: async () => "" });
    return null;
  } catch (error) {
    return errorText(error);
  }
}
