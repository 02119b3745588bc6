import { signInPage } from './sign-in-pages.js';

const OFFER = { basePath: '', returnTo: null, fault: null, mailsCodes: true, hasProvider: true };

describe('signInPage', () => {
  it.each([
    ['codes by email first where mail can be sent', {}, ['by-provider', 'by-code', 'by-key']],
    ['the API key first where no mail can be sent', { mailsCodes: false }, ['by-provider', 'by-key', 'by-code']],
    ['no provider where none is set', { hasProvider: false, mailsCodes: false }, ['by-key', 'by-code']],
  ])('shows %s', (_, changed, sections) => {
    const page = String(signInPage({ ...OFFER, ...changed }).body);

    expect([...page.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id)).toEqual(sections);
  });
});
