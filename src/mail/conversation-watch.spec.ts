import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import { ConversationWatch } from './conversation-watch.js';

class FakeSocket extends EventEmitter {
  readonly localPort = 40_000;
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort = 25;
  bytesWritten = 0;
  writableLength = 0;
  destroyed = false;
  fault: (Error & { code?: string }) | null = null;

  destroy(fault: Error): void {
    this.destroyed = true;
    this.fault = fault;
    this.emit('close');
  }
}

const MINUTE_MS = 60_000;

describe('a watched conversation', () => {
  let socket: FakeSocket;
  let log: ReturnType<ConversationWatch['logger']>;

  const watched = (answerMsMax: number): void => {
    const watch = new ConversationWatch(answerMsMax);
    socket = new FakeSocket();
    watch.attend(socket as unknown as Parameters<ConversationWatch['attend']>[0]);
    log = watch.options.logger;
    log.info(
      { tnx: 'network', sid: 's', localPort: 40_000, remoteAddress: '192.0.2.1', remotePort: 25 },
      'established',
    );
  };
  const client = (line: string): void => log.debug({ tnx: 'client', sid: 's' }, line);
  const server = (line: string): void => log.debug({ tnx: 'server', sid: 's' }, line);
  const sentAll = (): void => log.info({ tnx: 'message', sid: 's' }, '<100 bytes encoded mime message>');
  const endsAfter = (): number => {
    for (let half = 1; half <= 40; half += 1) {
      jest.advanceTimersByTime(MINUTE_MS / 2);
      if (socket.destroyed) return half / 2;
    }
    return Infinity;
  };
  const upTo: Record<string, () => void> = {
    greeting: () => undefined,
    EHLO: () => (server('220 ready'), client('EHLO mail.example.com')),
    MAIL: () => (upTo['EHLO']?.(), server('250 ok'), client('MAIL FROM:<a@example.com>')),
    RCPT: () => (upTo['MAIL']?.(), server('250 ok'), client('RCPT TO:<b@example.org>')),
    DATA: () => (upTo['RCPT']?.(), server('250 ok'), client('DATA')),
    block: () => (upTo['DATA']?.(), server('354 go on')),
    'final dot': () => (upTo['block']?.(), sentAll()),
    nothing: () => (upTo['final dot']?.(), server('250 taken')),
  };

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it.each<[string, number]>([
    ['greeting', 5],
    ['EHLO', 5],
    ['MAIL', 5],
    ['RCPT', 5],
    ['DATA', 2],
    ['block', 3],
    ['final dot', 10],
    ['nothing', Infinity],
  ])('ends when the server is silent at %s for %d minutes (RFC 5321, section 4.5.3.2)', (at, minutes) => {
    watched(10 * MINUTE_MS);
    upTo[at]?.();

    expect(endsAfter()).toBe(minutes);
    if (minutes < Infinity) expect(socket.fault).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it.each(['greeting', 'MAIL', 'final dot'])('ends earlier with a smaller SMTP_ANSWER_TIMEOUT: %s', (at) => {
    watched(MINUTE_MS);
    upTo[at]?.();

    expect(endsAfter()).toBe(1);
  });

  it('times each reply of pipelined commands separately (RFC 2920)', () => {
    watched(10 * MINUTE_MS);
    upTo['EHLO']?.();
    server('250-PIPELINING');
    for (const line of ['MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>', 'DATA']) client(line);
    for (const answer of ['250 ok', '250 ok']) {
      jest.advanceTimersByTime(4 * MINUTE_MS);
      server(answer);
    }

    expect(endsAfter()).toBe(2);
  });

  it('a slow upload of a message does not count as silence', () => {
    watched(10 * MINUTE_MS);
    upTo['block']?.();
    for (let chunk = 0; chunk < 5; chunk += 1) {
      socket.bytesWritten += 1_000;
      jest.advanceTimersByTime(2 * MINUTE_MS);
    }
    expect(socket.destroyed).toBe(false);

    expect(endsAfter()).toBeLessThanOrEqual(6);
  });

  it('leaves no timer after the connection has ended', () => {
    watched(10 * MINUTE_MS);
    upTo['final dot']?.();
    socket.emit('close');

    expect(jest.getTimerCount()).toBe(0);
  });
});
