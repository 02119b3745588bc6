import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A fenced code block of the tour, and the output that the README shows below it. */
export interface Block {
  script: string;
  expected: string | null;
}

/**
 * A manual step, with the names of the buttons and fields (`**bold**`) and the values (`code`), in the order of the
 * text.
 */
export interface HandStep {
  text: string;
  names: string[];
  values: string[];
}

/**
 * The tour in the README: shell blocks, manual steps, blocks that show the effect of these steps, and cleanup blocks.
 */
export interface Tour {
  before: Block[];
  steps: HandStep[];
  after: Block[];
  end: Block[];
}

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The files and folders of a clone of the project that `npm start` needs. */
const CLONE = [
  'node_modules',
  'package.json',
  'tools',
  'src',
  'migrations',
  'dist',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
];
const MARK = '----- step';

/** A clone of the project for one tour. `clone` is the clone's folder. Programs put temporary files in `temporary`. */
export interface TourPlace {
  directory: string;
  clone: string;
  temporary: string;
}

/** Creates a folder for the project and a folder for temporary files, and returns their paths. */
export function makeTourPlace(): TourPlace {
  const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-tour-'));
  // If root starts PostgreSQL, the server runs as another user, which needs access to the folder.
  chmodSync(directory, 0o755);
  const [clone, temporary] = [path.join(directory, 'clone'), path.join(directory, 'tmp')];
  for (const folder of [clone, temporary]) mkdirSync(folder, { mode: 0o755 });
  for (const name of CLONE) symlinkSync(path.join(ROOT, name), path.join(clone, name));
  return { directory, clone, temporary };
}

/** Returns the tour of the README. */
export function readTour(): Tour {
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  const text = readme.slice(readme.indexOf('## A five-minute tour'), readme.indexOf('## Configuration'));
  const first = text.search(/^1\. /m);
  if (first < 0) throw new Error('The tour of the README has no numbered steps.');
  const [list = ''] = text.slice(first).split('\n\n');
  const [after = '', end = ''] = text.slice(first + list.length).split('### Clean up');
  return { before: blocksOf(text.slice(0, first)), steps: stepsOf(list), after: blocksOf(after), end: blocksOf(end) };
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const [, language, content = ''] of text.matchAll(/```(bash|text)(?: tour)?\n([\s\S]*?)```/g)) {
    if (language === 'text') (blocks.at(-1) as Block).expected = content.trim();
    else if (language === 'bash') blocks.push({ script: content, expected: null });
  }
  return blocks;
}

function stepsOf(list: string): HandStep[] {
  const named = (text: string, mark: RegExp): string[] => [...text.matchAll(mark)].map(([, name = '']) => name);
  return list
    .split(/^\d+\. /m)
    .slice(1)
    .map((text) => ({
      text: text.replace(/\s+/g, ' ').trim(),
      names: named(text, /\*\*([^*]+)\*\*/g),
      values: named(text, /`([^`]+)`/g),
    }));
}

/** Returns the ids of the processes whose command line, working directory or environment names `folder`. */
function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const said = ['cmdline', 'environ'].map((file) => textOf(`/proc/${pid}/${file}`));
      return pid !== process.pid && said.some((text) => text.includes(folder));
    });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Ignores the error, because the process has already exited.
    return '';
  }
}

/** A shell that runs the tour block by block. */
export class TourShell {
  private readonly shell: ChildProcess;
  private said = '';
  private done = 0;

  /** `env` contains the variables that are already exported in the user's shell. */
  constructor(
    private readonly place: TourPlace,
    env: Readonly<Record<string, string>> = {},
  ) {
    const own = { PATH: process.env['PATH'], HOME: place.directory, TMPDIR: place.temporary };
    this.shell = spawn('bash', [], {
      cwd: place.clone,
      env: { ...own, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.shell.stdout, this.shell.stderr])
      stream?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  async run({ script }: Pick<Block, 'script'>): Promise<string> {
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

  /** Returns the processes that this shell started and that still run. */
  leftRunning(): number[] {
    return processesIn(this.place.directory).filter((pid) => pid !== this.shell.pid);
  }

  /** Ends all processes that the shell started, and then removes the folder. */
  async close(): Promise<void> {
    try {
      if (this.shell.pid) process.kill(-this.shell.pid, 'SIGTERM');
    } catch {
      // Ignores the error, because the process group has already ended.
    }
    for (let i = 0; i < 300 && processesIn(this.place.directory).length > 0; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    rmSync(this.place.directory, { recursive: true, force: true });
  }
}
