import { logoFault, portalBodyOf, type PortalDraft, readBrand } from './portal-draft';

const LOGO = 'data:image/png;base64,iVBORw0KGgo=';
const DRAFT: PortalDraft = {
  permissions: ['view', 'manage', 'secrets', 'resend'],
  expiresSeconds: 3_600,
  locale: 'en',
  scheme: 'system',
  accent: null,
  radius: null,
  font: 'system',
  logo: null,
  returnUrl: ' ',
};

describe('portalBodyOf', () => {
  it.each<[Partial<PortalDraft>, object]>([
    [{}, { permissions: ['view', 'manage', 'secrets', 'resend'], theme: { scheme: 'system' } }],
    [{ permissions: ['resend'] }, { permissions: ['view', 'resend'] }],
    [{ scheme: 'dark', accent: '#0a58b5' }, { theme: { scheme: 'dark', accent: '#0a58b5' } }],
    [{ radius: 0, font: 'serif', logo: LOGO }, { theme: { scheme: 'system', radius: 0, font: 'serif', logo: LOGO } }],
    [{ returnUrl: ' https://app.example.com ' }, { return_url: 'https://app.example.com' }],
  ])('%j', (edited, body) => {
    expect(portalBodyOf({ ...DRAFT, ...edited })).toMatchObject({ expires_in: 3_600, locale: 'en', ...body });
  });

  it('leaves out what was not chosen', () => {
    expect(portalBodyOf(DRAFT)).not.toHaveProperty('return_url');
    expect(portalBodyOf(DRAFT).theme).toEqual({ scheme: 'system' });
  });
});

describe('logoFault', () => {
  it.each([
    [LOGO, null],
    ['data:image/svg+xml;base64,PHN2Zz4=', null],
    ['data:text/html;base64,PHN2Zz4=', 'type'],
    ['data:image/png;base64,', 'type'],
    ['data:', 'type'],
    [`data:image/png;base64,${'A'.repeat(32_768)}`, 'size'],
  ])('%.40s', (url, fault) => {
    expect(logoFault(url)).toBe(fault);
  });
});

describe('readBrand', () => {
  const BRAND = { scheme: 'dark', accent: '#0a58b5', radius: 0, font: 'serif', logo: LOGO };
  const DEFAULT = { scheme: 'system', accent: null, radius: null, font: 'system', logo: null };

  it.each<[unknown, object]>([
    [BRAND, BRAND],
    [{}, DEFAULT],
    [null, DEFAULT],
    ['dark', DEFAULT],
    [[1], DEFAULT],
    [
      { scheme: 'red', accent: 'url(//a.example)', radius: 25, font: 'x', logo: 'data:text/html;base64,PHN2Zz4=' },
      DEFAULT,
    ],
    [{ radius: -1 }, DEFAULT],
    [{ radius: '2' }, DEFAULT],
  ])('%j', (stored, brand) => {
    expect(readBrand(stored)).toEqual(brand);
  });
});
