import type { Command } from '../../../src/cli/command.ts';

type Shell = 'bash' | 'zsh' | 'fish';
const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

/** Makes the command that prints the completion of all commands. @param commands without this one */
export function completionOf(commands: readonly Command[]): Command {
  const completion: Command = {
    name: 'completion',
    summary: 'Prints the completion for a shell',
    positionals: ['SHELL'],
    options: { json: { description: 'Print an object with the script' } },
    details: `bash: fatoura completion bash > ~/.local/share/bash-completion/completions/fatoura
zsh:  fatoura completion zsh > "\${fpath[1]}/_fatoura"
fish: fatoura completion fish > ~/.config/fish/completions/fatoura.fish`,
    async run(input, { terminal }) {
      const shell = SHELLS.find((each) => each === input.get('SHELL'));
      if (!shell) throw new Error(`SHELL must be ${SHELLS.join(', ')}`);
      const script = SCRIPTS[shell]([...commands, completion]);
      terminal.print(input.has('json') ? JSON.stringify({ shell, script }) : script);
      return 0;
    },
  };
  return completion;
}

/** What may follow some words: further words of commands, or options and their values. */
interface Step {
  /** The words so far, with spaces: empty at first. */
  readonly after: string;
  readonly words: readonly string[];
}

function stepsOf(commands: readonly Command[]): Step[] {
  const steps = new Map<string, Set<string>>([['', new Set(['help', '--version', '--help'])]]);
  const add = (before: readonly string[], word: string) => {
    const after = before.join(' ');
    steps.set(after, (steps.get(after) ?? new Set()).add(word));
  };
  for (const { name, options, positionals } of commands) {
    const words = name.split(' ');
    words.forEach((word, index) => {
      add(words.slice(0, index), word);
      add(['help', ...words.slice(0, index)], word);
    });
    // Nothing follows the whole name of a command that is explained.
    steps.set(`help ${name}`, steps.get(`help ${name}`) ?? new Set());
    const further = [...Object.keys(options), 'help'].map((option) => `--${option}`);
    if (positionals[0] === 'SHELL') further.unshift(...SHELLS);
    steps.set(name, new Set([...(steps.get(name) ?? []), ...further]));
  }
  return [...steps].map(([after, words]) => ({ after, words: [...words] }));
}

/** What prints the names that may follow `--profile`. */
const PROFILE_NAMES = 'fatoura profiles --names 2>/dev/null';

/** Options with few values, by their names; a name has the same values in each command. */
function choicesOf(commands: readonly Command[]): [string, readonly string[]][] {
  const choices = new Map<string, readonly string[]>();
  for (const { options } of commands)
    for (const [name, option] of Object.entries(options)) if (option.choices) choices.set(name, option.choices);
  return [...choices];
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `# Completion of fatoura for bash.
_fatoura() {
  local word=\${COMP_WORDS[COMP_CWORD]} path= each
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
    --profile) COMPREPLY=($(compgen -W "$(${PROFILE_NAMES})" -- "$word")); return ;;
${choicesOf(commands)
  .map(([name, values]) => `    --${name}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word")); return ;;`)
  .join('\n')}
  esac
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $each == -* ]] && break
    path="\${path:+$path }$each"
  done
  while :; do
    case $path in
${stepsOf(commands)
  .map(({ after, words }) => `      '${after}') COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$word")); return ;;`)
  .join('\n')}
    esac
    [[ $path == *' '* ]] || return
    path=\${path% *}
  done
}
complete -o default -F _fatoura fatoura`,
  zsh: (commands) => `#compdef fatoura
# Completion of fatoura for zsh.
_fatoura() {
  local path= each
  case \${words[CURRENT-1]} in
    --profile) compadd -- \${(f)"$(${PROFILE_NAMES})"}; return ;;
${choicesOf(commands)
  .map(([name, values]) => `    --${name}) compadd -- ${values.join(' ')}; return ;;`)
  .join('\n')}
  esac
  for each in "\${(@)words[2,CURRENT-1]}"; do
    [[ $each == -* ]] && break
    path="\${path:+$path }$each"
  done
  while :; do
    case $path in
${stepsOf(commands)
  .map(({ after, words }) => `      '${after}') compadd -- ${words.join(' ')}; _files; return ;;`)
  .join('\n')}
    esac
    [[ $path == *' '* ]] || { _files; return }
    path=\${path% *}
  done
}
_fatoura "$@"`,
  fish: (commands) =>
    [
      '# Completion of fatoura for fish.',
      `complete -c fatoura -n __fish_use_subcommand -a help -d 'Explains a command'`,
      `complete -c fatoura -n '__fish_seen_subcommand_from help' -xa ${quoted(firstWordsOf(commands).join(' '))}`,
      ...commands.flatMap(({ name, summary, options }) => {
        const [first = '', second] = name.split(' ');
        const group = commands.find((each) => each.name.startsWith(`${first} `));
        const described = `-d ${quoted(second === undefined ? summary : `Commands of ${first}`)}`;
        const isSeen = second === undefined ? `__fish_seen_subcommand_from ${first}` : null;
        const chosen = isSeen ?? `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
        return [
          ...(second === undefined || group?.name === name
            ? [`complete -c fatoura -n __fish_use_subcommand -a ${first} ${described}`]
            : []),
          ...(second === undefined
            ? []
            : [`complete -c fatoura -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(summary)}`]),
          ...Object.entries(options).map(([option, { description, value, choices }]) => {
            const known = option === 'profile' ? `(${PROFILE_NAMES})` : choices?.join(' ');
            const values = known ? ` -xa ${quoted(known)}` : value === undefined ? '' : ' -r';
            return `complete -c fatoura -n '${chosen}' -l ${option}${values} -d ${quoted(description)}`;
          }),
        ];
      }),
    ].join('\n'),
};

function firstWordsOf(commands: readonly Command[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

/** Quotes a text for fish. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
