import { spawnSync } from 'node:child_process';
import { curlOf, signedCurlOf } from './curl';

const REQUEST = {
  url: 'https://example.com/hooks',
  webhookId: 'msg_1',
  eventType: 'invoice.paid',
  headers: {},
  body: '{"n":12345678901234567890}',
};

/** Runs the command in a shell and returns its arguments, one per line. */
function argumentsOf(command: string): string[] {
  return spawnSync('sh', ['-c', command.replace(/^curl/, 'printf "%s\\0"')], { encoding: 'utf8' })
    .stdout.split('\0')
    .slice(0, -1);
}

describe('curlOf', () => {
  it.each([
    ["it's", "it's"],
    ['$(touch /tmp/x) `id` \\ "', '$(touch /tmp/x) `id` \\ "'],
    ['a\nb', 'a\nb'],
    ['@file', '@file'],
    ["'; rm -rf / #", "'; rm -rf / #"],
  ])('the shell passes %j on unchanged', (body, expected) => {
    expect(argumentsOf(curlOf({ ...REQUEST, body })).at(-1)).toBe(expected);
  });

  it('contains the headers of the delivery, each once, and no signature', () => {
    const given = argumentsOf(curlOf({ ...REQUEST, headers: { 'X-Tenant': "4'2", 'Webhook-Id': 'another' } }));

    expect(given.filter((each) => /^webhook-id/i.test(each))).toEqual(['webhook-id: msg_1']);
    expect(given).toEqual(expect.arrayContaining(["X-Tenant: 4'2", 'webhook-signature: v1,SIGNATURE']));
  });
});

it('a signed command contains the signed headers and the exact body', () => {
  expect(
    signedCurlOf({
      method: 'POST',
      url: "https://a.example/'x",
      headers: { 'webhook-signature': 'v1,abc', 'x-a': "it's" },
      body: '{"n":12345678901234567890,"one":1.10}',
    }),
  ).toBe(
    [
      "curl -X POST 'https://a.example/'\\''x'",
      "-H 'webhook-signature: v1,abc'",
      "-H 'x-a: it'\\''s'",
      `--data-raw '{"n":12345678901234567890,"one":1.10}'`,
    ].join(' \\\n  '),
  );
  expect(signedCurlOf({ method: 'POST', url: 'https://a.example', headers: {}, body: null })).toContain(
    "--data-binary '@payload'",
  );
});
