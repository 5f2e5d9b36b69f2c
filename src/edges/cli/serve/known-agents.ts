import { LogError } from "#log/errors";
import type { AgentSpec } from "#edges/acp/agent/running-agent";
import { UNKNOWN_VENDOR, vendorOf } from "#vendors/known-vendors";
import { nativeRecords } from "#edges/cli/chat/native-records";

/** The agent that is built in: it needs no key and no network. */
export const SIMULATED = "simulated";

type Env = Readonly<Record<string, string | undefined>>;

/** What a command line says of its agents. */
interface AgentArguments {
  /** `--agent NAME=COMMAND` */
  readonly agents: readonly string[];
  /** What stands behind `--`. */
  readonly command: readonly string[];
  /** `--account NAME=ACCOUNT`, or `--account ACCOUNT` for the only agent. */
  readonly accounts: readonly string[];
}

export function agentsOf(
  { agents, command, accounts }: AgentArguments,
  env: Env,
): readonly [AgentSpec, ...AgentSpec[]] {
  const plain = command.length === 0 ? [] : [specOf(null, command, env)];
  const [first, ...others] = withAccounts(
    [...plain, ...agents.map((text) => parseAgent(text, env))],
    accounts,
  );
  if (first === undefined)
    throw new LogError(
      "invalid_request",
      "Say which agent to run: holdfast acp -- COMMAND, or --agent NAME=COMMAND",
    );
  const names = [first, ...others].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new LogError("invalid_request", `Two agents have the name ${twice}. Give each a different name.`);
  return [first, ...others];
}

function withAccounts(specs: readonly AgentSpec[], accounts: readonly string[]): readonly AgentSpec[] {
  const byName = new Map(accounts.map((text) => parseAccount(text, specs)));
  return specs.map((spec) => {
    const account = byName.get(spec.name);
    return account === undefined ? spec : { ...spec, account };
  });
}

function parseAccount(text: string, specs: readonly AgentSpec[]): readonly [string, string] {
  const separator = text.indexOf("=");
  const [only, ...others] = specs;
  const name = separator === -1 && others.length === 0 ? only?.name : text.slice(0, Math.max(separator, 0));
  const account = text.slice(separator + 1).trim();
  if (name !== undefined && account !== "" && specs.some((spec) => spec.name === name))
    return [name, account];
  throw new LogError(
    "invalid_request",
    `--account takes NAME=ACCOUNT, where NAME is one of ${specs.map((spec) => spec.name).join(", ")}, not "${text}"`,
  );
}

function parseAgent(text: string, env: Env): AgentSpec {
  const separator = text.indexOf("=");
  const name = text.slice(0, Math.max(separator, 0));
  const argv = splitWords(text.slice(separator + 1));
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || argv.length === 0)
    throw new LogError(
      "invalid_request",
      `--agent takes NAME=COMMAND, not "${text}"; a name has letters, digits, ".", "_" and "-"`,
    );
  return specOf(name, argv, env);
}

function specOf(name: string | null, argv: readonly string[], env: Env): AgentSpec {
  const [command = "", ...args] = argv;
  const vendor = vendorOf(name ?? "", argv);
  const defaultName = vendor === UNKNOWN_VENDOR ? "agent" : vendor.name;
  return {
    name: name ?? defaultName,
    vendor,
    command: { command, args, cwd: process.cwd(), env },
    native: nativeRecords(vendor, env),
  };
}

/** Words as a shell would part them, quotes and backslashes heeded, with nothing run or filled in. */
function splitWords(line: string): readonly string[] {
  const argv: string[] = [];
  let word: string | null = null;
  for (const part of line.matchAll(/\s+|"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^\s"'\\]+)|./gs)) {
    const [all, double, single, escaped, plain] = part;
    if (/^["']$/.test(all))
      throw new LogError("invalid_request", `A quote is not closed in the agent's command: ${line}`);
    if (/^\s+$/.test(all)) {
      if (word !== null) argv.push(word);
      word = null;
    } else
      word = (word ?? "") + (double?.replaceAll(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? plain ?? all);
  }
  return word === null ? argv : [...argv, word];
}
