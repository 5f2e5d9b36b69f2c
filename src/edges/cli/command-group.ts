import type { ParseArgsOptionsConfig } from "node:util";
import { LogError } from "#log/errors";
import { type Call, checkArity, type Command } from "./command.ts";

/** A command of several verbs: the name of each begins with the group's, and the first is what a line without a verb means. */
export function commandGroup(
  view: Pick<Command, "name" | "summary" | "about" | "examples">,
  [first, ...others]: readonly [Command, ...Command[]],
): Command {
  const commands = [first, ...others];
  const verbOf = ({ name }: Command): string => name.slice(view.name.length + 1);
  const verbs = new Map(commands.map((command) => [verbOf(command), command]));
  return {
    ...view,
    usage: commands.flatMap((command) =>
      command.usage.map((usage) =>
        `${command === first ? `[${verbOf(command)}]` : verbOf(command)} ${usage}`.trimEnd(),
      ),
    ),
    options: Object.assign({}, ...commands.map(({ options }) => options)) as ParseArgsOptionsConfig,
    ...(commands.some(({ writes }) => writes === true) ? { writes: true } : {}),
    arity: [0, Number.POSITIVE_INFINITY],
    run(call: Call) {
      const [verb = verbOf(first), ...args] = call.args;
      const command = verbs.get(verb);
      if (command === undefined)
        throw new LogError(
          "invalid_request",
          `${view.name} takes ${[...verbs.keys()].join(", ")}, not "${verb}"`,
        );
      checkArity(command, args);
      return command.run({ ...call, args });
    },
  };
}
