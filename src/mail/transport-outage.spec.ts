import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TransportOutage } from './transport-outage.js';

describe('TransportOutage', () => {
  it('logs one line at the start and one at the end of an outage, with host and cause, without credentials', () => {
    const lines: unknown[] = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(line));
    const outage = new TransportOutage({
      kind: 'smtp',
      host: 'relay.example',
      port: 587,
      isImplicitTls: false,
      startTls: 'required',
      login: { user: 'ada', password: 'hunter2' },
    });
    const report = (isUnreachable: boolean): void =>
      outage.note({
        isUnreachable,
        replies: [{ address: 'a@b.example', outcome: 'deferred', code: 421, enhanced: '4.3.2', text: '421 4.3.2 bye' }],
      });

    for (const isUnreachable of [true, true, false, ...Array<boolean>(15).fill(true), false, false])
      report(isUnreachable);

    expect(lines).toEqual([
      'The mail transport relay.example:587 is not reachable: 421 4.3.2 bye',
      'The mail transport relay.example:587 is reachable again.',
    ]);
    jest.restoreAllMocks();
  });
});
