import { type Html, html } from '#http/pages/html.js';
import type { Page } from '#http/pages/page.js';
import type { UnsubscribeLink } from './unsubscribe-links.js';
import type { LinkState } from './unsubscriptions.js';

export type PageLanguage = 'en' | 'de';

/** The state of the unsubscribe page: before the reader's choice (`asks`), or after it. */
export type PageStep = 'asks' | 'unsubscribed' | 'resubscribed';

interface Texts {
  askTitle: string;
  askTopic: (address: Html, topic: string, sender: string) => Html;
  askAll: (address: Html, sender: string) => Html;
  unsubscribe: string;
  unsubscribedTitle: string;
  unsubscribedTopic: (address: Html, topic: string, sender: string) => Html;
  unsubscribedAll: (address: Html, sender: string) => Html;
  /** Text shown if the topic was deleted. */
  unsubscribedNone: (address: Html, sender: string) => Html;
  mistake: string;
  contact: string;
  resubscribe: string;
  resubscribedTitle: string;
  resubscribed: (address: Html, topic: string, sender: string) => Html;
  unknownTitle: string;
  unknown: string;
}

const ENGLISH: Texts = {
  askTitle: 'Unsubscribe?',
  askTopic: (address, topic, sender) =>
    html`<p>${address} receives emails of <strong>“${topic}”</strong> from ${sender}.</p>`,
  askAll: (address, sender) => html`<p>${address} receives emails from ${sender}.</p>`,
  unsubscribe: 'Unsubscribe',
  unsubscribedTitle: 'You are unsubscribed',
  unsubscribedTopic: (address, topic, sender) =>
    html`<p>${address} receives no more emails of <strong>“${topic}”</strong> from ${sender}.</p>`,
  unsubscribedAll: (address, sender) => html`<p>${address} receives no more emails from ${sender}.</p>`,
  unsubscribedNone: (address, sender) => html`<p>${address} receives no more emails of this kind from ${sender}.</p>`,
  mistake: 'Was that a mistake?',
  contact: 'If that was a mistake, contact the sender.',
  resubscribe: 'Subscribe again',
  resubscribedTitle: 'You are subscribed',
  resubscribed: (address, topic, sender) =>
    html`<p>${address} receives emails of <strong>“${topic}”</strong> from ${sender} again.</p>`,
  unknownTitle: 'This link does not work',
  unknown: 'The link is incomplete. Open it from the email again, or copy it as a whole.',
};

// cspell:disable
const GERMAN: Texts = {
  askTitle: 'Abmelden?',
  askTopic: (address, topic, sender) =>
    html`<p>${address} bekommt E-Mails zum Thema <strong>„${topic}“</strong> von ${sender}.</p>`,
  askAll: (address, sender) => html`<p>${address} bekommt E-Mails von ${sender}.</p>`,
  unsubscribe: 'Abmelden',
  unsubscribedTitle: 'Sie sind abgemeldet',
  unsubscribedTopic: (address, topic, sender) =>
    html`<p>${address} bekommt keine E-Mails zum Thema <strong>„${topic}“</strong> von ${sender} mehr.</p>`,
  unsubscribedAll: (address, sender) => html`<p>${address} bekommt keine E-Mails von ${sender} mehr.</p>`,
  unsubscribedNone: (address, sender) => html`<p>${address} bekommt keine E-Mails dieser Art von ${sender} mehr.</p>`,
  mistake: 'War das ein Versehen?',
  contact: 'Wenn das ein Versehen war, wenden Sie sich an den Absender.',
  resubscribe: 'Wieder anmelden',
  resubscribedTitle: 'Sie sind angemeldet',
  resubscribed: (address, topic, sender) =>
    html`<p>${address} bekommt wieder E-Mails zum Thema <strong>„${topic}“</strong> von ${sender}.</p>`,
  unknownTitle: 'Dieser Link funktioniert nicht',
  unknown: 'Der Link ist unvollständig. Öffnen Sie ihn noch einmal aus der E-Mail, oder kopieren Sie ihn ganz.',
};
// cspell:enable

const TEXTS: Readonly<Record<PageLanguage, Texts>> = { en: ENGLISH, de: GERMAN };

/** Returns `de` if the reader prefers German to English, and `en` otherwise (RFC 9110, section 12.5.4). */
export function languageOf(acceptLanguage: string | undefined): PageLanguage {
  const weights = { en: 0, de: 0 };
  for (const range of (acceptLanguage ?? '').split(',')) {
    const [, language, weight = '1'] = /^\s*(en|de)(?:-[a-z0-9-]*)?\s*(?:;\s*q=([\d.]+))?\s*$/i.exec(range) ?? [];
    const name = language?.toLowerCase() as PageLanguage | undefined;
    if (name !== undefined) weights[name] = Math.max(weights[name], Number(weight));
  }
  return weights.de > weights.en ? 'de' : 'en';
}

/** Returns the HTML page for an unsubscribe link. Its forms are submitted to the page's own URL. */
export function unsubscribePage(
  { address, senderDomain, topicId }: UnsubscribeLink,
  { topic, isUnsubscribed }: LinkState,
  step: PageStep,
  lang: PageLanguage,
): Page {
  const texts = TEXTS[lang];
  const shown = html`<strong>${masked(address)}</strong>`;
  const page = { lang, brand: senderDomain };
  if (step === 'resubscribed' && topic !== null)
    return {
      ...page,
      title: texts.resubscribedTitle,
      body: html`<div role="status">${texts.resubscribed(shown, topic.name, senderDomain)}</div>${form('unsubscribe', texts.unsubscribe, 'other')}`,
    };
  if (step === 'asks' && !isUnsubscribed) {
    const question =
      topic === null ? texts.askAll(shown, senderDomain) : texts.askTopic(shown, topic.name, senderDomain);
    return { ...page, title: texts.askTitle, body: html`${question}${form('unsubscribe', texts.unsubscribe)}` };
  }
  const gone =
    topicId === null ? texts.unsubscribedAll(shown, senderDomain) : texts.unsubscribedNone(shown, senderDomain);
  const done = topic === null ? gone : texts.unsubscribedTopic(shown, topic.name, senderDomain);
  const undo =
    topic === null
      ? html`<p class="quiet">${texts.contact}</p>`
      : html`<p class="quiet">${texts.mistake}</p>${form('resubscribe', texts.resubscribe, 'other')}`;
  return { ...page, title: texts.unsubscribedTitle, body: html`<div role="status">${done}</div>${undo}` };
}

export function unknownLinkPage(lang: PageLanguage): Page {
  const { unknownTitle, unknown } = TEXTS[lang];
  return { lang, brand: '', title: unknownTitle, body: html`<p class="fault" role="alert">${unknown}</p>` };
}

function form(action: 'unsubscribe' | 'resubscribe', label: string, style: '' | 'other' = ''): Html {
  return html`<form method="post"><button class="${style}" name="action" value="${action}">${label}</button></form>`;
}

/**
 * Returns the address with most of its local part hidden, such as `c•••@example.org`, because links may be forwarded.
 */
function masked(address: string): string {
  const at = address.lastIndexOf('@');
  return `${[...address][0] ?? ''}•••${address.slice(at)}`;
}
