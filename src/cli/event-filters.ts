import type { Command } from 'commander';

/** Which events, as the options of a command have it. */
export interface EventFilters {
  /** One for a stream, any number for a list. */
  status?: string | string[];
  type?: string;
  destination?: string;
  endpoint?: string;
  application?: string;
  direction?: string;
  message?: string;
  error?: string;
  query?: string;
  since?: string;
  until?: string;
}

const STATES = 'retrying, delivered, dlq, failed, quarantined, parked or ignored';

/** The filters of the stream of events. */
export function withStreamFilters(command: Command): Command {
  return withTargets(command.option('--status <status>', STATES));
}

/** All filters of the list of events: what one command lists, another one replays, recovers or cancels. */
export function withEventFilters(command: Command): Command {
  return withTargets(command.option('--status <status>', `${STATES}; several with commas`, several))
    .option('--message <id>', 'of this message')
    .option(
      '--error <class>',
      'whose last attempt ended so: timeout, dns, connection, tls, blocked, protocol, refused, adapter, 3xx, 4xx or 5xx',
    )
    .option('--query <id>', 'any id of an event, a message or a request, exactly')
    .option('--since <time>', 'received at or after this time (RFC 3339)')
    .option('--until <time>', 'received at or before this time (RFC 3339)');
}

function withTargets(command: Command): Command {
  return command
    .option('--type <event-type>', 'exactly this type')
    .option('--destination <id>', 'what went to this destination or ad-hoc URL')
    .option('--endpoint <id>', 'what this endpoint received or got')
    .option('--application <id>', 'what was sent to this application')
    .option('--direction <direction>', 'outbound or inbound');
}

/** As the API takes them; what was not given is left out. */
export function filterOf({
  status,
  type,
  destination,
  endpoint,
  application,
  direction,
  message,
  error,
  query,
  since,
  until,
}: EventFilters): Record<string, string | string[]> {
  const given = {
    status,
    event_type: type,
    destination,
    endpoint,
    application,
    direction,
    message_id: message,
    error,
    q: query,
    since,
    until,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined),
  );
}

const several = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((status) => status.trim())
    .filter((status) => status !== ''),
];
