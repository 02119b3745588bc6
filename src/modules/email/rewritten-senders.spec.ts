import type { Clock } from '#kernel/clock.js';
import { RewrittenSenders } from './rewritten-senders.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-27T02:00:00Z');

const senders = (nowMs = NOW_MS, secret = 'a'): RewrittenSenders =>
  new RewrittenSenders({ derived: (purpose) => Buffer.from(purpose + secret) }, { nowMs: () => nowMs } as Clock);

describe('RewrittenSenders', () => {
  it.each(['ada@b.example', 'Ada.L+x=y@b.example', 'a@localhost'])('%s is rewritten and read again', (sender) => {
    const localPart = senders().localPart(sender) as string;

    expect(localPart).toMatch(/^SRS0=[a-z2-7]{8}=[a-z2-7]{2}=/);
    expect(senders().read(localPart)).toBe(sender);
    expect(senders().read(localPart.toLowerCase())?.toLowerCase()).toBe(sender.toLowerCase());
  });

  it('is valid for 21 days, also across the end of the day count', () => {
    for (let from = 0; from < 1_030; from += 103) {
      const nowMs = NOW_MS + from * DAY_MS;
      const localPart = senders(nowMs).localPart('ada@b.example') as string;
      expect(senders(nowMs + 21 * DAY_MS).read(localPart)).toBe('ada@b.example');
      expect(senders(nowMs + 22 * DAY_MS).read(localPart)).toBeNull();
    }
  });

  it('a forged address, one of another installation, and one for another sender are not read', () => {
    const localPart = senders().localPart('ada@b.example') as string;

    expect(senders(NOW_MS, 'b').read(localPart)).toBeNull();
    expect(senders().read(localPart.replace('ada', 'eve'))).toBeNull();
    expect(senders().read(localPart.replace('b.example', 'c.example'))).toBeNull();
    expect(senders().read(localPart.replace(/=[a-z2-7]{2}=/, '=aa='))).toBeNull();
    expect(senders().read('SRS0=aaaaaaaa=aa=b.example=ada')).toBeNull();
    expect(senders().read('ada')).toBeNull();
  });

  it('a sender without a form of at most 64 characters is not rewritten', () => {
    expect(senders().localPart(`${'x'.repeat(37)}@b.example`)).toHaveLength(64);
    expect(senders().localPart(`${'x'.repeat(38)}@b.example`)).toBeNull();
  });

  it.each(['"a b"@b.example', 'ü@b.example', '@b.example', 'a\r\n@b.example', 'a@[192.0.2.1]', 'a'])(
    '%j is not rewritten',
    (sender) => {
      expect(senders().localPart(sender)).toBeNull();
    },
  );
});
