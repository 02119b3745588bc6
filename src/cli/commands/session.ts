import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { PosthornClient } from '../../client/index.js';
import { DeviceGrant } from '../device-grant.js';
import { CommandFailure, EXIT, explain } from '../failure.js';
import { accessOf, clientOf, Sessions } from '../sessions.js';
import { type Globals, terminalOf } from '../globals.js';

/** login, logout, whoami. */
export function addSessionCommands(program: Command): void {
  program
    .command('login')
    .description('sign in through the browser, and keep the key')
    .option('--scope <scope>', 'what the key may do: read, write or admin', 'write')
    .option('--with-key', 'keep a key that comes by standard input instead')
    .addHelpText('after', '\nExamples:\n  posthorn login --url https://posthorn.example.com\n  posthorn login --with-key < key.txt')
    .action(async (options: { scope: string; withKey?: true }, command: Command) => {
      const terminal = terminalOf(command);
      const { url } = accessOf(command.optsWithGlobals<Globals>());
      const created_at = new Date().toISOString();
      if (options.withKey) {
        const apiKey = (await text(process.stdin)).trim();
        await organizationOf(url, apiKey);
        new Sessions().keep(url, { api_key: apiKey, scope: null, created_at, is_granted: false });
      } else {
        const grant = await DeviceGrant.of(url);
        const { clientId, code } = await grant.begin(options.scope);
        terminal.progress(`Open ${code.verification_uri_complete ?? code.verification_uri} and compare the code: ${code.user_code}\nWaiting for your approval …`);
        const token = await grant.wait(clientId, code);
        new Sessions().keep(url, { api_key: token.access_token, scope: token.scope ?? null, created_at, is_granted: true });
      }
      terminal.show({ url, signed_in: true }, () => `Signed in at ${url}.`);
    });

  program
    .command('logout')
    .description('revoke the key of the login, and forget it')
    .action(async (_options: object, command: Command) => {
      const terminal = terminalOf(command);
      const sessions = new Sessions();
      const { url } = accessOf(command.optsWithGlobals<Globals>(), sessions);
      const session = sessions.of(url);
      if (session === null) throw new CommandFailure(`You are not signed in at ${url}.`, EXIT.unauthenticated);
      // Forgotten first: whatever becomes of the rest, it is not used from here any more.
      sessions.forget(url);
      if (session.is_granted) {
        await DeviceGrant.of(url).then((grant) => grant.revoke(session.api_key)).catch((error: unknown) => {
          throw new CommandFailure(`The key is forgotten here, but not revoked: ${explain(error).message} Revoke it in the list of keys.`);
        });
      }
      terminal.show({ url, revoked: session.is_granted }, () => (session.is_granted ? `Signed out of ${url}; the key is revoked.` : `Forgotten. The key itself is still good: \`posthorn keys revoke\` ends it.`));
    });

  program
    .command('whoami')
    .description('which service, organization and environment commands go to')
    .action(async (_options: object, command: Command) => {
      const globals = command.optsWithGlobals<Globals>();
      const { url, apiKey, source } = accessOf(globals);
      const organization = await clientOf(globals).get('/v1/org');
      const environment = apiKey?.startsWith('ek_test_') ? 'test' : 'live';
      const shown = { url, organization: organization.name, organization_id: organization.id, environment, key: `${apiKey?.slice(0, 12)}…`, source, scope: new Sessions().of(url)?.scope ?? null };
      terminalOf(command).fields(shown, [['Service', url], ['Organization', `${organization.name} (${organization.id})`], ['Environment', environment], ['Key', shown.key], ['From', source], ['Scope', source === 'login' ? shown.scope : null]]);
    });
}

/** Throws when the key is not good. */
async function organizationOf(url: string, apiKey: string): Promise<void> {
  if (apiKey === '') throw new CommandFailure('No key came by standard input.', EXIT.usage);
  await new PosthornClient({ baseUrl: url, apiKey, retries: 1 }).get('/v1/org');
}
