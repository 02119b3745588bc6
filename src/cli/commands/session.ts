import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { PosthornClient } from '../../client/index.js';
import { DeviceGrant } from '../device-grant.js';
import { CommandFailure, EXIT, explain } from '../failure.js';
import { type Globals, terminalOf } from '../globals.js';
import { accessOf, clientOf, serviceOf, type Session, Sessions, usableKey } from '../sessions.js';
import type { Terminal } from '../terminal.js';

const SCOPES: readonly string[] = ['read', 'write', 'admin'];

export function addSessionCommands(program: Command): void {
  program
    .command('login')
    .description(
      'sign in through the browser and store the key; the key of an earlier login on this machine is revoked',
    )
    .option('--scope <scope>', 'scope to request for the key: read, write or admin', 'write')
    .option('--with-key', 'store a key from standard input instead')
    .addHelpText(
      'after',
      '\nExamples:\n  posthorn login --url https://posthorn.example.com\n  posthorn login --with-key < key.txt',
    )
    .action(async (options: { scope: string; withKey?: true }, command: Command) => {
      const terminal = terminalOf(command);
      if (!SCOPES.includes(options.scope))
        throw new CommandFailure('--scope must be read, write or admin.', EXIT.usage);
      const url = serviceOf(command.optsWithGlobals<Globals>());
      const session = options.withKey ? await givenSession(url) : await grantedSession(url, options.scope, terminal);
      const sessions = new Sessions();
      const earlier = sessions.find(url);
      sessions.keep(url, session);
      if (earlier !== null && earlier.is_granted && earlier.api_key !== session.api_key)
        await revokeEarlier(url, earlier, terminal);
      const { scope, expires_at: expiresAt = null } = session;
      const environment = environmentOf(session.api_key);
      terminal.show({ url, signed_in: true, scope, environment, expires_at: expiresAt }, () => {
        const until = expiresAt === null ? '' : `, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
        return `Signed in at ${url}: ${scope === null ? '' : `scope ${scope}, `}environment ${environment}${until}.`;
      });
      if (session.is_granted && scope !== null && scope !== options.scope)
        terminal.progress(`You requested scope ${options.scope} and received ${scope}.`);
    });

  program
    .command('logout')
    .description('revoke the key of the login and delete it from this machine')
    .action(async (_options: object, command: Command) => {
      const terminal = terminalOf(command);
      const sessions = new Sessions();
      const url = serviceOf(command.optsWithGlobals<Globals>());
      const session = sessions.find(url);
      if (session === null) throw new CommandFailure(`You are not signed in at ${url}.`, EXIT.unauthenticated);
      // Deletes the stored key before it is revoked, so that it is not used again even if the revocation fails.
      sessions.forget(url);
      if (session.is_granted) {
        await revoke(url, session).catch((error: unknown) => {
          throw new CommandFailure(
            `The key was deleted from this machine but not revoked: ${explain(error).message} Revoke it in the list of keys.`,
          );
        });
      }
      terminal.show({ url, revoked: session.is_granted }, () =>
        session.is_granted
          ? `Signed out of ${url}; the key was revoked.`
          : `The key was deleted from this machine but remains valid: \`posthorn keys revoke\` revokes it.`,
      );
    });

  program
    .command('whoami')
    .description('show the service, organization and environment that commands use')
    .action(async (_options: object, command: Command) => {
      const globals = command.optsWithGlobals<Globals>();
      const { url, apiKey, source } = accessOf(globals);
      const organization = await clientOf(globals).get('/v1/org');
      const environment = environmentOf(apiKey ?? '');
      const session = source === 'login' ? new Sessions().find(url) : null;
      const shown = {
        url,
        organization: organization.name,
        organization_id: organization.id,
        environment,
        key: `${apiKey?.slice(0, 12)}…`,
        source,
        scope: session?.scope ?? null,
        expires_at: session?.expires_at ?? null,
      };
      terminalOf(command).fields(shown, [
        ['Service', url],
        ['Organization', `${organization.name} (${organization.id})`],
        ['Environment', environment],
        ['Key', shown.key],
        ['From', source],
        ['Scope', shown.scope],
        ['Expires', shown.expires_at],
      ]);
    });
}

/** Reads a key from standard input. Throws if it is invalid. */
async function givenSession(url: string): Promise<Session> {
  const given = (await text(process.stdin)).trim();
  if (given === '') throw new CommandFailure('No key was given on standard input.', EXIT.usage);
  const apiKey = usableKey(given, 'The key from standard input');
  await new PosthornClient({ baseUrl: url, apiKey, retries: 1 }).get('/v1/org');
  return { api_key: apiKey, scope: null, created_at: new Date().toISOString(), is_granted: false };
}

async function grantedSession(url: string, asked: string, terminal: Terminal): Promise<Session> {
  const grant = await DeviceGrant.request(url);
  const { clientId, code } = await grant.begin(asked, hostname());
  terminal.progress(
    `Open ${code.verification_uri_complete ?? code.verification_uri} and compare the code: ${code.user_code}\nWaiting for your approval …`,
  );
  const { access_token: apiKey, scope = null, expires_in: seconds } = await grant.wait(clientId, code);
  const nowMs = Date.now();
  return {
    api_key: apiKey,
    scope,
    created_at: new Date(nowMs).toISOString(),
    is_granted: true,
    client_id: clientId,
    ...(seconds !== undefined && { expires_at: new Date(nowMs + seconds * 1_000).toISOString() }),
  };
}

/**
 * Revokes the key of the earlier login. A failure does not undo the new login. A key that no longer exists is treated
 * as revoked (RFC 7009, section 2.2).
 */
async function revokeEarlier(url: string, earlier: Session, terminal: Terminal): Promise<void> {
  await revoke(url, earlier).catch((error: unknown) => {
    terminal.progress(
      `The key of the earlier login was replaced here but not revoked: ${explain(error).message} Revoke it in the list of keys.`,
    );
  });
}

async function revoke(url: string, { api_key: key, client_id: clientId }: Session): Promise<void> {
  await (await DeviceGrant.request(url)).revoke(key, clientId);
}

const environmentOf = (key: string): string => (key.startsWith('ek_test_') ? 'test' : 'live');
