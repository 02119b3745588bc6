import type { Command } from 'commander';
import type { PosthornClient, StreamMessage } from '../../client/index.js';
import { type EventFilters, filterOf, withEventFilters, withStreamFilters } from '../event-filters.js';
import { type Globals, positiveNumber, terminalOf } from '../globals.js';
import { take } from '../paging.js';
import { clientOf } from '../sessions.js';
import { harmless, line, statusStyle, type Terminal } from '../terminal.js';

export function addEventCommands(program: Command): void {
  const events = program.command('events').description('list events and their deliveries');
  withEventFilters(events.command('list', { isDefault: true }).description('list events, newest first'))
    .option('-n, --limit <count>', 'maximum number of items; pages are fetched as needed', positiveNumber, 20)
    .addHelpText(
      'after',
      '\nExamples:\n  posthorn events --status dlq,failed --error timeout\n  posthorn events list --destination dst_… --json -n 500',
    )
    .action(async (options: EventFilters & { limit: number }, command: Command) => {
      const query = { ...filterOf(options), limit: Math.min(options.limit, 100) };
      const rows = await take(
        clientOf(command.optsWithGlobals<Globals>()).all('/v1/events', { params: { query: query } }),
        options.limit,
      );
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => statusStyle(status) },
          { title: 'TYPE', value: ({ event_type }) => event_type },
          { title: 'WHERE', value: ({ endpoint, destination }) => endpoint ?? destination },
          { title: 'RECEIVED', value: ({ received_at }) => received_at },
        ],
        'No events.',
      );
    });

  events
    .command('get')
    .description('show an event with its deliveries and attempts')
    .argument('<id>', 'the evt_ id of an event or the msg_ id of a message')
    .action(async (id: string, _options: object, command: Command) => {
      terminalOf(command).show(await detail(clientOf(command.optsWithGlobals<Globals>()), id));
    });

  events
    .command('attempts')
    .description('list the attempts of an event')
    .argument('<id>', 'the evt_ id of an event or the msg_ id of a message')
    .action(async (id: string, _options: object, command: Command) => {
      const { attempts } = await detail(clientOf(command.optsWithGlobals<Globals>()), id);
      terminalOf(command).list(
        attempts,
        [
          { title: '#', value: ({ number }) => number },
          {
            title: 'STATUS',
            value: ({ status, error }) => status ?? error,
            style: ({ status }) => (status !== null && status >= 200 && status < 300 ? 'green' : 'red'),
          },
          { title: 'MS', value: ({ duration_ms }) => duration_ms },
          { title: 'AT', value: ({ at }) => at },
          { title: 'TO', value: ({ destination }) => destination },
          { title: 'ANSWER', value: ({ response_excerpt }) => response_excerpt?.slice(0, 60) },
        ],
        'No attempts yet.',
      );
    });

  events
    .command('payload')
    .description('write the payload of an event to standard output, byte for byte')
    .argument('<id>', 'the evt_ id of an event or the msg_ id of a message')
    .action(async (id: string, _options: object, command: Command) => {
      const response = await clientOf(command.optsWithGlobals<Globals>()).raw(
        `/v1/events/${encodeURIComponent(id)}/payload`,
      );
      const payload = Buffer.from(await response.arrayBuffer());
      // Prints only printable text to a terminal. A file or a program gets the exact bytes.
      process.stdout.write(process.stdout.isTTY ? `${harmless(payload.toString('utf8'))}\n` : payload);
    });

  withStreamFilters(events.command('tail').description('show events as they happen'))
    .option('--since-id <id>', 'continue after this id of an earlier stream')
    .addHelpText(
      'after',
      '\nExamples:\n  posthorn events tail --status dlq\n  posthorn events tail --json | jq .event.id\n\nReconnects after restarts and broken connections, and reports events that it could not show.',
    )
    .action(async (options: EventFilters & { sinceId?: string }, command: Command) => {
      const terminal = terminalOf(command);
      const client = clientOf(command.optsWithGlobals<Globals>());
      for await (const message of client.stream({
        ...filterOf(options),
        ...(options.sinceId !== undefined && { lastEventId: options.sinceId }),
      }))
        showMessage(terminal, message);
    });
}

function showMessage(terminal: Terminal, message: StreamMessage): void {
  if (message.kind === 'heartbeat') return;
  if (message.kind === 'ready') return terminal.progress('Listening.');
  if (message.kind === 'lost')
    return terminal.progress(`${message.reason} Connecting again in ${Math.ceil(message.retryMs / 1_000)} s.`);
  if (terminal.isJson) return terminal.show(message);
  if (message.kind === 'gap') return terminal.progress(gapText(message.gap));
  const { event } = message;
  const where = event.endpoint ?? event.destination ?? '';
  if (message.kind === 'accepted')
    return terminal.say(
      line`${time(event.received_at)}  ${terminal.paint('dim', 'accepted ')}  ${event.id}  ${event.event_type}  ${where}`,
    );
  if (message.kind === 'attempt') {
    const { attempt } = message.event;
    const outcome = attempt.status ?? attempt.error;
    return terminal.say(
      line`${time(attempt.at)}  attempt ${attempt.number}  ${event.id}  ${event.event_type}  ${attempt.destination ?? where}  ${outcome}  ${attempt.duration_ms} ms`,
    );
  }
  const { delivery } = message.event;
  terminal.say(
    line`${' '.repeat(12)}  ${terminal.paint(statusStyle(delivery.status), delivery.status.padEnd(9))}  ${event.id}  ${event.event_type}  ${delivery.destination ?? where}${delivery.reason === null ? '' : `  ${delivery.reason}`}`,
  );
}

export function gapText({ reason, since, until }: { reason: string; since: string | null; until: string }): string {
  const why: Record<string, string> = {
    slow: 'the connection was too slow',
    too_old: 'too long ago',
    too_many: 'too many events',
    storage: 'the storage failed over or was restored',
  };
  return `NOT SHOWN: events between ${since ?? 'the start'} and ${until} (${why[reason] ?? reason}). \`posthorn events --since ${since ?? until} --until ${until}\` lists them.`;
}

const time = (at: string): string => at.slice(11, 23);

const detail = (client: PosthornClient, id: string): ReturnType<typeof client.get<'/v1/events/{id}'>> =>
  client.get('/v1/events/{id}', { params: { path: { id } } });
