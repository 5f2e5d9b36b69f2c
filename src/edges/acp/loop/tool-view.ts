import { resolve } from "node:path";
import { type Fields, fieldsOf, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const TITLE_CHARS = 120;

const KINDS: { readonly [tool: string]: string } = {
  read: "read",
  write: "edit",
  edit: "edit",
  search: "search",
  shell: "execute",
};

/** What a host shows of a call: a title, its kind, the file it is about, and a change of a file as such. */
export function toolView(call: { readonly name: string; readonly input: Json }, cwd: string | null): Fields {
  const { name } = call;
  const input = fieldsOf(call.input);
  const path = textIn(input["path"]);
  const about = path ?? textIn(input["command"]) ?? textIn(input["pattern"]);
  const title = about === null ? name : `${name} ${about}`.replaceAll(/\s+/g, " ");
  const place = path === null ? null : cwd === null ? absolute(path) : resolve(cwd, path);
  const change = place === null ? null : changeOf(name, input, place);
  return {
    title: title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1).toWellFormed()}…` : title,
    kind: (Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? "other",
    ...(place === null ? {} : { locations: [{ path: place }] }),
    ...(change === null ? {} : { content: [change] }),
  };
}

function absolute(path: string): string | null {
  return path.startsWith("/") ? path : null;
}

function changeOf(name: string, input: Fields, path: string): Fields | null {
  const [content, before, after] = ["content", "old", "new"].map((part) => textIn(input[part]));
  if (name === "write" && content != null) return { type: "diff", path, oldText: null, newText: content };
  if (name === "edit" && before != null && after != null)
    return { type: "diff", path, oldText: before, newText: after };
  return null;
}
