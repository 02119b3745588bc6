import { setTimeout as rest } from 'node:timers/promises';
import type { Command } from 'commander';
import { EXIT } from '../failure.js';
import { type Globals, terminalOf } from '../globals.js';
import { clientOf } from '../sessions.js';

interface Options {
  since?: string;
  until?: string;
  status?: string;
  dryRun?: true;
  wait?: true;
}

/** replay */
export function addReplayCommand(program: Command): void {
  program
    .command('replay')
    .description('deliver an event again, or what an endpoint received in a range')
    .argument('<id>', 'an evt_ id, or the ep_ id of an endpoint')
    .option('--since <time>', 'of an endpoint: received at or after this time')
    .option('--until <time>', 'of an endpoint: received at or before this time')
    .option('--status <status>', 'of an endpoint: only events in this state')
    .option('--dry-run', 'of an endpoint: only count')
    .option('--wait', 'of an endpoint: wait until the job has ended, with its progress')
    .addHelpText('after', '\nExamples:\n  posthorn replay evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1\n  posthorn replay ep_… --since 2026-11-20T00:00:00Z --until 2026-11-21T00:00:00Z --wait')
    .action(async (id: string, { since, until, status, dryRun, wait }: Options, command: Command) => {
      const terminal = terminalOf(command);
      const client = clientOf(command.optsWithGlobals<Globals>());
      if (!id.startsWith('ep_')) {
        await client.post('/v1/events/{id}/replay', { params: { path: { id } } });
        return terminal.show({ id, replayed: true }, () => `${id} is delivered again.`);
      }
      const body = { ...(since !== undefined && { since }), ...(until !== undefined && { until }), ...(status !== undefined && { status }), ...(dryRun && { dry_run: true }) };
      const started = (await client.post('/v1/endpoints/{id}/replay', { params: { path: { id } }, body: body as never })) as Record<string, unknown>;
      const jobId = started['id'];
      if (dryRun || !wait || typeof jobId !== 'string') return terminal.show(started, () => (dryRun ? `${String(started['replayed'])} events would be delivered again.` : `Job ${String(jobId)} runs.`));
      for (;;) {
        const job = await client.get('/v1/replays/{id}', { params: { path: { id: jobId } } });
        if (job.state !== 'pending' && job.state !== 'running') {
          terminal.show(job, () => `${job.state}: ${job.replayed} events, ${job.enqueued} deliveries.`);
          if (job.state !== 'completed') process.exitCode = EXIT.error;
          return;
        }
        terminal.progress(`${job.state}: ${job.scanned} of about ${job.total_estimate}`);
        await rest(1_000);
      }
    });
}
