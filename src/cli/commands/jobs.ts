import type { Command } from 'commander';
import { type Globals, positiveNumber, terminalOf } from '../globals.js';
import { follow, formatJob } from '../jobs.js';
import { take } from '../paging.js';
import { clientOf } from '../sessions.js';

export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('replays, recoveries and cancellations of many events');
  jobs
    .command('list', { isDefault: true })
    .description('list jobs, newest first')
    .option('-n, --limit <count>', 'maximum number of items; pages are fetched as needed', positiveNumber, 20)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const rows = await take(clientOf(command.optsWithGlobals<Globals>()).all('/v1/replays'), limit);
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'KIND', value: ({ action, kind }) => action ?? kind },
          {
            title: 'STATE',
            value: ({ state }) => state,
            style: ({ state }) => (state === 'completed' ? 'green' : state === 'failed' ? 'red' : 'yellow'),
          },
          {
            title: 'EVENTS',
            value: ({ scanned, total_estimate, total_is_capped }) =>
              `${scanned} of ${total_estimate}${total_is_capped ? '+' : ''}`,
          },
          { title: 'CREATED', value: ({ created_at }) => created_at },
        ],
        'No jobs.',
      );
    });
  jobs
    .command('get')
    .description('show the progress or the result of a job')
    .argument('<id>', 'an rpj_ id')
    .option('--wait', 'show the progress and wait until the job has ended')
    .addHelpText('after', '\nExample:\n  posthorn jobs get rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1 --wait')
    .action(async (id: string, { wait }: { wait?: true }, command: Command) => {
      const [terminal, client] = [terminalOf(command), clientOf(command.optsWithGlobals<Globals>())];
      if (wait) return follow(client, terminal, id);
      terminal.show(await client.get('/v1/replays/{id}', { params: { path: { id } } }));
    });
  jobs
    .command('stop')
    .description('stop a job before its next page; completed work is not undone')
    .argument('<id>', 'an rpj_ id')
    .action(async (id: string, _options: object, command: Command) => {
      const job = await clientOf(command.optsWithGlobals<Globals>()).post('/v1/replays/{id}/stop', {
        params: { path: { id } },
      });
      terminalOf(command).show(job, () => formatJob(job));
    });
}
