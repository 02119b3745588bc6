import type { Command } from 'commander';
import type { PosthornClient } from '../../client/index.js';
import { type EventFilters, filterOf, withEventFilters } from '../event-filters.js';
import { CommandFailure, EXIT } from '../failure.js';
import { type Globals, terminalOf, wholeNumber } from '../globals.js';
import { follow, type Job } from '../jobs.js';
import { clientOf } from '../sessions.js';
import { line, type Terminal } from '../terminal.js';

interface Options extends EventFilters {
  all?: true;
  limit?: number;
  includeCancelled?: true;
  dryRun?: true;
  wait?: true;
}

type Action = 'replay' | 'recover' | 'cancel';

const WOULD: Readonly<Record<Action, string>> = {
  replay: 'delivered again',
  recover: 'delivered again where they failed',
  cancel: 'cancelled',
};
/** What a range of an endpoint is bounded by. */
const OF_A_RANGE: ReadonlySet<string> = new Set(['since', 'until', 'status']);

/** replay, recover, cancel: of one event, or of what the filters of `events` show, as a job. */
export function addReplayCommands(program: Command): void {
  withJob(
    program
      .command('replay')
      .description('deliver again: an event, what an endpoint received in a range, or what a filter shows'),
  )
    .argument('[id]', 'an evt_ id, or the ep_ id of an endpoint with --since, --until and --status; none with filters')
    .addHelpText(
      'after',
      `\nExamples:
  posthorn replay evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
  posthorn replay evt_… --destination dst_…
  posthorn replay ep_… --since 2026-11-20T00:00:00Z --until 2026-11-21T00:00:00Z --wait
  posthorn replay --application customer-42 --type invoice.paid --since 2026-11-20T00:00:00Z --dry-run`,
    )
    .action(async (id: string | undefined, options: Options, command: Command) => {
      const { terminal, client } = of(command);
      if (id === undefined) return byFilter(client, terminal, 'replay', options);
      if (id.startsWith('ep_')) return ofEndpoint(client, terminal, id, options);
      const { destination, ...others } = options;
      alone(id, others);
      await client.post('/v1/events/{id}/replay', {
        params: { path: { id } },
        ...(destination !== undefined && { body: { destinations: [destination] } }),
      });
      terminal.show({ id, replayed: true }, () => line`${id} is delivered again.`);
    });

  withJob(program.command('recover').description('deliver again what failed, and only to where it failed'))
    .option('--include-cancelled', 'also what was cancelled')
    .addHelpText(
      'after',
      `\nExamples:
  posthorn recover --destination dst_… --dry-run
  posthorn recover --application customer-42 --since 2026-11-20T00:00:00Z --wait`,
    )
    .action((options: Options, command: Command) => {
      const { terminal, client } = of(command);
      return byFilter(client, terminal, 'recover', options);
    });

  withJob(program.command('cancel').description('end what waits: of an event, or of what a filter shows'))
    .argument('[id]', 'an evt_ id, or the msg_ id of a message with all its events; none with filters')
    .addHelpText(
      'after',
      `\nExamples:
  posthorn cancel evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
  posthorn cancel --destination dst_… --type invoice.paid --wait --json`,
    )
    .action(async (id: string | undefined, options: Options, command: Command) => {
      const { terminal, client } = of(command);
      if (id === undefined) return byFilter(client, terminal, 'cancel', options);
      alone(id, options);
      const ended = await client.post('/v1/events/{id}/cancel', { params: { path: { id } } });
      terminal.show(ended, () => `${ended.cancelled} deliveries cancelled.`);
    });
}

function withJob(command: Command): Command {
  return withEventFilters(command)
    .option('--all', 'every event: in place of a filter')
    .option('--limit <count>', 'so many events at most, the newest ones', wholeNumber)
    .option('--dry-run', 'only count')
    .option('--wait', 'wait until the job has ended, with its progress');
}

function of(command: Command): { terminal: Terminal; client: PosthornClient } {
  return { terminal: terminalOf(command), client: clientOf(command.optsWithGlobals<Globals>()) };
}

async function byFilter(client: PosthornClient, terminal: Terminal, action: Action, options: Options): Promise<void> {
  const { all, limit, includeCancelled, dryRun, wait } = options;
  const filter = filterOf(options);
  const isEverything = Object.keys(filter).length === 0;
  // A filter that a script left empty is not everything.
  if (isEverything !== (all === true))
    throw new CommandFailure(
      isEverything
        ? `Say which events: an id, a filter (posthorn ${action} --help), or --all.`
        : '--all is every event: leave the filters out.',
      EXIT.usage,
    );
  const body = {
    action,
    filter,
    ...(limit !== undefined && { limit }),
    ...(includeCancelled && { include_cancelled: true }),
    ...(dryRun && { dry_run: true }),
  };
  const answer = await client.post('/v1/replays', { body: body as never });
  if ('count' in answer)
    return terminal.show(
      answer,
      () => `${answer.count}${answer.is_capped ? '+' : ''} events would be ${WOULD[action]}.`,
    );
  return started(client, terminal, answer, wait);
}

async function ofEndpoint(client: PosthornClient, terminal: Terminal, id: string, options: Options): Promise<void> {
  const { since, until, status, dryRun, wait } = options;
  const others = Object.keys(options).filter((name) => !OF_A_RANGE.has(name) && name !== 'dryRun' && name !== 'wait');
  if (others.length > 0)
    throw new CommandFailure(
      `What an endpoint received is bounded by --since, --until and --status alone: posthorn replay --endpoint ${id} takes every filter.`,
      EXIT.usage,
    );
  const states = status === undefined ? [] : [status].flat();
  if (states.length > 1) throw new CommandFailure('Of an endpoint, --status is one state.', EXIT.usage);
  const body = {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(states[0] !== undefined && { status: states[0] }),
    ...(dryRun && { dry_run: true }),
  };
  const answer = await client.post('/v1/endpoints/{id}/replay', { params: { path: { id } }, body: body as never });
  if (!('id' in answer)) return terminal.show(answer, () => `${answer.replayed} events would be delivered again.`);
  return started(client, terminal, answer, wait);
}

function started(client: PosthornClient, terminal: Terminal, job: Job, wait: true | undefined): Promise<void> | void {
  if (!wait) return terminal.show(job, () => `Job ${job.id} runs: posthorn jobs get ${job.id} --wait`);
  terminal.progress(`Job ${job.id} runs, and goes on without this command.`);
  return follow(client, terminal, job.id);
}

/** Of one event nothing is filtered or counted. */
function alone(id: string, options: Options): void {
  const [other] = Object.keys(options);
  if (other !== undefined)
    throw new CommandFailure(
      `${id} is one event: leave --${other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} out.`,
      EXIT.usage,
    );
}
