import { LogError } from "#log/errors";
import { LINK_TOKEN } from "#edges/http/access/grant";
import { StoredLinks } from "#edges/http/access/stored-links";
import type { Right } from "#edges/http/routes/route";
import { answer, type Command } from "#edges/cli/command";

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
