import { LogError } from "#log/errors";
import type { Command } from "./command.ts";
import { type LoadedRow, loadCommands } from "./commands.ts";
import { isShown } from "./help.ts";
import { GLOBAL_OPTIONS, type Option, optionsIn } from "./options.ts";

const SHELLS = ["bash", "zsh", "fish"];

export const completionCommand: Command = {
  name: "completion",
  summary: "Print a completion script for your shell",
  forms: ["SHELL"],
  about: `Completes commands, options and the words that options take. Add the line for your shell to its
startup file:

  bash: eval "$(holdfast completion bash)"      in ~/.bashrc
  zsh:  eval "$(holdfast completion zsh)"       in ~/.zshrc, after compinit
  fish: holdfast completion fish | source       in ~/.config/fish/config.fish`,
  examples: ['eval "$(holdfast completion bash)"'],
  options: {},
  async run({ args: [shell = ""], io }) {
    if (!SHELLS.includes(shell))
      throw new LogError("invalid_request", `Unknown shell "${shell}". Use ${SHELLS.join(", ")}`);
    const commands = (await loadCommands()).flatMap(completions);
    return io.out.write(shell === "fish" ? fishScript(commands) : bashScript(commands, shell === "zsh"));
  },
};

interface Completion {
  readonly name: string;
  readonly summary: string;
  /** The verbs that may follow. */
  readonly verbs: readonly string[];
  readonly options: readonly Option[];
}

function completions({ command, aliases }: LoadedRow): readonly Completion[] {
  const { summary, verbs = [] } = command;
  const options = optionsIn({ ...command.options, ...GLOBAL_OPTIONS }).filter(isShown);
  const words = verbs.map(({ name }) => name.slice(command.name.length + 1));
  const first = command.name === "completion" ? SHELLS : words;
  return [command.name, ...aliases].map((name) => ({ name, summary, verbs: first, options }));
}

/** zsh reads completions of bash. */
function bashScript(commands: readonly Completion[], isZsh: boolean): string {
  const names = commands.map(({ name }) => name).join(" ");
  const words = commands.map(({ name, verbs, options }) => {
    const flags = options.map((option) => `--${option.name}`);
    return `    ${name}) words="${[...verbs, ...flags].join(" ")}" ;;`;
  });
  const choices = new Map(
    commands.flatMap(({ options }) =>
      options
        .filter(({ choices: some }) => some.length > 0)
        .map((option) => [option.name, option.choices.join(" ")]),
    ),
  );
  const values = [...choices].map(([name, some]) => `    --${name}) words="${some}" ;;`);
  return `${isZsh ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}_holdfast() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  case "\${COMP_WORDS[1]}" in
${words.join("\n")}
    *) words="${names}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names}"; fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _holdfast holdfast
`;
}

function fishScript(commands: readonly Completion[]): string {
  const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const lines = commands.flatMap(({ name, summary, verbs, options }) => {
    const seen = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c holdfast -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
      ...verbs.map((verb) => `complete -c holdfast ${seen} -a ${verb}`),
      ...options.map(({ name: flag, short, value, choices, description }) => {
        const values = choices.length === 0 ? "" : ` -x -a ${quote(choices.join(" "))}`;
        const letter = short === null ? "" : ` -s ${short}`;
        return `complete -c holdfast ${seen} -l ${flag}${letter}${value !== null && values === "" ? " -r" : ""}${values} -d ${quote(description)}`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}
