import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { authorOf } from '../../src/engine/mail/author.js';
import { fieldsOf } from '../../src/engine/mail/message-head.js';
import { attachmentOf, parseMessage } from '../../src/modules/inbox/reading/parse-message.js';
import { verifySignatures } from '../../src/modules/inbox/reading/signatures.js';
import { publicSuite } from '../support/public-suites.js';

const directory = publicSuite('spamAssassin');
const DIRECTORIES = ['easy-ham-1', 'easy-ham-2', 'hard-ham-1', 'spam-1', 'spam-2'];
const EVERY = 3;
/** Time limit of a test that takes 12 s if no other suite runs. */
const LONG_MS = 300_000;
const decide = directory === null ? it.skip : it;

const files =
  directory === null
    ? []
    : DIRECTORIES.flatMap((name) =>
        readdirSync(path.join(directory, name))
          .sort()
          .filter((_, i) => name === 'hard-ham-1' || i % EVERY === 0)
          .map((file) => path.join(directory, name, file)),
      );

/** Returns a damaged message. `seed` selects the damage, which connections, mail servers or disks could have caused. */
function broken(raw: Buffer, seed: number): Buffer {
  let state = (seed * 2_654_435_761) >>> 0;
  const next = (max: number): number =>
    (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % Math.max(1, max);
  const bytes = Buffer.from(raw);
  switch (seed % 6) {
    case 0:
      return bytes.subarray(0, next(bytes.length));
    case 1:
      for (let i = 0; i < 40; i += 1) bytes[next(bytes.length)] = next(256);
      return bytes;
    case 2:
      return Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r'), 'latin1');
    case 3:
      return Buffer.from(bytes.toString('latin1').replace(/boundary="?[^";\n]+"?/gi, 'boundary=""'), 'latin1');
    case 4:
      return Buffer.concat([bytes.subarray(next(bytes.length)), bytes]);
    default:
      return Buffer.from(
        bytes
          .toString('latin1')
          .replace(/charset="?[\w-]+"?/gi, 'charset="utf-99\0"')
          .replace(/base64/gi, 'x-uuencode'),
        'latin1',
      );
  }
}

describe("SpamAssassin's public corpus of real mail and spam", () => {
  decide(
    `each of ${files.length} messages is read, and so is each of them broken`,
    async () => {
      const failed: string[] = [];
      let attachments = 0;
      for (const [seed, file] of files.entries()) {
        const raw = readFileSync(file);
        for (const bytes of [raw, broken(raw, seed)]) {
          try {
            const message = await parseMessage(bytes);
            JSON.parse(JSON.stringify(message));
            authorOf(fieldsOf(bytes));
            attachments += message.attachments.length;
            if (JSON.stringify(message).includes('\\u0000')) failed.push(`${file}: NUL`);
            if (
              message.attachments.length > 0 &&
              (await attachmentOf(bytes, 0))?.content.byteLength !== message.attachments[0]?.size_bytes
            )
              failed.push(`${file}: attachment`);
          } catch (error) {
            failed.push(`${file}: ${(error as Error).message}`);
          }
        }
        if (seed % 10 === 0)
          await verifySignatures(raw, {}).catch((error: unknown) =>
            failed.push(`${file}: ${(error as Error).message}`),
          );
      }

      expect(files.length).toBeGreaterThan(1_000);
      expect(attachments).toBeGreaterThan(50);
      expect(failed).toEqual([]);
    },
    LONG_MS,
  );
});
