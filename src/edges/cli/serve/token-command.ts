import { LogError } from "#log/errors";
import { type StoredToken, StoredTokens } from "#edges/http/access/stored-tokens";
import type { Right } from "#edges/http/routes/route";
import { answer, type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { pad, safeLine } from "#edges/cli/terminal/terminal";

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
  const { secret, token: made } = await tokens.add({ token, space: call.space, rights });
  return answer(
    call,
    { ...made, secret },
    () =>
      `${secret}\nThis is ${made.token}, with the right to ${made.rights} in the space ${made.space}. It is not shown again.`,
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
