import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { PosthornClient } from '../../client/index.js';
import { EXIT, explain } from '../failure.js';
import { type Globals, terminalOf } from '../globals.js';
import {
  applicationsFound,
  destinationsFound,
  type Found,
  lateness,
  namesOf,
  ok,
  sharedHost,
  warning,
} from '../health.js';
import { accessOf } from '../sessions.js';
import { line } from '../terminal.js';

export interface Finding extends Found {
  check: string;
}

const SKEW_SECONDS_MAX = 60;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the service, the key and the configuration')
    .action(async (_options: object, command: Command) => {
      const terminal = terminalOf(command);
      const findings = await examine(accessOf(command.optsWithGlobals<Globals>()));
      const marks = {
        ok: terminal.paint('green', 'ok     '),
        warning: terminal.paint('yellow', 'warning'),
        failed: terminal.paint('red', 'failed '),
      };
      if (terminal.isJson) terminal.show(findings);
      else
        for (const { check, result, message } of findings)
          terminal.say(line`${marks[result]}  ${check.padEnd(12)}  ${message}`);
      if (findings.some(({ result }) => result === 'failed')) process.exitCode = EXIT.error;
    });
}

async function examine({
  url,
  apiKey,
  source,
}: {
  url: string;
  apiKey: string | null;
  source: string;
}): Promise<Finding[]> {
  const findings: Finding[] = [];
  const look = async (check: string, examineIt: () => Promise<Found[]>): Promise<boolean> => {
    try {
      const found = await examineIt();
      findings.push(...found.map((finding) => ({ check, ...finding })));
      return !found.some(({ result }) => result === 'failed');
    } catch (error) {
      findings.push({ check, result: 'failed', message: explain(error).message.split('\n')[0] ?? '' });
      return false;
    }
  };
  const client = new PosthornClient({ baseUrl: url, apiKey: apiKey ?? 'none', retries: 0, timeoutMs: 10_000 });
  const isReached = await look('reachable', async () => {
    const response = await client.raw('/health/live');
    const skew = Math.round((Date.now() - Date.parse(response.headers.get('date') ?? '')) / 1_000);
    const clock =
      Number.isNaN(skew) || Math.abs(skew) <= SKEW_SECONDS_MAX
        ? ok('The local clock and the clock of the service agree.')
        : warning(
            `The local clock is ${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the service, so signatures look older or newer than they are.`,
          );
    return [ok(`${url} answers.`), clock];
  });
  if (!isReached) return findings;
  await look('ready', async () => {
    const { parts } = await client.get('/health/ready');
    return [ok('It takes traffic.'), lateness(parts)];
  });
  await look('version', async () => {
    const document = (await (await client.raw('/openapi.json')).json().catch(() => null)) as {
      info?: { version?: unknown };
    } | null;
    const version = document?.info?.version;
    if (typeof version !== 'string') return [warning('The service does not report its version.')];
    return [
      version === ownVersion()
        ? ok(`Both are ${ownVersion()}.`)
        : warning(`The service has version ${version}, this command ${ownVersion()}.`),
    ];
  });
  if (apiKey === null)
    return [
      ...findings,
      {
        check: 'key',
        result: 'failed',
        message: 'Not signed in: run `posthorn login`, or set POSTHORN_API_KEY.',
      },
    ];
  const isKnown = await look('key', async () => {
    const { name } = await client.get('/v1/org');
    return [ok(`A ${apiKey.startsWith('ek_test_') ? 'test' : 'live'} key of ${name}, from ${source}.`)];
  });
  if (!isKnown) return findings;
  await look('hosts', async () => sharedHost(await namesOf(client)));
  await look('domains', async () => {
    const found: Found[] = [];
    for await (const { domain, state, records } of client.all('/v1/domains')) {
      if (state === 'verified') continue;
      const faults = records
        .filter(({ required, status }) => required && status !== 'verified')
        .map(({ type, name, error }) => `${type} ${name}: ${error ?? 'not seen yet'}`);
      found.push(warning(`${domain} is ${state}. ${faults.join(' ')}`));
    }
    return found.length > 0 ? found : [ok('All domains are verified, or there are none.')];
  });
  await look('destinations', () => destinationsFound(client, new Date()));
  await look('applications', () => applicationsFound(client));
  await look('dead letters', async () => {
    const { data } = await client.get('/v1/events', { params: { query: { status: ['dlq'], limit: 1 } } });
    return [
      data.length === 0
        ? ok('There are none.')
        : warning('There are dead letters: `posthorn events --status dlq` lists them.'),
    ];
  });
  return findings;
}

export function ownVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;
}
