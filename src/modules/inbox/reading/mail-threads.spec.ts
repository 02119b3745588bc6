import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallLimits } from '#sandbox/call-thread.js';
import type { MailPace } from '../intake/mail-pace.js';
import { MailThreads, type ReadAll } from './mail-threads.js';

/** Source of a fake parser that fails on certain messages. The thread, its watchdog and its limits are not faked. */
const READER = `
  import { writeFileSync } from 'node:fs';
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (call) => {
    const text = Buffer.from(call.raw).toString();
    parentPort.postMessage({ kind: 'begun', thread: text.startsWith('hang') ? String(process.pid) : null });
    if (text.endsWith(' noted')) writeFileSync(new URL(text, import.meta.url), '');
    if (text.startsWith('spin')) for (;;);
    if (text.startsWith('hang')) return;
    if (text === 'eat') for (const held = []; ; ) held.push(new Array(1e6).fill(Math.random()));
    if (text === 'throw') setImmediate(() => { throw new Error('In a callback of the parser.'); });
    else parentPort.postMessage({ kind: 'answered', answer: { kind: 'read', signatures: null, message: { subject: text } }, cpuMs: 1, isSpoiled: false });
  });
  parentPort.postMessage({ kind: 'ready' });
`;
const LIMITS = { cpuMsMax: 400, wallMsMax: 800 };

let folder: string;
let threads: Watched;

class Watched extends MailThreads {
  limits: CallLimits = LIMITS;
  waitMsMax = 60_000;

  protected override reader(): { file: URL; limits: CallLimits; heapMbMax: number; waitMsMax: number } {
    const file = pathToFileURL(path.join(folder, 'reader.mjs'));
    return { file, limits: this.limits, heapMbMax: 32, waitMsMax: this.waitMsMax };
  }
}

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'posthorn-reader-'));
  writeFileSync(path.join(folder, 'reader.mjs'), READER);
  threads = new Watched({ isRoomy: true } as MailPace);
});

afterAll(async () => {
  await threads.onApplicationShutdown();
  rmSync(folder, { recursive: true, force: true });
});

const parse = async (environmentId: number, text: string): Promise<ReadAll['message']> =>
  (await threads.read(environmentId, Buffer.from(text), {})).message;

describe('a message with which the parser never returns', () => {
  it('costs only its own call: the thread is ended, and another one reads the next message of the environment', async () => {
    expect(await parse(1, 'spin')).toEqual({ fault: 'It took too long to read.' });
    expect(await parse(1, 'after')).toEqual({ subject: 'after' });
  });

  it('delays no other environment, however many there are: their mail is read while these still run', async () => {
    const ended: string[] = [];
    const spinning = ['a', 'b', 'c', 'd'].map((name) =>
      parse(1, 'spin').then((read) => {
        ended.push(name);
        return read;
      }),
    );
    const others = Array.from({ length: 6 }, (_, i) => parse(2, `other ${i}`));

    expect(await Promise.all(others)).toEqual(others.map((_, i) => ({ subject: `other ${i}` })));
    expect(ended.length).toBeLessThan(4);
    expect(await Promise.all(spinning)).toEqual(spinning.map(() => ({ fault: 'It took too long to read.' })));
  });
});

it('a message that the parser neither finishes nor uses CPU time for is a failed attempt', async () => {
  await expect(parse(1, 'hang')).rejects.toThrow('It was not read within 800 ms, although it used little CPU time.');
});

describe('a message that times out while all other threads of its environment are busy', () => {
  it('is a failed attempt instead of missing capacity, which would be retried forever', async () => {
    const roomy = { isRoomy: true };
    const own = new Watched(roomy as MailPace);
    const read = (text: string): Promise<unknown> => own.read(1, Buffer.from(text), {});
    Object.assign(own, { limits: { cpuMsMax: 60_000, wallMsMax: 60_000 }, waitMsMax: 0 });
    const other = read('hang noted').catch(() => undefined);
    Object.assign(own, { limits: { cpuMsMax: 4_000, wallMsMax: 60_000 } });
    const failing = read('spin noted').catch((error: unknown) => error);
    while (readdirSync(folder).filter((name) => name.includes('noted')).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 10));
    // The environment may now use one thread, which the other message occupies.
    roomy.isRoomy = false;

    expect(await failing).toMatchObject({
      message: expect.stringMatching(/No thread was free/),
      cause: { type: 'unavailable' },
    });
    expect(await failing).not.toHaveProperty('type');
    await own.onApplicationShutdown();
    await other;
  }, 60_000);
});

describe('a message that crashes the parser', () => {
  it('exhausts only the memory of its own thread', async () => {
    const [eaten, other] = await Promise.all([parse(1, 'eat'), parse(2, 'other')]);

    expect(other).toEqual({ subject: 'other' });
    expect(eaten).toEqual({ fault: expect.stringMatching(/too (?:much memory|long) to read/) });
  });

  it('an uncaught error is a fault of the message instead of missing capacity, which would be retried forever', async () => {
    expect(await parse(1, 'throw')).toEqual({ fault: 'It crashed the parser.' });
    expect(await parse(1, 'after')).toEqual({ subject: 'after' });
  });
});
