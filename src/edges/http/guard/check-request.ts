import { LogError } from "#log/errors";
import { checkJsonObject } from "#log/json/json-text";
import type { HttpRequest } from "#edges/http/exchange";
import { KEY_HEADER, type Route, type RouteSchema } from "#edges/http/routes/route";
import { checkInput } from "#operations/operation";
import { type BodyLimits, checkUpload, readBody } from "./read-body.ts";

/** The parts of a request, each as its schema wants it. */
export interface CheckedRequest {
  readonly params: object;
  readonly query: object;
  readonly body: object;
  readonly bodyText: string;
  /** Bytes that are read as they are used; null where none are taken. */
  readonly upload: ReadableStream<Uint8Array> | null;
  readonly key: string | undefined;
}

const KEY = /^[\x21-\x7e]{1,200}$/;

/** Checks a request by its row of the table; what it may hold is there and nowhere else. */
export async function checkRequest(
  request: HttpRequest,
  route: Route,
  params: { readonly [name: string]: string },
  limits: BodyLimits,
): Promise<CheckedRequest> {
  const given = route.params === undefined ? {} : params;
  const query = request.url.search === "" ? {} : queryOf(request.url.searchParams, route.query);
  const key = request.headers.get(KEY_HEADER) ?? undefined;
  const problems = [
    ...(route.params?.problems(given) ?? []),
    ...(route.query === undefined ? unknownNames(query) : route.query.problems(query)),
    ...(key === undefined || KEY.test(key)
      ? []
      : [`${KEY_HEADER} must be 1 to 200 printable ASCII characters`]),
  ];
  checkInput(problems);
  const rest = { params: given, query, key };
  if (route.takes === "bytes") return { ...rest, body: {}, bodyText: "", upload: checkUpload(request) };
  if (route.body === undefined) return { ...rest, body: {}, bodyText: "", upload: null };
  const bodyText = await readBody(request, limits);
  const body = parsed(bodyText);
  checkInput(route.body.problems(body));
  return { ...rest, body, bodyText, upload: null };
}

function parsed(text: string): object {
  try {
    return checkJsonObject(text).value;
  } catch (cause) {
    throw new LogError(
      "invalid_request",
      `The body must be a JSON object: ${(cause as Error).message}`,
      {},
      { cause },
    );
  }
}

function queryOf(
  given: URLSearchParams,
  schema: RouteSchema | undefined,
): { readonly [name: string]: unknown } {
  const query: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of new Set(given.keys())) {
    const texts = given.getAll(name);
    const known = schema?.members;
    const member = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
    if (texts.length > 1 && member?.takesList !== true)
      throw new LogError("invalid_request", `Parameter ${name.slice(0, 100)} occurs more than once`);
    query[name] = member === undefined ? texts[0] : member.fromText(texts);
  }
  return query;
}

function unknownNames(query: object): readonly string[] {
  return Object.keys(query).map((name) => `Unknown parameter ${name.slice(0, 100)}`);
}
