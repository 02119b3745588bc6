import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A fenced block of the tour, and the output that the README shows below it. */
export interface Block {
  script: string;
  expected: string | null;
}

/** A step that is done by hand: the names of what is pressed, filled and read (`**bold**`), and the values (`code`), in the order of the text. */
export interface HandStep {
  text: string;
  names: string[];
  values: string[];
}

/** The tour as the README has it: what a shell does, what hands do then, and what the shell does after that. */
export interface Tour {
  before: Block[];
  steps: HandStep[];
  after: Block[];
}

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What a clone of the project consists of, as far as `npm start` needs it. */
const CLONE = ['node_modules', 'package.json', 'tools', 'src', 'migrations', 'dist', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
const MARK = '----- step';

/** Reads the tour, and lays its files and a clone of the project into a folder of its own. */
export function layOutTour(): { directory: string; tour: Tour } {
  const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-tour-'));
  for (const name of CLONE) symlinkSync(path.join(ROOT, name), path.join(directory, name));
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  const text = readme.slice(readme.indexOf('## A tour of five minutes'), readme.indexOf('## Configuration'));
  const first = text.search(/^1\. /m);
  if (first < 0) throw new Error('The tour of the README has no numbered steps.');
  const [list = ''] = text.slice(first).split('\n\n');
  return { directory, tour: { before: blocksOf(text.slice(0, first), directory), steps: stepsOf(list), after: blocksOf(text.slice(first + list.length), directory) } };
}

function blocksOf(text: string, directory: string): Block[] {
  const blocks: Block[] = [];
  for (const [, language, name, content = ''] of text.matchAll(/```(bash|js|text)(?: tour)?(?: (\S+))?\n([\s\S]*?)```/g)) {
    if (language === 'js' && name) writeFileSync(path.join(directory, name), content);
    else if (language === 'text') (blocks.at(-1) as Block).expected = content.trim();
    else if (language === 'bash') blocks.push({ script: content, expected: null });
  }
  return blocks;
}

function stepsOf(list: string): HandStep[] {
  const named = (text: string, mark: RegExp): string[] => [...text.matchAll(mark)].map(([, name = '']) => name);
  return list.split(/^\d+\. /m).slice(1).map((text) => ({ text: text.replace(/\s+/g, ' ').trim(), names: named(text, /\*\*([^*]+)\*\*/g), values: named(text, /`([^`]+)`/g) }));
}

/** A shell that goes through the tour, block after block. */
export class TourShell {
  private readonly shell: ChildProcess;
  private said = '';
  private done = 0;

  constructor(private readonly directory: string, port: number) {
    const env = { PATH: process.env['PATH'], HOME: directory, PORT: String(port), SMTP_PORT: '0' };
    this.shell = spawn('bash', [], { cwd: directory, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [this.shell.stdout, this.shell.stderr]) stream?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  /** Runs a block to its end; answers with what it printed. */
  async run({ script }: Block): Promise<string> {
    const end = `${MARK} ${(this.done += 1)} -----`;
    const from = this.said.length;
    this.shell.stdin?.write(`${script}\necho "${end}"\n`);
    for (;;) {
      const at = this.said.indexOf(end, from);
      if (at >= 0) return this.said.slice(from, at);
      if (this.shell.exitCode !== null) throw new Error(`The shell ended: ${this.said.slice(from)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends everything that it started, and removes the folder when the database is down. */
  async close(): Promise<void> {
    try {
      if (this.shell.pid) process.kill(-this.shell.pid, 'SIGTERM');
    } catch {
      // The group is gone already.
    }
    const running = path.join(this.directory, '.posthorn', 'postgres', 'postmaster.pid');
    for (let i = 0; i < 300 && existsSync(running); i += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    rmSync(this.directory, { recursive: true, force: true });
  }
}
