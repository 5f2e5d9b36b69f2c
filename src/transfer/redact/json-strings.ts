import { readJson, stringEnd } from "#log/json/read-json";

/** Where a string stands in a value. */
export interface StringPlace {
  /** As a person would write it: `message.content[0].text`. */
  path(): string;
  /** The name of the member it is, or that the list is in which it stands; empty at the top, and of a name itself. */
  readonly member: string;
}

interface Level {
  readonly isList: boolean;
  /** The list's number of the item, or the object's member. */
  index: number;
  name: string;
  /** In an object: the next string is a name. */
  beforeName: boolean;
}

const PATH_MAX = 200; // a deep one says enough by its end

/**
 * The JSON with its strings changed, names of members among them. What is not a changed string stays as the text it was, every
 * digit of it. The text must be JSON.
 */
export function mapStrings(json: string, change: (text: string, place: StringPlace) => string): string {
  const levels: Level[] = [];
  let [mapped, from] = ["", 0];
  for (let at = 0; at < json.length; at++) {
    const level = levels.at(-1);
    switch (json.charAt(at)) {
      case "{":
      case "[": {
        const isList = json[at] === "[";
        levels.push({ isList, index: 0, name: "", beforeName: !isList });
        break;
      }
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        if (level !== undefined) [level.index, level.beforeName] = [level.index + 1, !level.isList];
        break;
      case '"': {
        const to = stringEnd(json, at) + 1;
        const token = json.slice(at, to);
        const text = readJson(token) as string;
        const isName = level?.beforeName === true;
        const changed = change(text, { member: isName ? "" : memberOf(levels), path: () => pathOf(levels) });
        if (isName) [level.name, level.beforeName] = [changed, false];
        if (changed !== text) {
          mapped += json.slice(from, at) + JSON.stringify(changed);
          from = to;
        }
        at = to - 1;
      }
    }
  }
  return mapped + json.slice(from);
}

function memberOf(levels: readonly Level[]): string {
  return levels.findLast(({ isList }) => !isList)?.name ?? "";
}

function pathOf(levels: readonly Level[]): string {
  let path = "";
  for (const { isList, index, name } of levels)
    path += isList ? `[${index}]` : `${path === "" ? "" : "."}${name}`;
  return path.length > PATH_MAX ? `…${path.slice(-PATH_MAX)}` : path;
}
