import type { Command } from 'commander';

export interface EventFilters {
  /** Statuses to filter by. The stream of events supports one status, the list of events any number. */
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

export function withStreamFilters(command: Command): Command {
  return withTargets(command.option('--status <status>', STATES));
}

/**
 * Adds the options that filter events. With the same options, `events` lists exactly the events that `replay`,
 * `recover` and `cancel` act on.
 */
export function withEventFilters(command: Command): Command {
  return withTargets(command.option('--status <status>', `${STATES}; separate several with commas`, several))
    .option('--message <id>', 'of this message')
    .option(
      '--error <class>',
      'result of the last attempt: timeout, dns, connection, tls, blocked, protocol, refused, adapter, 3xx, 4xx or 5xx',
    )
    .option('--query <id>', 'exact id of an event, a message or a request')
    .option('--since <time>', 'received at or after this time (RFC 3339)')
    .option('--until <time>', 'received at or before this time (RFC 3339)');
}

function withTargets(command: Command): Command {
  return command
    .option('--type <event-type>', 'exactly this type')
    .option('--destination <id>', 'events sent to this destination or ad-hoc URL')
    .option('--endpoint <id>', 'events received by or sent to this endpoint')
    .option('--application <id>', 'events sent to this application')
    .option('--direction <direction>', 'outbound or inbound');
}

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
