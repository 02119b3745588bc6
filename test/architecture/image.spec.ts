import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { CREATE_SECRETS } from '../../src/kernel/config/config.js';
import { dockerStages } from '../support/image-layout.js';
import { ROOT, textOf } from './source-tree.js';

const stages = dockerStages();
const image = stages.at(-1) ?? [];
const manifest = JSON.parse(textOf('package.json')) as {
  scripts: Record<string, string>;
  bin: Record<string, string>;
  files: string[];
};

/**
 * Variables that the container image sets, not the operator: the address of the server and the folder of the server's
 * files.
 */
const OF_THE_IMAGE = ['PORT', 'HOST', 'DATA_DIR'];

interface Service {
  environment: Record<string, string>;
  ports: string[];
  stop_grace_period: string;
}

const { services } = parse(textOf('docker-compose.yml')) as { services: Record<string, Service> };
const posthorn = services['posthorn'] as Service;

describe('Dockerfile', () => {
  it('copies only files that exist and that .dockerignore does not exclude', () => {
    const sources = stages
      .flat()
      .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from='))
      .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
    const kept = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));

    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => !existsSync(path.join(ROOT, source)))).toEqual([]);
    expect(sources.filter((source) => !kept.includes(source))).toEqual([]);
  });

  it('copies from a stage only files that the stage creates', () => {
    const between = image.filter(({ rest }) => rest.startsWith('--from=')).map(({ rest }) => rest.split(/\s+/));
    const names = stages.map((stage) => / AS (\w+)$/.exec(stage[0]?.rest ?? '')?.[1]);

    expect(between.map(([from = '', source]) => [names.includes(from.replace('--from=', '')), source])).toEqual([
      [true, '/app/node_modules'],
      [true, '/app/dist'],
    ]);
  });

  it('creates the volume before it switches to an unprivileged user, and checks the health of the port that it exposes', () => {
    const user = image.findIndex(({ word }) => word === 'USER');

    expect(image.findIndex(({ rest }) => rest.includes('mkdir /data'))).toBeLessThan(user);
    expect(image.slice(user).filter(({ word }) => ['RUN', 'COPY'].includes(word))).toEqual([]);
    expect(image.find(({ word }) => word === 'HEALTHCHECK')?.rest).toContain('/health/ready');
  });

  it('starts the command of the package, which has the Node.js options of npm start', () => {
    const program = manifest.bin['posthorn'] as string;
    const options = (text: string | undefined): string[] => (text ?? '').match(/--[\w-]+(=\d+)?/g) ?? [];

    expect(image.find(({ word }) => word === 'CMD')?.rest).toBe('["posthorn"]');
    expect(options(textOf(program.replace('./dist/', '').replace('.js', '.ts')).split('\n')[0])).toEqual(
      options(manifest.scripts['start']),
    );
    expect(options(manifest.scripts['start']).length).toBeGreaterThan(2);
  });
});

describe('docker-compose.yml', () => {
  it('passes on every variable of .env.example under its own name', () => {
    const variables = [...textOf('.env.example').matchAll(/^([A-Z][A-Z0-9_]*)=/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !OF_THE_IMAGE.includes(name));

    expect(Object.keys(posthorn.environment).sort()).toEqual([...variables].sort());
    expect(variables.filter((name) => !posthorn.environment[name]?.startsWith(`\${${name}:`))).toEqual([]);
  });

  it('publishes the API on PORT, SMTP and submission on their own ports, and the metrics on loopback only', () => {
    const { METRICS_PORT: metrics, SMTP_PORT: smtp, SUBMISSION_PORT: submission } = posthorn.environment;

    expect(posthorn.ports).toEqual([
      '${PORT:-3000}:3000',
      `127.0.0.1:${metrics}:${metrics}`,
      `${smtp}:${smtp}`,
      `${submission}:${submission}`,
    ]);
    expect([smtp, submission]).toEqual(['${SMTP_PORT:-2525}', '${SUBMISSION_PORT:-2587}']);
  });

  it('stops the start without MASTER_KEY or POSTGRES_PASSWORD, in one line with the command that creates both', () => {
    const refusals = [
      posthorn.environment['MASTER_KEY'],
      (services['postgres'] as Service).environment['POSTGRES_PASSWORD'],
    ].map((value) => /^\$\{(\w+):\?(is missing in \.env\. .* with: )(\(.*\) >> \.env)\}$/.exec(value ?? ''));
    const commands = refusals.map((refusal) => refusal?.[3] ?? '');
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-compose-'));
    try {
      const { status } = spawnSync('sh', ['-c', commands[0] ?? 'false'], { cwd: folder });
      const file = readFileSync(path.join(folder, '.env'), 'utf8');

      expect(refusals.map((refusal) => refusal?.[1])).toEqual(['MASTER_KEY', 'POSTGRES_PASSWORD']);
      expect(commands).toEqual([CREATE_SECRETS, CREATE_SECRETS]);
      expect(textOf('docker-compose.yml')).toContain(`#   ${commands[0]}\n`);
      // Compose would interpret a dollar sign in a message as a variable.
      expect(commands[0]).not.toMatch(/[$}\n]/);
      expect(status).toBe(0);
      expect(file).toMatch(/^MASTER_KEY=[A-Za-z0-9+/]{43}=\nPOSTGRES_PASSWORD=[0-9a-f]{48}\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is valid for docker compose, if the plugin is installed', () => {
    const compose = (env: Record<string, string | undefined>): { status: number | null; stderr: string } =>
      spawnSync('docker', ['compose', '-f', path.join(ROOT, 'docker-compose.yml'), 'config', '--quiet'], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      });
    if (spawnSync('docker', ['compose', 'version']).status !== 0)
      return void process.stdout.write(
        'docker compose is not installed: its reading of docker-compose.yml is passed over\n',
      );

    expect(compose({ MASTER_KEY: 'x', POSTGRES_PASSWORD: 'x' })).toMatchObject({ status: 0 });
    for (const env of [{ MASTER_KEY: 'x' }, { POSTGRES_PASSWORD: 'x' }]) {
      const { status, stderr } = compose(env);
      expect([status === 0, stderr.trim().split('\n').length, stderr.includes('openssl rand')]).toEqual([
        false,
        1,
        true,
      ]);
    }
  });

  it('has a stop grace period that is longer than a drain', () => {
    const [, grace = '', timeout = ''] =
      /SHUTDOWN_GRACE=(\d+)s[\s\S]*SHUTDOWN_TIMEOUT=(\d+)s/.exec(textOf('.env.example')) ?? [];

    expect(parseInt(posthorn.stop_grace_period)).toBeGreaterThan(Number(grace) + Number(timeout));
  });
});
