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
  cancel: 'canceled',
};
const OF_A_RANGE: ReadonlySet<string> = new Set(['since', 'until', 'status']);

/**
 * Adds commands that act on one event, or that start a job for all events that match the filters of the command
 * `events`.
 */
export function addReplayCommands(program: Command): void {
  withJob(
    program
      .command('replay')
      .description(
        'deliver again: one event, the requests of an endpoint in a range, or the events that match a filter',
      ),
  )
    .argument(
      '[id]',
      'an evt_ id, or the ep_ id of an endpoint with --since, --until and --status; omit it to use filters',
    )
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

  withJob(program.command('recover').description('deliver failed events again, only where they failed'))
    .option('--include-cancelled', 'include canceled deliveries')
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

  withJob(
    program
      .command('cancel')
      .description('cancel the waiting deliveries of an event, or of the events that match a filter'),
  )
    .argument('[id]', 'an evt_ id, or the msg_ id of a message with all its events; omit it to use filters')
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
      terminal.show(ended, () => `${ended.cancelled} deliveries canceled.`);
    });
}

function withJob(command: Command): Command {
  return withEventFilters(command)
    .option('--all', 'select every event instead of using a filter')
    .option('--limit <count>', 'maximum number of events, newest first', wholeNumber)
    .option('--dry-run', 'only count')
    .option('--wait', 'show the progress and wait until the job has ended');
}

function of(command: Command): { terminal: Terminal; client: PosthornClient } {
  return { terminal: terminalOf(command), client: clientOf(command.optsWithGlobals<Globals>()) };
}

async function byFilter(client: PosthornClient, terminal: Terminal, action: Action, options: Options): Promise<void> {
  const { all, limit, includeCancelled, dryRun, wait } = options;
  const filter = filterOf(options);
  const isEverything = Object.keys(filter).length === 0;
  // An empty filter, for example from an unset variable in a script, must not select every event.
  if (isEverything !== (all === true))
    throw new CommandFailure(
      isEverything
        ? `Select the events with an id, a filter (posthorn ${action} --help), or --all.`
        : '--all selects every event and cannot be combined with filters.',
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
      `A replay of an endpoint accepts only --since, --until and --status. posthorn replay --endpoint ${id} accepts every filter.`,
      EXIT.usage,
    );
  const states = status === undefined ? [] : [status].flat();
  if (states.length > 1) throw new CommandFailure('For an endpoint, --status takes a single state.', EXIT.usage);
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
  if (!wait) return terminal.show(job, () => `Job ${job.id} is running: posthorn jobs get ${job.id} --wait`);
  terminal.progress(`Job ${job.id} is running and continues without this command.`);
  return follow(client, terminal, job.id);
}

/** Rejects the filter and job options for a command on a single event. */
function alone(id: string, options: Options): void {
  const [other] = Object.keys(options);
  if (other !== undefined)
    throw new CommandFailure(
      `${id} is a single event: omit --${other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.`,
      EXIT.usage,
    );
}
