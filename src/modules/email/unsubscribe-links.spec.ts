import { createHash } from 'node:crypto';
import type { Environment } from '#modules/auth/contract.js';
import type { CompleteDraft } from './email-draft.js';
import { type UnsubscribeLink, UnsubscribeLinks } from './unsubscribe-links.js';

const EMAIL_ID = '019abc00-1111-2222-3333-444455556666';
const TOPIC_ID = '019abc00-7777-8888-9999-aaaabbbbcccc';
const LINK: UnsubscribeLink = {
  environmentId: 4711,
  emailId: EMAIL_ID,
  topicId: TOPIC_ID,
  address: 'Ada@example.org',
  senderDomain: 'shop.example',
};
const ENVIRONMENT: Environment = {
  environmentId: 4711,
  organizationId: '019abc00-0000-0000-0000-000000000000',
  organizationSlug: 'acme',
  mode: 'live',
  retentionDays: 30,
  systemDestinationId: null,
};
const links = (secret = 'one'): UnsubscribeLinks =>
  new UnsubscribeLinks(
    {
      derived: (use) =>
        createHash('sha256')
          .update(secret + use)
          .digest(),
    },
    { baseUrl: 'https://posthorn.example' },
    { get: async () => ENVIRONMENT },
    { idOf: async (_environment, reference) => (reference === 'news' ? TOPIC_ID : null) },
  );
const tokenOf = async (link: UnsubscribeLink): Promise<string> =>
  (await links().urlOf(link)).split('/').at(-1) as string;

const DRAFT: CompleteDraft = {
  from: { name: 'Shop', address: 'news@shop.example' },
  to: [{ name: '', address: 'Ada@example.org' }],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'News',
  html: '<a href="{{unsubscribe_url}}">off</a> {{{ unsubscribe_url }}} {{{RESEND_UNSUBSCRIBE_URL}}}',
  text: 'off: {{ unsubscribe_url }}',
  headers: { 'X-Order': '1', 'list-unsubscribe': '<https://elsewhere.example>' },
  attachments: [],
  tags: [],
  scheduledAt: null,
  template: null,
  unsubscribe: { topicId: TOPIC_ID },
};

describe('UnsubscribeLinks', () => {
  it.each([
    LINK,
    { ...LINK, topicId: null },
    { ...LINK, environmentId: 2 ** 32 - 1, address: `${'a'.repeat(64)}@b.example` },
  ])('reads what it issued: %j', async (link) => {
    expect(links().read(await tokenOf(link))).toEqual(link);
  });

  it('shows neither address nor sender in the URL, and fits in one header line for the longest address', async () => {
    const longest = `${'a'.repeat(64)}@${'b'.repeat(185)}.org`;
    const url = await links().urlOf({ ...LINK, address: longest, senderDomain: `${'c'.repeat(249)}.org` });

    expect(`List-Unsubscribe: <${url}>`.length).toBeLessThan(998);
    expect(Buffer.from(await tokenOf(LINK), 'base64url').toString('latin1')).not.toMatch(/ada|shop/i);
  });

  it('rejects a token of which any byte was changed, and tokens of another installation', async () => {
    const sealed = Buffer.from(await tokenOf(LINK), 'base64url');

    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(links().read(changed.toString('base64url'))).toBeNull();
    }
    expect(links('other').read(await tokenOf(LINK))).toBeNull();
  });

  it.each(['', 'nonsense', 'A'.repeat(79), 'A'.repeat(1001), `${'A'.repeat(90)}=`, '../'.repeat(40)])(
    'rejects %j',
    (token) => {
      expect(links().read(token)).toBeNull();
    },
  );

  it('adds both headers and the link, and replaces headers that a policy added', async () => {
    const { headers, html, text } = await links().addTo({ environmentId: 4711, id: EMAIL_ID }, DRAFT);
    const url = await links().urlOf(LINK);

    expect(url).toMatch(/^https:\/\/posthorn\.example\/u\/acme\/[A-Za-z0-9_-]+$/);

    expect(headers).toEqual({
      'X-Order': '1',
      'List-Unsubscribe': `<${url}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(html).toBe(`<a href="${url}">off</a> ${url} ${url}`);
    expect(text).toBe(`off: ${url}`);
  });

  it.each(['html', 'text'] as const)('limits the size of %s to 1 MB with its links', async (name) => {
    const { length } = await links().urlOf(LINK);
    const draft = { ...DRAFT, html: null, text: null };
    const body = (bytes: number): string => `ä{{unsubscribe_url}}{{{ unsubscribe_url }}}`.padEnd(bytes, '.');
    const added = 2 * length - '{{unsubscribe_url}}{{{ unsubscribe_url }}}'.length + 1;
    const refusal = (bytes: number) =>
      links().refuseTooLarge(4711, { ...draft, [name]: body(bytes) }, DRAFT.unsubscribe!);

    await expect(refusal(1_048_576 - added)).resolves.toBeUndefined();
    await expect(refusal(1_048_576 - added + 1)).rejects.toMatchObject({ details: { fields: [{ path: name }] } });
    await expect(
      links().refuseTooLarge(4711, { ...draft, [name]: '{{unsubscribe_url}}'.repeat(55_000) }, null),
    ).resolves.toBeUndefined();
  });

  it('resolves the topic of a request, and throws 422 for an unknown one', async () => {
    expect(await links().resolve(1, null)).toBeNull();
    expect(await links().resolve(1, { topic: null })).toEqual({ topicId: null });
    expect(await links().resolve(1, { topic: 'news' })).toEqual({ topicId: TOPIC_ID });
    await expect(links().resolve(1, { topic: 'other' })).rejects.toMatchObject({
      details: { fields: [{ path: 'unsubscribe.topic', message: expect.stringContaining('no topic other') }] },
    });
  });

  it('changes nothing in an email without the link', async () => {
    for (const unsubscribe of [null, undefined])
      expect(await links().addTo({ environmentId: 1, id: EMAIL_ID }, { ...DRAFT, unsubscribe })).toEqual({
        headers: DRAFT.headers,
        html: DRAFT.html,
        text: DRAFT.text,
      });
  });
});
