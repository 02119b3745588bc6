import type { Schemas } from '../api/client';
import { copyOf, sendAgainOf } from './send-again';

type Status = Schemas['EmailDetail']['status'];

const recipient = (address: string, status: Status): Schemas['EmailRecipientItem'] => ({
  address,
  status,
  at: '2026-11-27T10:00:00.000Z',
  detail: null,
});

describe('sendAgainOf', () => {
  it.each<[Status, Schemas['EmailRecipientItem'][], ReturnType<typeof sendAgainOf>]>([
    ['failed', [recipient('a@x', 'failed')], { kind: 'replay' }],
    ['dlq', [recipient('a@x', 'dlq')], { kind: 'replay' }],
    ['bounced', [recipient('a@x', 'bounced'), recipient('b@x', 'delivered')], { kind: 'copy', to: ['a@x'] }],
    ['suppressed', [recipient('a@x', 'suppressed')], { kind: 'copy', to: ['a@x'] }],
    ['bounced', [recipient('', 'bounced')], null],
    ['complained', [recipient('a@x', 'complained')], null],
    ['delivered', [recipient('a@x', 'delivered')], null],
    ['scheduled', [recipient('a@x', 'scheduled')], null],
  ])('a %s email', (status, recipients, way) => {
    expect(sendAgainOf({ status, recipients })).toEqual(way);
  });

  it('never sends an erased email', () => {
    expect(sendAgainOf({ status: 'failed', recipients: [], erased_at: '2026-11-27T10:00:00.000Z' })).toBeNull();
  });
});

describe('copyOf', () => {
  const email = { from: 'a@x', reply_to: [], subject: 'Hi', html: '<p>Hi</p>', text: 'Hi', tags: [] };

  it('keeps the content, and sends it to the given recipients only', () => {
    expect(copyOf(email, ['b@x'], [])).toEqual({
      from: 'a@x',
      to: ['b@x'],
      subject: 'Hi',
      html: '<p>Hi</p>',
      text: 'Hi',
    });
  });

  it('encodes attachments of any size, with their Content-ID', () => {
    const bytes = new Uint8Array(20_000).fill(255);
    const { attachments = [] } = copyOf(
      { ...email, html: null, text: null, tags: [{ name: 'kind', value: 'order' }], reply_to: ['r@x'] },
      ['b@x'],
      [{ file: { filename: 'a.png', content_type: 'image/png', content_id: 'logo' }, bytes }],
    );

    expect(attachments).toEqual([
      {
        filename: 'a.png',
        content_type: 'image/png',
        content: Buffer.from(bytes).toString('base64'),
        content_id: 'logo',
      },
    ]);
  });
});
