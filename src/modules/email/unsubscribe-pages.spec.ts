import { documentOf } from '#http/pages/page.js';
import type { UnsubscribeLink } from './unsubscribe-links.js';
import { languageOf, type PageStep, unknownLinkPage, unsubscribePage } from './unsubscribe-pages.js';
import type { LinkState } from './unsubscriptions.js';

const LINK: UnsubscribeLink = {
  environmentId: 1,
  emailId: '019abc00-1111-2222-3333-444455556666',
  topicId: '019abc00-7777-8888-9999-aaaabbbbcccc',
  address: 'ada.lovelace@example.org',
  senderDomain: 'shop.example',
};
const NEWS = { key: 'news', name: 'News & <Offers>' };
const page = (
  state: Partial<LinkState>,
  step: PageStep = 'asks',
  { lang = 'en', link = LINK }: { lang?: 'en' | 'de'; link?: UnsubscribeLink } = {},
): string => String(documentOf(unsubscribePage(link, { topic: NEWS, isUnsubscribed: false, ...state }, step, lang)));

describe('languageOf', () => {
  it.each<[string | undefined, 'en' | 'de']>([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en'],
    ['fr,de;q=0.5', 'de'],
    ['fr, *;q=0.1', 'en'],
    ['de;q=0', 'en'],
    ['de;q=0.2, en;q=0.7', 'en'],
    ['den, x-de', 'en'],
  ])('%j: %s', (header, language) => {
    expect(languageOf(header)).toBe(language);
  });
});

describe('unsubscribePage', () => {
  it('asks, with one form, the masked address and the escaped name of the topic', () => {
    const shown = page({});

    expect(shown).toContain('<html lang="en">');
    expect(shown).toContain('a•••@example.org');
    expect(shown).toContain('News &amp; &lt;Offers&gt;');
    expect(shown.match(/<form method="post">/g)).toHaveLength(1);
    expect(shown).toContain('name="action" value="unsubscribe"');
    expect(shown).not.toMatch(/lovelace|<script|Posthorn/);
  });

  it('offers to subscribe again to a topic, but not to all emails', () => {
    expect(page({ isUnsubscribed: true }, 'unsubscribed')).toContain('value="resubscribe"');
    expect(page({ isUnsubscribed: true })).toContain('You are unsubscribed');
    for (const link of [LINK, { ...LINK, topicId: null }]) {
      const shown = page({ topic: null, isUnsubscribed: true }, 'unsubscribed', { link });
      expect(shown).not.toContain('<form');
      expect(shown).toContain('contact the sender');
    }
    expect(page({}, 'resubscribed')).toContain('You are subscribed');
  });

  it('has German texts', () => {
    expect(page({}, 'asks', { lang: 'de' })).toContain('<html lang="de">');
    expect(page({}, 'asks', { lang: 'de' })).toContain('Abmelden?');
    expect(String(documentOf(unknownLinkPage('de')))).toContain('Dieser Link funktioniert nicht');
  });
});
