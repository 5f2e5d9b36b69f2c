import { LogError } from "#log/errors";
import { type Command, jsonLine } from "#edges/cli/command";
import { commandHelp, overview } from "#edges/cli/view/help-text";
import { nearest } from "#edges/cli/nearest";

export function helpCommand(commands: readonly Command[]): Command {
  return {
    name: "help",
    summary: "Explains a command",
    usage: ["[COMMAND]"],
    about: "Without a command it lists them all.",
    examples: ["holdfast help", "holdfast help append"],
    options: {},
    arity: [0, 1],
    async run(call) {
      const { io, args, json } = call;
      const [name] = args;
      const found = commands.find((command) => command.name === name);
      if (name !== undefined && found === undefined) {
        const near = nearest(
          name,
          commands.map((command) => command.name),
        );
        throw new LogError(
          "invalid_request",
          `There is no command "${name}".${near === null ? "" : ` Did you mean \`${near}\`?`}`,
        );
      }
      if (json) {
        const listed = (found === undefined ? commands : [found]).map(
          ({ name: word, summary, usage, examples }) => ({ name: word, summary, usage, examples }),
        );
        return io.out.write(jsonLine({ commands: listed }));
      }
      return io.out.write(
        found === undefined ? overview(commands, io.out.style) : commandHelp(found, io.out.style),
      );
    },
  };
}
