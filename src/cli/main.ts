import { Command, CommanderError } from 'commander';
import { addDoctorCommand, ownVersion } from './commands/doctor.js';
import { addEventCommands } from './commands/events.js';
import { addJobCommands } from './commands/jobs.js';
import { addListenCommand } from './commands/listen.js';
import { addMcpCommand } from './commands/mcp.js';
import { addReplayCommands } from './commands/replay.js';
import { addDestinationCommands, addEndpointCommands, addKeyCommands } from './commands/resources.js';
import { addSendCommand } from './commands/send.js';
import { addSessionCommands } from './commands/session.js';
import { addTriggerCommand } from './commands/trigger.js';
import { addCompletionCommand } from './completion.js';
import { EXIT, explain } from './failure.js';
import { harmless, json } from './terminal.js';

/** Runs a client command. `programs` contains the server's own commands, which only appear in the help text. */
export async function runCommand(
  args: readonly string[],
  programs: readonly (readonly [string, string])[],
): Promise<void> {
  const program = commands(programs);
  // Ignores a closed pipe: `head` in `posthorn events | head` closes it early.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.error),
  );
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
      return;
    }
    const { message, exitCode, service } = explain(error);
    // Removes control characters, because the message may contain untrusted text from the service.
    process.stderr.write(
      args.includes('--json') ? `${json({ error: { message, ...service } })}\n` : `${harmless(message)}\n`,
    );
    process.exitCode = exitCode;
  }
}

function commands(programs: readonly (readonly [string, string])[]): Command {
  const program = new Command('posthorn')
    .description('Delivers webhooks and email. Without a command it runs the server.')
    .version(ownVersion())
    .option(
      '--url <url>',
      'URL of the service (default: POSTHORN_URL, then the last login, then http://localhost:3000)',
    )
    .option('--json', 'print JSON for programs')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(posthorn --help lists the commands)');
  addSessionCommands(program);
  addSendCommand(program);
  addEventCommands(program);
  addReplayCommands(program);
  addJobCommands(program);
  addDestinationCommands(program);
  addEndpointCommands(program);
  addListenCommand(program);
  addTriggerCommand(program);
  addKeyCommands(program);
  addMcpCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  const width = Math.max(...programs.map(([word]) => word.length));
  program.addHelpText(
    'after',
    `
Of the server, configured by its environment:
${programs.map(([word, what]) => `  ${word.padEnd(width)}  ${what}`).join('\n')}

POSTHORN_API_KEY and POSTHORN_URL override the login. Exit codes: 0 done, 1 failed, 2 misspelt, 3 not signed in or not allowed,
4 no such thing, 5 refused, 6 not reached.`,
  );
  return program;
}
