import type { Command } from 'commander';
import { CommandFailure, EXIT } from './failure.js';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_posthorn() { COMPREPLY=($(compgen -W "$(posthorn completion words "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}")); }
complete -o default -F _posthorn posthorn
`,
  zsh: `#compdef posthorn
_posthorn() { local -a found; found=(\${(f)"$(posthorn completion words "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"}); compadd -a found; }
compdef _posthorn posthorn
`,
  fish: `complete -c posthorn -f -a '(posthorn completion words (commandline -opc)[2..-1] 2>/dev/null)'
`,
};

/** Adds the command `completion bash | zsh | fish`, and the hidden command that the generated scripts call. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a shell completion script')
    .argument('<shell>', 'bash, zsh or fish')
    .argument('[words...]')
    .allowUnknownOption()
    .addHelpText(
      'after',
      '\nExamples:\n  source <(posthorn completion bash)\n  posthorn completion fish > ~/.config/fish/completions/posthorn.fish',
    )
    .action((shell: string, words: string[]) => {
      if (shell === 'words') return void process.stdout.write(`${wordsAfter(program, words).join('\n')}\n`);
      const script = SCRIPTS[shell];
      if (script === undefined) throw new CommandFailure('The shell must be bash, zsh or fish.', EXIT.usage);
      process.stdout.write(script);
    });
}

export function wordsAfter(program: Command, words: readonly string[]): string[] {
  let at = program;
  for (const word of words) at = at.commands.find((command) => command.name() === word) ?? at;
  const options = [...at.options, ...(at === program ? [] : program.options)]
    .map(({ long }) => long)
    .filter((long) => long !== undefined && long !== null);
  return [...at.commands.map((command) => command.name()), ...options, '--help'];
}
