import { entryLine } from "#log/codec";
import { type Member, objectText } from "#log/json/json-text";
import type { ExactRun } from "#conversation/runs/hydrate";
import { contextMembers, memberText } from "#transfer/context-text";
import { SCHEMA_VERSION } from "#transfer/schema-version";

/** A run that was hydrated as one JSON object in which all that was given stands as the text it was given in. */
export function hydratedText(hydrated: ExactRun): string {
  const { run, seeds, messages, context, state, totals, exact } = hydrated;
  const seed = exact.seed === null ? undefined : memberText(exact.seed, "messages");
  const members = contextMembers({ ...context, settings: exact.settings, entries: exact.entries() });
  const system: Member = { name: "system", text: JSON.stringify(context.system) };
  return objectText([
    { name: "schemaVersion", text: String(SCHEMA_VERSION) },
    { name: "run", text: JSON.stringify(run) },
    { name: "seeds", text: seed ?? JSON.stringify(seeds) },
    { name: "messages", text: `[${messages.map((message) => entryLine(message)).join(",")}]` },
    { name: "context", text: objectText([system, ...members]) },
    {
      name: "state",
      text: members.find(({ name }) => name === "state")?.text ?? JSON.stringify(state),
    },
    { name: "totals", text: JSON.stringify(totals) },
  ]);
}
