import { type Fields, fieldsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { HostRequest } from "./host-request.ts";
import { BadRequest } from "./rpc-error.ts";

/** What an option must be, in words for the host, and the check. */
interface OptionKind {
  readonly is: string;
  fits(value: Json): boolean;
}

const TEXT: OptionKind = { is: "a string", fits: (value) => typeof value === "string" };
const FLAG: OptionKind = { is: "true or false", fits: (value) => typeof value === "boolean" };
const LIST: OptionKind = { is: "a list", fits: (value) => Array.isArray(value) };
const PLACE: OptionKind = {
  is: "an id, or a whole number from 1",
  fits: (value) =>
    typeof value === "string" || (typeof value === "number" && Number.isInteger(value) && value >= 1),
};

type Options = { readonly [name: string]: OptionKind };

/** The options that each method takes in `_meta.holdfast`. */
const OPTIONS: { readonly [method: string]: Options } = {
  "session/prompt": { edit: PLACE, fork: FLAG, resume: PLACE, force: FLAG },
  "session/fork": { at: TEXT },
  "session/load": { history: LIST },
  "session/resume": { history: LIST },
  logout: { agent: TEXT, keepContext: FLAG },
};

/** What a request has in `_meta.holdfast`: a misspelled or malformed option would be ignored, so it is refused. */
export function optionsIn(request: HostRequest): Fields {
  const given = request.value("_meta", "holdfast");
  if (given === undefined) return {};
  const known = OPTIONS[request.method] ?? {};
  const fields = fieldsIn(given);
  if (fields === null) throw wrong(request, "_meta.holdfast must be an object", known);
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) throw wrong(request, `Unknown option _meta.holdfast.${name}`, known);
    if (!kind.fits(value)) throw wrong(request, `_meta.holdfast.${name} must be ${kind.is}`, known);
  }
  return fields;
}

function wrong({ method }: HostRequest, what: string, known: Options): BadRequest {
  return new BadRequest(`${what}. ${method} takes ${Object.keys(known).join(", ")}. Nothing was sent.`);
}
