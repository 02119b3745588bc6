import { auditDiff, auditView, MASKED } from './audit-view.js';

describe('auditView', () => {
  it.each([
    'key',
    'secret',
    'signing_secret',
    'verificationToken',
    'token',
    'credentials',
    'password',
    'secretAccessKey',
    'authorization',
    'x-api-key',
    'client_secret',
    'previous_secret',
    'test_key',
    'api_keys',
  ])('masks %s at any depth', (name) => {
    const shown = JSON.stringify(auditView({ [name]: 'hunter2', nested: { list: [{ [name]: 'hunter2' }] } }));

    expect(shown).not.toContain('hunter2');
    expect(shown.split(MASKED)).toHaveLength(3);
  });

  it('keeps the names of headers and masks their values', () => {
    const headers = { 'x-tenant': 'hunter2', 'x-any': 'hunter2' };

    expect(auditView({ headers, response: { status: 200, headers }, extraHeaders: [['x-any', 'hunter2']] })).toEqual({
      headers: { 'x-tenant': MASKED, 'x-any': MASKED },
      response: { status: 200, headers: { 'x-tenant': MASKED, 'x-any': MASKED } },
      extraHeaders: [MASKED],
    });
  });

  it('keeps values that are not secrets: ids, flags, and nulls', () => {
    const resource = {
      id: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      key: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      has_secret: true,
      secret: null,
      name: 'Billing',
      keyword: 'a',
      tokens_left: 3,
      monkey: 'b',
    };

    expect(auditView(resource)).toEqual(resource);
  });

  it('masks values with the format of a secret in any field', () => {
    const text = `Use ek_live_${'a'.repeat(49)} or whsec_${'b'.repeat(32)}.`;

    expect(auditView({ note: text, prefix: 'ek_live_4fQa' })).toEqual({
      note: `Use ${MASKED} or ${MASKED}.`,
      prefix: 'ek_live_4fQa',
    });
  });

  it('removes the password from a URL', () => {
    expect(auditView({ url: 'https://user:hunter2@example.com/a' })).toEqual({
      url: `https://${MASKED}@example.com/a`,
    });
  });

  it('replaces a too large resource by a note that it was truncated', () => {
    expect(auditView({ id: 'a', text: 'x'.repeat(20_000) })).toEqual({ id: 'a', truncated: true });
  });
});

describe('auditDiff', () => {
  it('a diff contains the changed fields with their values before and after', () => {
    expect(
      auditDiff({ id: 'a', name: 'Old', tags: [1], gone: 1 }, { id: 'a', name: 'New', tags: [1], come: 2 }),
    ).toEqual({
      before: { name: 'Old', gone: 1 },
      after: { name: 'New', come: 2 },
    });
  });
});
