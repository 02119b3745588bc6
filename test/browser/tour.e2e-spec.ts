import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../durability/processes.js';

/** One fenced block of the tour, and the output that the README shows below it. */
interface Step {
  script: string;
  expected: string | null;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What a clone of the project consists of, as far as `npm start` needs it. */
const CLONE = ['node_modules', 'package.json', 'tools', 'src', 'migrations', 'dist', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
const MARK = '----- step';

function stepsOf(readme: string, directory: string): Step[] {
  const steps: Step[] = [];
  for (const [, language, name, content = ''] of readme.matchAll(/```(bash|js|text)(?: tour)?(?: (\S+))?\n([\s\S]*?)```/g)) {
    if (language === 'js' && name) writeFileSync(path.join(directory, name), content);
    else if (language === 'text') (steps.at(-1) as Step).expected = content.trim();
    else if (language === 'bash') steps.push({ script: content, expected: null });
  }
  return steps;
}

/** Only the blocks that are marked as the tour, and the outputs between them. */
function tourOf(readme: string): string {
  return readme.slice(readme.indexOf('## A tour of five minutes'), readme.indexOf('## Configuration'));
}

describe('the tour of the README', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-tour-'));
  let shell: ChildProcess | undefined;

  afterAll(async () => {
    try {
      if (shell?.pid) process.kill(-shell.pid, 'SIGTERM');
    } catch {
      // The group is gone already.
    }
    const running = path.join(directory, '.posthorn', 'postgres', 'postmaster.pid');
    for (let i = 0; i < 300 && existsSync(running); i += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    rmSync(directory, { recursive: true, force: true });
  });

  it('word by word prints what the README shows', async () => {
    for (const name of CLONE) symlinkSync(path.join(ROOT, name), path.join(directory, name));
    const steps = stepsOf(tourOf(readFileSync(path.join(ROOT, 'README.md'), 'utf8')), directory);
    const script = steps.map((step, i) => `echo "${MARK} ${i}"\n${step.script}`).join('\n');

    const output = await run(`${script}\necho "${MARK} end"\n`, String(await freePort()));

    const printed = output.split(new RegExp(`^${MARK} .*\n`, 'm')).slice(1);
    expect(steps.length).toBeGreaterThan(7);
    for (const [i, step] of steps.entries()) {
      if (step.expected !== null) expect(masked(printed[i] ?? '')).toBe(step.expected);
    }
  }, 120_000);

  function run(script: string, port: string): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: directory, PORT: port, SMTP_PORT: '0' };
    shell = spawn('bash', ['-c', script], { cwd: directory, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    return new Promise((resolve, reject) => {
      let output = '';
      shell?.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      shell?.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      shell?.once('error', reject);
      shell?.once('exit', () => resolve(output));
    });
  }
});

const masked = (text: string): string => text.trim().replaceAll(/localhost:\d+/g, 'localhost:3000');
