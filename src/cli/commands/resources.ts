import type { Command } from 'commander';
import { endpointNamed } from '../endpoint-name.js';
import { collectPairs, type Globals, positiveNumber, terminalOf, wholeNumber } from '../globals.js';
import { take } from '../paging.js';
import { clientOf } from '../sessions.js';
import { statusStyle } from '../terminal.js';
import { textOf } from './send.js';

const LIMIT: [string, string, typeof positiveNumber, number] = [
  '-n, --limit <count>',
  'maximum number of items; pages are fetched as needed',
  positiveNumber,
  50,
];

export function addDestinationCommands(program: Command): void {
  const destinations = program.command('destinations').description('where events are delivered');
  destinations
    .command('list', { isDefault: true })
    .description('list destinations')
    .option(...LIMIT)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const rows = await take(clientOf(command.optsWithGlobals<Globals>()).all('/v1/destinations'), limit);
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'NAME', value: ({ name }) => name },
          { title: 'TYPE', value: ({ type }) => type },
          {
            title: 'VALIDATION',
            value: ({ validation }) => validation,
            style: ({ validation }) => (validation === 'invalid' ? 'red' : null),
          },
        ],
        'No destinations.',
      );
    });
  destinations
    .command('get')
    .description('show a destination')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) =>
      terminalOf(command).show(
        await clientOf(command.optsWithGlobals<Globals>()).get('/v1/destinations/{id}', { params: { path: { id } } }),
      ),
    );
  destinations
    .command('create')
    .description('create a destination after probing it')
    .requiredOption('--name <name>')
    .option('--type <type>', 'https, sqs, mirror or pull', 'https')
    .option('--target <url>', 'the address')
    .option('-H, --header <name:value>', 'a header to send with every delivery; can be repeated', collectPairs)
    .addHelpText(
      'after',
      '\nExample:\n  posthorn destinations create --name Billing --target https://billing.example.com/hook',
    )
    .action(
      async (
        {
          name,
          type,
          target,
          header,
        }: { name: string; type: string; target?: string; header?: Record<string, string> },
        command: Command,
      ) => {
        const body = {
          name,
          type,
          ...(target !== undefined && { url: target }),
          ...(header !== undefined && { headers: header }),
        };
        const made = await clientOf(command.optsWithGlobals<Globals>()).post('/v1/destinations', {
          body: body as never,
        });
        terminalOf(command).show(made, () => made.id);
      },
    );
  destinations
    .command('test')
    .description('send a test event and show the attempt')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) =>
      terminalOf(command).show(
        await clientOf(command.optsWithGlobals<Globals>()).post('/v1/destinations/{id}/test', {
          params: { path: { id } },
        }),
      ),
    );
  destinations
    .command('delete')
    .description('delete a destination')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) => {
      await clientOf(command.optsWithGlobals<Globals>()).delete('/v1/destinations/{id}', { params: { path: { id } } });
      terminalOf(command).show({ id, deleted: true }, () => `${id} is deleted.`);
    });
}

export function addEndpointCommands(program: Command): void {
  const endpoints = program.command('endpoints').description('manage URLs that providers send to');
  endpoints
    .command('list', { isDefault: true })
    .description('list endpoints')
    .option(...LIMIT)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const rows = await take(clientOf(command.optsWithGlobals<Globals>()).all('/v1/endpoints'), limit);
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'NAME', value: ({ name }) => name },
          { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => statusStyle(status) },
          { title: 'PRESET', value: ({ preset }) => preset },
          { title: 'URL', value: ({ url }) => url },
        ],
        'No endpoints.',
      );
    });
  endpoints
    .command('get')
    .description('show an endpoint')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) =>
      terminalOf(command).show(
        await clientOf(command.optsWithGlobals<Globals>()).get('/v1/endpoints/{id}', { params: { path: { id } } }),
      ),
    );
  endpoints
    .command('create')
    .description('create an endpoint and show the URL for the provider')
    .argument('<slug>')
    .option('--preset <preset>', 'for example stripe or github')
    .option('--destination <id...>', 'where what it receives goes')
    .addHelpText('after', '\nExample:\n  posthorn endpoints create stripe --preset stripe --destination dst_…')
    .action(
      async (slug: string, { preset, destination }: { preset?: string; destination?: string[] }, command: Command) => {
        const body = {
          slug,
          ...(preset !== undefined && { preset }),
          ...(destination !== undefined && { destinations: destination }),
        };
        const made = await clientOf(command.optsWithGlobals<Globals>()).post('/v1/endpoints', { body: body });
        terminalOf(command).show(made, () => `${made.id}  ${made.url}`);
      },
    );
  endpoints
    .command('secret')
    .description("set the provider's secret, which verifies requests and signs samples")
    .argument('<id>', 'the endpoint: its ep_ id or its slug')
    .argument('<secret>', 'the secret: @file, - for standard input, or text, which stays in the history of the shell')
    .option('--grace <seconds>', 'how long the old secret remains valid', wholeNumber)
    .addHelpText(
      'after',
      '\nExamples:\n  posthorn endpoints secret stripe @secret.txt\n  posthorn endpoints secret stripe - < secret.txt\n  posthorn endpoints secret stripe -- -SECRET',
    )
    .action(async (name: string, given: string, { grace }: { grace?: number }, command: Command) => {
      const client = clientOf(command.optsWithGlobals<Globals>());
      const { id } = await endpointNamed(client, name);
      // A file and standard input usually end with a line break, which is not part of the secret.
      const secret = textOf(given).replace(/\r?\n$/, '');
      await client.put('/v1/endpoints/{id}/secret', {
        params: { path: { id } },
        body: { secret, ...(grace !== undefined && { grace_seconds: grace }) } as never,
      });
      terminalOf(command).show({ id, secret_set: true }, () => `${id} has a new secret.`);
    });
  endpoints
    .command('requests')
    .description('list the requests of an endpoint, including rejected ones')
    .argument('<id>')
    .option(...LIMIT)
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      const rows = await take(
        clientOf(command.optsWithGlobals<Globals>()).all('/v1/endpoints/{id}/requests', { params: { path: { id } } }),
        limit,
      );
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: (row) => row.id },
          { title: 'METHOD', value: ({ method }) => method },
          {
            title: 'STATUS',
            value: ({ status }) => status,
            style: ({ status }) => (status === 'quarantined' ? 'red' : null),
          },
          { title: 'BYTES', value: ({ size_bytes }) => size_bytes },
          { title: 'RECEIVED', value: ({ received_at }) => received_at },
          { title: 'NOTE', value: ({ note }) => note },
        ],
        'Nothing was received.',
      );
    });
  endpoints
    .command('delete')
    .description('delete an endpoint; its URL becomes available immediately')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) => {
      await clientOf(command.optsWithGlobals<Globals>()).delete('/v1/endpoints/{id}', { params: { path: { id } } });
      terminalOf(command).show({ id, deleted: true }, () => `${id} is deleted.`);
    });
}

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('manage keys of the organization (scope admin)');
  keys
    .command('list', { isDefault: true })
    .description('list keys')
    .option(...LIMIT)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const rows = await take(clientOf(command.optsWithGlobals<Globals>()).all('/v1/keys'), limit);
      terminalOf(command).list(
        rows,
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'NAME', value: ({ name }) => name },
          { title: 'SCOPE', value: ({ scope }) => scope },
          { title: 'ENV', value: ({ environment }) => environment },
          { title: 'SOURCE', value: ({ source }) => source },
          { title: 'LAST USED', value: ({ last_used_at }) => last_used_at },
          { title: 'REVOKED', value: ({ revoked_at }) => revoked_at },
        ],
        'No keys.',
      );
    });
  keys
    .command('create')
    .description('create a key, which is shown only once')
    .argument('<name>')
    .option('--scope <scope>', 'read, write or admin', 'read')
    .option('--environment <environment>', 'live or test')
    .action(async (name: string, { scope, environment }: { scope: string; environment?: string }, command: Command) => {
      const made = await clientOf(command.optsWithGlobals<Globals>()).post('/v1/keys', {
        body: { name, scope, ...(environment !== undefined && { environment }) } as never,
      });
      terminalOf(command).show(made, () => made.key);
    });
  keys
    .command('rotate')
    .description('replace a key with a new one')
    .argument('<id>')
    .option('--grace <seconds>', 'how long the old key remains valid', wholeNumber)
    .action(async (id: string, { grace }: { grace?: number }, command: Command) => {
      const made = await clientOf(command.optsWithGlobals<Globals>()).post('/v1/keys/{id}/rotate', {
        params: { path: { id } },
        body: (grace === undefined ? {} : { grace_seconds: grace }) as never,
      });
      terminalOf(command).show(made, () => made.key);
    });
  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>')
    .action(async (id: string, _options: object, command: Command) => {
      await clientOf(command.optsWithGlobals<Globals>()).delete('/v1/keys/{id}', { params: { path: { id } } });
      terminalOf(command).show({ id, revoked: true }, () => `${id} is revoked.`);
    });
}
