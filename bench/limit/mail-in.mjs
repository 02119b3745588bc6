/**
 * Upper limit for receiving mail: a process with only the library smtp-server. It stores each message with a group
 * commit before it answers 250.
 */
import { createHash } from 'node:crypto';
import { SMTPServer } from 'smtp-server';
import { newId } from './ids.mjs';
import { mailKeeper } from './store.mjs';

const { DATABASE_URL = '', PORT = '' } = process.env;

/** @typedef {import('./store.mjs').Mail & { done(): void }} Arrived */

const keep = await mailKeeper(DATABASE_URL, (committed) => {
  for (const { done } of /** @type {Arrived[]} */ (committed)) done();
});

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData: (stream, { envelope: { mailFrom, rcptTo } }, callback) => {
    const hash = createHash('sha256');
    /** @type {Buffer[]} */
    const chunks = [];
    stream.on('data', (/** @type {Buffer} */ chunk) => {
      hash.update(chunk);
      chunks.push(chunk);
    });
    stream.on('end', () => {
      /** @type {Arrived} */
      const arrived = {
        id: newId(),
        sender: mailFrom === false ? '' : mailFrom.address,
        recipient: rcptTo[0]?.address ?? '',
        sha256: hash.digest(),
        raw: Buffer.concat(chunks),
        done: () => callback(),
      };
      keep(arrived);
    });
  },
});
server.on('error', () => undefined);
server.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => process.exit(0));
