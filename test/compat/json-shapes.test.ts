/**
 * Goal: scripts that read `--json` keep working. Method: json-shapes.json has the fields, exit status and error code of each command
 * below, as they were before operations became one table; a command may add fields, and drops or retypes none.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/temp-dir.ts";
import { holdfastHere } from "../edges/cli/cli-here.ts";
import { user } from "../support/a-log.ts";

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

interface RecordedCommand {
  readonly command: string;
  readonly status: number;
  readonly error: string | null;
  readonly output: Shape;
}

const RECORD = JSON.parse(
  readFileSync(join(import.meta.dirname, "json-shapes.json"), "utf8"),
) as readonly RecordedCommand[];

const answer = (text: string, ...calls: readonly object[]): object => ({
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "text", text }, ...calls],
    model: "sim/sim",
    usage: { inputTokens: 3, outputTokens: 2 },
  },
});

const CALL = { type: "toolCall", id: "c1", name: "mail", input: { to: "x" } };
const ENTRIES = [user("Hello there"), answer("Hi, here"), user("Send it"), answer("Sending", CALL)]
  .map((entry) => `${JSON.stringify(entry)}\n`)
  .join("");

/** The fields of the recorded shape that a value lacks or has in another type. */
function missingIn(value: unknown, shape: Shape, place: string): readonly string[] {
  if (typeof shape === "string") {
    const type = value === null ? "null" : typeof value;
    return type === shape ? [] : [`${place}: ${type} in place of ${shape}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${place}: not a list`];
    return (shape as readonly Shape[]).flatMap((item, index) =>
      value.some((one) => missingIn(one, item, place).length === 0)
        ? []
        : [`${place}[]: nothing is like recorded item ${index}`],
    );
  }
  if (typeof value !== "object" || value === null) return [`${place}: not an object`];
  return Object.entries(shape).flatMap(([name, inner]) =>
    name in value
      ? missingIn((value as { readonly [name: string]: unknown })[name], inner, `${place}.${name}`)
      : [`${place}.${name}: missing`],
  );
}

function valuesIn(text: string): readonly { readonly [name: string]: unknown }[] {
  if (text.trim() === "") return [];
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .trim()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  }
}

function codeIn({ error }: { readonly [name: string]: unknown }): readonly string[] {
  return typeof error === "object" && error !== null && "code" in error ? [String(error.code)] : [];
}

test("--json has every recorded field, status and error code", async () => {
  using temp = tempDir();
  const names: { [name: string]: string } = { dir: temp.path };
  const findings: string[] = [];
  for (const { command, status, error, output } of RECORD) {
    const argv = command
      .split(" ")
      .map((word) => word.replace(/\$(\w+)/, (_, name: string) => names[name] ?? ""));
    const result = await holdfastHere(`sqlite:${join(temp.path, "h.db")}`, [...argv, "--json"], {
      input: argv[0] === "append" ? ENTRIES : "",
      env: { HOME: temp.path },
    });
    const values = valuesIn(result.out);
    const code = valuesIn(result.err).flatMap(codeIn)[0] ?? null;
    if (result.status !== status || code !== error)
      findings.push(`${command}: ${result.status} ${code} in place of ${status} ${error}`);
    findings.push(...missingIn(values, output, command));
    const prompt = values.find((value) => value["type"] === "message");
    if (command === "log a" && prompt !== undefined) names["entry"] = String(prompt["id"]);
    if (command === "runs c") names["run"] = String(values[0]?.["run"] ?? values[0]?.["id"]);
  }
  expect(findings).toEqual([]);
});
