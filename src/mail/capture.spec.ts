import type { IncomingBytes, IncomingMail, RecipientVerdict, SmtpAnswer } from '#modules/inbox/contract.js';
import { CaptureTransport } from './capture.js';

const ALIAS: RecipientVerdict = {
  kind: 'alias',
  route: { environmentId: 1, aliasId: '019aa4c0-0000-7000-8000-000000000000', maxSizeBytes: null, allowedSenders: [] },
};
const refused = (code: number, enhanced: string, text: string): RecipientVerdict => ({
  kind: 'refused',
  answer: { code, enhanced, text },
});

async function replyTo(
  verdict: RecipientVerdict,
  answer: SmtpAnswer = { code: 250, enhanced: '2.6.0', text: 'Accepted.' },
) {
  const mail = { recipient: async () => verdict, accept: async () => answer } as unknown as IncomingMail;
  const { replies } = await new CaptureTransport(mail).submit({
    emailId: 'evt_1',
    raw: Buffer.from('Subject: a\r\n\r\nb'),
    mailFrom: () => 'a@b.example',
    recipients: ['c@d.example'],
  });
  return replies.map(({ outcome, code, text }) => [outcome, code, text]);
}

describe('capture:', () => {
  it.each<[string, RecipientVerdict, string, number, RegExp]>([
    ['captures mail to other domains', refused(550, '5.7.1', 'Not ours.'), 'accepted', 250, /^Captured/],
    [
      'captures mail to an unknown mailbox of the installation',
      refused(550, '5.1.1', 'No such mailbox here.'),
      'accepted',
      250,
      /^Captured/,
    ],
    ['delivers to an alias', ALIAS, 'accepted', 250, /^250 2\.6\.0 Accepted/],
    [
      'defers while the alias lookup fails',
      refused(451, '4.3.0', 'Nothing can be stored.'),
      'deferred',
      451,
      /^451 4\.3\.0 Nothing can be stored\.$/,
    ],
    [
      'defers while the domain of an alias is paused',
      refused(450, '4.2.1', 'Not at the moment.'),
      'deferred',
      450,
      /^450 4\.2\.1/,
    ],
  ])('%s', async (_what, verdict, outcome, code, text) => {
    expect(await replyTo(verdict)).toEqual([[outcome, code, expect.stringMatching(text)]]);
  });

  it('passes at most 256 KB of headers, and a larger message in chunks, like the listener', async () => {
    let came: IncomingBytes | null = null;
    const mail = {
      recipient: async () => ALIAS,
      accept: async (_envelope: unknown, bytes: IncomingBytes) => (
        (came = bytes),
        { code: 250, enhanced: '2.6.0', text: '' }
      ),
    } as unknown as IncomingMail;
    const raw = Buffer.alloc(300 * 1024, 'a');

    await new CaptureTransport(mail).submit({
      emailId: 'evt_1',
      raw,
      mailFrom: () => 'a@b.example',
      recipients: ['c@d.example'],
    });

    expect(came).toMatchObject({ sizeBytes: raw.length, whole: null, head: raw.subarray(0, 256 * 1024) });
  });

  it.each([
    [451, 'deferred'],
    [552, 'failed'],
  ])("returns the alias's reply: %s is %s", async (code, outcome) => {
    expect(await replyTo(ALIAS, { code, enhanced: '4.3.0', text: 'a' })).toEqual([[outcome, code, `${code} 4.3.0 a`]]);
  });
});
