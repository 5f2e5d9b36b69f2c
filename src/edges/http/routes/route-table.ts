import type { Route } from "./route.ts";

type Methods<Name> = ReadonlyMap<string, readonly [Name, Route]>;

interface Branch<Name> {
  readonly literals: Map<string, Branch<Name>>;
  /** What follows a parameter. */
  any: Branch<Name> | null;
  readonly methods: Map<string, readonly [Name, Route]>;
  /** Of the parameters of its path, in their order. */
  names: readonly string[];
}

export interface FoundPath<Name> {
  /** Its operations, by method. */
  readonly methods: Methods<Name>;
  readonly params: { readonly [name: string]: string };
}

/** Finds the operations of a path: one segment after the other, a literal before a parameter. */
export class RouteTable<Name> {
  readonly #root: Branch<Name> = emptyBranch();

  constructor(operations: Iterable<readonly [Name, Route]>) {
    for (const operation of operations) {
      const [, { method, path }] = operation;
      let branch = this.#root;
      const names: string[] = [];
      for (const segment of segmentsOf(path)) {
        const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
        const next = (name === undefined ? branch.literals.get(segment) : branch.any) ?? emptyBranch<Name>();
        if (name === undefined) branch.literals.set(segment, next);
        else {
          names.push(name);
          branch.any = next;
        }
        branch = next;
      }
      branch.names = names;
      branch.methods.set(method, operation);
    }
  }

  find(path: string): FoundPath<Name> | null {
    const values: string[] = [];
    const found = walk(this.#root, [segmentsOf(path), 0], values);
    if (found === null) return null;
    const params = Object.fromEntries(found.names.map((name, at) => [name, decoded(values[at] ?? "")]));
    return { methods: found.methods, params };
  }
}

function emptyBranch<Name>(): Branch<Name> {
  return { literals: new Map(), any: null, methods: new Map(), names: [] };
}

function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split("/");
}

/** From one segment on; `values` receives those of the parameters. */
function walk<Name>(
  branch: Branch<Name>,
  [segments, at]: readonly [readonly string[], number],
  values: string[],
): Branch<Name> | null {
  const segment = segments[at];
  if (segment === undefined) return branch.methods.size > 0 ? branch : null;
  const literal = branch.literals.get(segment);
  const found = literal === undefined ? null : walk(literal, [segments, at + 1], values);
  if (found !== null || branch.any === null || segment === "") return found;
  values.push(segment);
  const followed = walk(branch.any, [segments, at + 1], values);
  if (followed === null) values.pop();
  return followed;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no id has such a form
  }
}
