import { portalBodyOf, type PortalDraft } from './portal-draft';

const DRAFT: PortalDraft = {
  permissions: ['view', 'manage', 'secrets', 'resend'],
  expiresSeconds: 3_600,
  locale: 'en',
  scheme: 'system',
  accent: null,
  returnUrl: ' ',
};

describe('portalBodyOf', () => {
  it.each<[Partial<PortalDraft>, object]>([
    [{}, { permissions: ['view', 'manage', 'secrets', 'resend'], theme: { scheme: 'system' } }],
    [{ permissions: ['resend'] }, { permissions: ['view', 'resend'] }],
    [{ scheme: 'dark', accent: '#0a58b5' }, { theme: { scheme: 'dark', accent: '#0a58b5' } }],
    [{ returnUrl: ' https://app.example.com ' }, { return_url: 'https://app.example.com' }],
  ])('%j', (edited, body) => {
    expect(portalBodyOf({ ...DRAFT, ...edited })).toMatchObject({ expires_in: 3_600, locale: 'en', ...body });
  });

  it('leaves out a return URL that is blank', () => {
    expect(portalBodyOf(DRAFT)).not.toHaveProperty('return_url');
  });
});
