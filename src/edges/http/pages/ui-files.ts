import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { answerOf, type HttpAnswer, type HttpRequest } from "#edges/http/exchange";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};
const ASSET = /^\/assets\/([\w-][\w.-]*)$/;
const PAGE = /^\/(?!(?:api|assets|launch|metrics)(?:\/|$))/;
// A name with a hash of what it holds never holds anything else.
const FOREVER = "public, max-age=31536000, immutable";

/**
 * The pages of the web UI, as they were built into a folder. They hold nothing of anybody's, so they need no token: what a page shows
 * it asks for by the cookie. No part of a path reaches the disk but a plain name.
 */
export class UiFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The page or the part of it that a request is for; null: it is for something else. `limit` throws where too many are asked for. */
  async find({ method, url }: HttpRequest, limit: () => void): Promise<HttpAnswer | null> {
    if (method !== "GET") return null;
    const { pathname } = url;
    const [, name] = ASSET.exec(pathname) ?? [];
    if (name === undefined && !PAGE.test(pathname)) return null;
    limit();
    // Every address of the UI is the same page, which finds out by itself what it is to show.
    return name === undefined
      ? this.#file("index.html", "no-cache")
      : this.#file(join("assets", name), FOREVER);
  }

  async #file(path: string, caching: string): Promise<HttpAnswer | null> {
    const type = TYPES[extname(path)];
    if (type === undefined) return null;
    const bytes = await readFile(join(this.#folder, path)).catch(() => null);
    if (bytes === null) return null;
    const headers = { "content-type": type, "cache-control": caching };
    return answerOf(new Response(Uint8Array.from(bytes), { headers }));
  }
}
