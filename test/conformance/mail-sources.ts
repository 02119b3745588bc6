import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { ROOT } from '../architecture/source-tree.js';
import { publicSuite } from '../support/public-suites.js';

export interface SourceMessage {
  id: string;
  raw: Buffer;
}

/** Contents of a message, in a form to which the results of both parsers can be converted. */
export interface Compared {
  from: string[];
  to: string[];
  cc: string[];
  subject: string;
  date: string | null;
  text: string | null;
  html: string;
  files: { name: string | null; type: string; size: number | null; sha256: string | null }[];
}

const FOLDERS = ['easy-ham-1', 'easy-ham-2', 'hard-ham-1', 'spam-1', 'spam-2'];

/** Returns SpamAssassin's public corpus of real mail and spam, with ids such as `spam-1/00042`. */
export function spamAssassinMessages(): SourceMessage[] {
  const directory = publicSuite('spamAssassin');
  if (directory === null) return [];
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(directory, folder))
      .filter((file) => file.endsWith('.txt'))
      .sort()
      .map((file) => ({
        id: `${folder}/${file.slice(0, 5)}`,
        raw: readFileSync(path.join(directory, folder, file)),
      })),
  );
}

/** Returns the fixtures of the Ruby library mikel/mail (MIT license), if they are beside the project. */
export function mikelMailMessages(): SourceMessage[] {
  const directory = path.join(ROOT, '../shared/corpora/mikel-mail/eml');
  let files: string[];
  try {
    files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    process.stdout.write(`conformance: the fixtures of mikel/mail are skipped (no ${directory}).\n`);
    return [];
  }
  return files
    .filter((file) => file.endsWith('.eml'))
    .sort()
    .map((file) => ({ id: file.replace('.eml', ''), raw: readFileSync(path.join(directory, file)) }));
}

type NodeunitTest = (test: Record<string, () => void>) => void;

/** Returns the messages in mailparser's own tests. Runs these tests with a fake parser that only records its input. */
export async function mailparserMessages(): Promise<SourceMessage[]> {
  const file = publicSuite('mailparser');
  if (file === null) return [];
  let chunks: Buffer[] = [];
  class MailParser {
    write(chunk: Buffer | string): void {
      chunks.push(Buffer.from(chunk as string));
    }
    end(chunk?: Buffer | string): void {
      if (chunk !== undefined) this.write(chunk);
    }
    on(): void {}
  }
  // The tests call the `Buffer` constructor, which Node.js has deprecated.
  const OldBuffer = function (value: string, encoding?: BufferEncoding): Buffer {
    return Buffer.from(value, encoding);
  };
  const fixtures = { readFileSync: (name: string) => readFileSync(name) };
  // The tests encode a single text, in ISO 8859-13. Its letters have the same codes in Latin-1.
  const convert = (text: string): Buffer => Buffer.from(text, 'latin1');
  const modules: Record<string, unknown> = { '../lib/mailparser': { MailParser }, encoding: { convert }, fs: fixtures };
  const exported: Record<string, Record<string, NodeunitTest>> = {};
  runInNewContext(readFileSync(file, 'utf8'), {
    ...{ exports: exported, require: (name: string) => modules[name], __dirname: path.dirname(file) },
    ...{ Buffer: OldBuffer, setImmediate },
  });
  const test = new Proxy({}, { get: () => () => {} }) as Record<string, () => void>;
  const messages: SourceMessage[] = [];
  for (const [group, tests] of Object.entries(exported))
    for (const [name, run] of Object.entries(tests)) {
      chunks = [];
      run(test);
      // Waits, because some tests write their message in several turns of the event loop.
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (chunks.length > 0) messages.push({ id: `${group}/${name}`, raw: Buffer.concat(chunks) });
    }
  return messages;
}
