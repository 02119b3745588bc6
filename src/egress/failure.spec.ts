import { EgressBlocked } from './dial.js';
import { BadAnswer, ConnectionLost, explain } from './failure.js';
import { LookupFailed } from './names/lookup-failed.js';

const coded = (code: string, message = 'secret 10.0.0.7:8443'): Error => Object.assign(new Error(message), { code });

describe('explain', () => {
  it.each([
    [new EgressBlocked('The address is private.'), 'blocked'],
    [new LookupFailed('ENOTFOUND'), 'dns'],
    [new LookupFailed('EAI_AGAIN'), 'dns'],
    [coded('ECONNREFUSED'), 'connection'],
    [coded('ECONNRESET'), 'connection'],
    [coded('EPIPE'), 'connection'],
    [coded('EHOSTUNREACH'), 'connection'],
    [coded('ENETUNREACH'), 'connection'],
    [coded('ETIMEDOUT'), 'connection'],
    [coded('EMFILE'), 'connection'],
    [new Error('secret'), 'connection'],
    [new ConnectionLost('secret'), 'connection'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'tls'],
    [coded('CERT_HAS_EXPIRED'), 'tls'],
    [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
    [coded('EPROTO'), 'tls'],
    [new BadAnswer('badLength'), 'protocol'],
  ])('%s is a failure of kind %s', (error, kind) => {
    const { error: failure, detail } = explain(error);

    expect(failure).toBe(kind);
    expect(detail).toMatch(/\w.*\.$/);
    expect(detail).not.toMatch(/secret|10\.0\.0\.7|undefined/);
  });
});
