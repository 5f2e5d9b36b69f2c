import { LogError } from "#log/errors";
import { type StoredToken, StoredTokens } from "#edges/http/access/stored-tokens";
import type { Right } from "#edges/http/routes/route";
import { type Command, answer, commandGroup, jsonLine, remark } from "#edges/cli/command";
import { pad, safeLine } from "#edges/cli/terminal/terminal";
import { LINK_TOKEN } from "#edges/http/access/grant";
import { StoredLinks } from "#edges/http/access/stored-links";

const ABOUT = `A token is for one space. Holdfast prints it once and stores only its hash. A removed token stops
working within a second, in every process. The audit log names the token of every write:
\`holdfast audit\`.`;

const listTokens: Command = {
  name: "token ls",
  summary: "List tokens",
  forms: [""],
  about: ABOUT,
  examples: ["holdfast token ls"],
  options: {},
  async run(call) {
    const tokens = await new StoredTokens(await call.open({ readOnly: true })).list();
    if (call.json) for (const token of tokens) await call.io.out.write(jsonLine(token));
    else if (tokens.length === 0) await remark(call, "No tokens yet. `holdfast token add NAME` creates one.");
    else await call.io.out.write(tokens.map((token) => `${row(token)}\n`).join(""));
  },
};

const addToken: Command = {
  name: "token add",
  summary: "Create a token and print it",
  forms: ["NAME"],
  about: ABOUT,
  examples: ["holdfast token add laptop --rights write", "TOKEN=$(holdfast token add laptop --rights write)"],
  options: {
    "--rights read|write|admin|metrics":
      "read (default): everything in the space; write: also prompts, entries, forks, labels and memory; admin: also the audit log, server metrics, and the server's folders and agents; metrics: GET /metrics only",
  },
  writes: true,
  async run(call) {
    const [token = ""] = call.args;
    const rights = (call.flags.text("rights") ?? "read") as Right;
    const tokens = new StoredTokens(await call.open());
    const { secret, token: stored } = await tokens.add({ token, space: call.space, rights });
    await answer(call, { ...stored, secret }, () => secret);
    if (!call.json)
      await remark(
        call,
        `Created token "${safeLine(stored.token)}" (${stored.rights}, space ${stored.space}). Copy it now: it won't be shown again.`,
      );
  },
};

const removeToken: Command = {
  name: "token rm",
  summary: "Remove a token",
  forms: ["NAME"],
  about: ABOUT,
  examples: ["holdfast token rm laptop"],
  options: {},
  writes: true,
  async run(call) {
    const [token = ""] = call.args;
    const removed = await new StoredTokens(await call.open()).remove(token);
    if (!removed)
      throw new LogError("invalid_request", `Unknown token "${token}". \`holdfast token ls\` lists tokens`, {
        token,
      });
    return answer(call, { token, removed }, () => `Removed ${safeLine(token)}`);
  },
};

export const tokenCommand: Command = commandGroup(
  {
    name: "token",
    summary: "Create, list and remove tokens for `serve`",
    about: ABOUT,
    examples: [...addToken.examples, ...listTokens.examples, ...removeToken.examples],
  },
  [listTokens, addToken, removeToken],
);

function row({ token, rights, space, addedAt }: StoredToken): string {
  return [pad(safeLine(token), 20), pad(rights, 5), pad(safeLine(space), 20), safeLine(addedAt)].join("  ");
}

export const linkCommand: Command = {
  name: "link",
  summary: "Print a link that opens the web UI of a running server",
  forms: ["URL"],
  about: `For a server that runs as a service or in a container. URL is its address, or its --public-url. The
link opens one browser, once, within five minutes, for the space of --space. Any server on the
store accepts it, except with --read-only. The browser stays signed in for a day.`,
  examples: ["holdfast link http://127.0.0.1:8080", "holdfast link https://agents.example --rights read"],
  options: { "--rights read|write|admin": "what the browser may do (default: admin)" },
  writes: true,
  async run(call) {
    const [text = ""] = call.args;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "")
      throw new LogError(
        "invalid_request",
        `Invalid URL "${text}". Use the URL of a server, such as http://127.0.0.1:8080`,
      );
    const rights = (call.flags.text("rights") ?? "admin") as Right;
    const { space } = call;
    const code = await new StoredLinks(await call.open()).add({ token: LINK_TOKEN, space, rights });
    const launch = `${url.origin}/launch?code=${code}`;
    return answer(call, { launch, space, rights }, () => launch);
  },
};
