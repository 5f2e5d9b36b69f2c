import { LogError } from "#log/errors";
import { type StoredToken, StoredTokens } from "#edges/http/access/stored-tokens";
import type { Right } from "#edges/http/routes/route";
import { type Call, type Command, answer, jsonLine, remark } from "#edges/cli/command";
import { pad, safeLine } from "#edges/cli/terminal/terminal";
import { LINK_TOKEN } from "#edges/http/access/grant";
import { StoredLinks } from "#edges/http/access/stored-links";

export const tokenCommand: Command = {
  name: "token",
  summary: "Makes, lists and removes the tokens that `serve` lets in",
  usage: ["add NAME [--rights read|write|admin|metrics]", "[ls]", "rm NAME"],
  about: `A token is for one space, that of --space. It is printed once, when it is made; the store keeps
its hash alone. One that is removed works nowhere a second later, whichever process serves the
store. Who wrote what is in the audit log, by the token's name: GET /api/audit.

  --rights  read (unless told): everything there is in the space
            write: also prompts, entries, forks, labels and memory
            admin: also the audit log, the figures, and entries about the server's own folders and agents
            metrics: the figures of the process alone, at GET /metrics`,
  examples: ["holdfast token add laptop --rights write", "holdfast token ls", "holdfast token rm laptop"],
  options: { rights: { type: "string" } },
  writes: true,
  arity: [0, 2],
  async run(call) {
    const [verb = "ls", name] = call.args;
    if (verb === "ls" && name === undefined) return list(call);
    if (verb === "add" && name !== undefined) return add(call, name);
    if (verb === "rm" && name !== undefined) return remove(call, name);
    throw new LogError("invalid_request", "token takes add and a name, ls, or rm and a name");
  },
};

async function add(call: Call, token: string): Promise<void> {
  const rights = (call.flags.text("rights") ?? "read") as Right;
  const tokens = new StoredTokens(await call.open());
  const { secret, token: stored } = await tokens.add({ token, space: call.space, rights });
  return answer(
    call,
    { ...stored, secret },
    () =>
      `${secret}\nThis is ${stored.token}, with the right to ${stored.rights} in the space ${stored.space}. It is not shown again.`,
  );
}

async function list(call: Call): Promise<void> {
  const tokens = await new StoredTokens(await call.open({ readOnly: true })).list();
  if (call.json) for (const one of tokens) await call.io.out.write(jsonLine(one));
  else if (tokens.length === 0)
    await remark(call, "There are no tokens. `holdfast token add NAME` makes one.");
  else await call.io.out.write(tokens.map((one) => `${row(one)}\n`).join(""));
}

function row({ token, rights, space, addedAt }: StoredToken): string {
  return [pad(safeLine(token), 20), pad(rights, 5), pad(safeLine(space), 20), safeLine(addedAt)].join("  ");
}

async function remove(call: Call, token: string): Promise<void> {
  const removed = await new StoredTokens(await call.open()).remove(token);
  if (!removed)
    throw new LogError("invalid_request", `There is no token ${token}; nothing was changed`, { token });
  return answer(call, { token, removed }, () => `Removed ${safeLine(token)}`);
}

export const linkCommand: Command = {
  name: "link",
  summary: "Prints a link that opens the web UI of a server that runs",
  usage: ["URL [--rights read|write|admin]"],
  about: `For a server that somebody else started: a service, a container. URL is its address, or --public-url where it
has one. The link opens one browser, once, within five minutes, for the space of --space; any server on the
store accepts it, except with --read-only. The browser stays signed in for a day.

  --rights  what the browser may do: read, write or admin (default: admin)`,
  examples: ["holdfast link http://127.0.0.1:8080", "holdfast link https://agents.example --rights read"],
  options: { rights: { type: "string" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const [text = ""] = call.args;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "")
      throw new LogError(
        "invalid_request",
        `A server has an address such as http://127.0.0.1:8080, not "${text}"`,
      );
    const rights = (call.flags.text("rights") ?? "admin") as Right;
    const { space } = call;
    const code = await new StoredLinks(await call.open()).add({ token: LINK_TOKEN, space, rights });
    const launch = `${url.origin}/launch?code=${code}`;
    return answer(call, { launch, space, rights }, () => launch);
  },
};
