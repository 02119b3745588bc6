import { readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../failure.js';
import { collectPairs, type Globals, terminalOf } from '../globals.js';
import { clientOf } from '../sessions.js';

export function addSendCommand(program: Command): void {
  program
    .command('send')
    .description('send a payload to a destination, or to an https URL')
    .argument('<destination>', 'a dst_ id or an https URL')
    .argument('<event-type>', 'such as invoice.paid')
    .option('-d, --data <json>', 'the payload: JSON, @file, or - for standard input', '{}')
    .option('-H, --header <name:value>', 'a header to forward; can be repeated', collectPairs)
    .option('--idempotency-key <uuid>', 'idempotency key: sends with the same key take effect once')
    .option('--wait', 'wait until the delivery has ended, and fail if it fails')
    .addHelpText(
      'after',
      `\nExamples:\n  posthorn send https://example.com/hook invoice.paid -d '{"amount":4200}'\n  posthorn send dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1 invoice.paid -d @invoice.json --wait`,
    )
    .action(
      async (
        destination: string,
        eventType: string,
        options: { data: string; header?: Record<string, string>; idempotencyKey?: string; wait?: true },
        command: Command,
      ) => {
        const terminal = terminalOf(command);
        const client = clientOf(command.optsWithGlobals<Globals>());
        const headers: Record<string, string> =
          options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
        const payload = payloadOf(options.data);
        const { message_id: id } = await client.post('/v1/send', {
          body: {
            destination,
            event_type: eventType,
            ...(options.header !== undefined && { headers: options.header }),
            payload: {},
          },
          headers,
          // The payload is sent unchanged. Parsing and serializing it would change ids above 2^53, and 1.10 would
          // become 1.1.
          bodySerializer: ({ payload: _, ...rest }: object & { payload: unknown }) =>
            `${JSON.stringify(rest).slice(0, -1)},"payload":${payload}}`,
        });
        if (!options.wait) return terminal.show({ message_id: id }, () => id);
        for (;;) {
          const event = await client.get('/v1/events/{id}', { params: { path: { id } } });
          if (event.status !== 'retrying') {
            terminal.show(
              { message_id: id, status: event.status, attempts: event.attempts.length },
              () => `${id}  ${event.status}`,
            );
            if (event.status !== 'delivered') process.exitCode = EXIT.error;
            return;
          }
          terminal.progress(`${event.attempts.length} attempts, waiting …`);
          await rest(1_000);
        }
      },
    );
}

/** Returns the given JSON text unchanged. Throws if it is not JSON. */
export function payloadOf(given: string): string {
  const text = textOf(given);
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new CommandFailure(`The payload is not JSON: ${(error as Error).message}`, EXIT.usage);
  }
}

export function textOf(given: string): string {
  if (given === '-') return readFileSync(0, 'utf8');
  if (!given.startsWith('@')) return given;
  try {
    return readFileSync(given.slice(1), 'utf8');
  } catch (error) {
    throw new CommandFailure(`${given.slice(1)} cannot be read: ${(error as Error).message}`, EXIT.usage);
  }
}
