import type { EgressAnswer, EgressRequest } from '#egress/agent.js';
import type { FoundRecords } from '#egress/name-records.js';
import { MtaStsPolicies } from './policies.js';

const text = (mode: string, seconds = 3_600): string =>
  `version: STSv1\r\nmode: ${mode}\r\nmx: mx.x.example\r\nmax_age: ${seconds}\r\n`;

class Domain {
  record: FoundRecords<string> = { found: ['v=STSv1; id=1'] };
  answer: { status: number; type: string; body: string } | 'unreachable' = {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: text('enforce'),
  };
  nowMs = 0;
  readonly asked: string[] = [];
  readonly policies = new MtaStsPolicies(
    { exchange: async (request: EgressRequest) => this.exchange(request) },
    { txt: async (name: string) => (name === '_mta-sts.x.example' ? this.record : { found: [] }) },
    () => this.nowMs,
  );

  announce(id: string | null): void {
    this.record = { found: id === null ? [] : [`v=STSv1; id=${id}`] };
  }

  async mode(): Promise<string | null> {
    return (await this.policies.findByDomain('x.example'))?.mode ?? null;
  }

  private exchange({ url }: EgressRequest): EgressAnswer {
    this.asked.push(url.href);
    if (this.answer === 'unreachable')
      return { kind: 'error', error: 'tls', detail: 'The certificate is of another name.', durationMs: 1 };
    const { status, type, body } = this.answer;
    return {
      kind: 'response',
      status,
      headers: { 'content-type': type },
      body: Buffer.from(body),
      truncated: false,
      durationMs: 1,
    };
  }
}

describe('MtaStsPolicies', () => {
  it('fetches the announced policy once for its lifetime', async () => {
    const domain = new Domain();

    expect([await domain.mode(), await domain.mode()]).toEqual(['enforce', 'enforce']);

    expect(domain.asked).toEqual(['https://mta-sts.x.example/.well-known/mta-sts.txt']);
    domain.nowMs = 3_600_001;
    await domain.mode();
    expect(domain.asked).toHaveLength(2);
  });

  it('fetches it again when its id changes', async () => {
    const domain = new Domain();
    await domain.mode();

    domain.announce('2');
    domain.answer = { status: 200, type: 'text/plain', body: text('none') };

    expect([await domain.mode(), domain.asked.length]).toEqual(['none', 2]);
  });

  it("keeps a valid policy if the announcement disappears, the name servers fail, or the new policy can't be fetched", async () => {
    const domain = new Domain();
    await domain.mode();

    domain.announce(null);
    const gone = await domain.mode();
    domain.record = { unanswered: 'ETIMEOUT' };
    const silent = await domain.mode();
    domain.announce('2');
    domain.answer = 'unreachable';
    const unfetched = [await domain.mode(), await domain.mode()];

    expect([gone, silent, ...unfetched, domain.asked.length]).toEqual(['enforce', 'enforce', 'enforce', 'enforce', 2]);
    domain.nowMs = 300_001;
    domain.answer = { status: 200, type: 'text/plain', body: text('testing') };
    expect(await domain.mode()).toBe('testing');
    domain.nowMs = 10_000_000;
    domain.announce(null);
    expect(await domain.mode()).toBeNull();
  });

  it('sends no request without an announcement', async () => {
    const domain = new Domain();
    domain.announce(null);

    expect([await domain.mode(), domain.asked]).toEqual([null, []]);
  });

  it.each<[string, Domain['answer']]>([
    ['without a certificate of its name', 'unreachable'],
    ['that is a redirect', { status: 301, type: 'text/plain', body: text('enforce') }],
    ['that is a web page', { status: 200, type: 'text/html', body: text('enforce') }],
    ["that can't be read", { status: 200, type: 'text/plain', body: 'mode: enforce' }],
  ])('ignores a policy %s, and pauses before it fetches again', async (_what, answer) => {
    const domain = new Domain();
    domain.answer = answer;

    expect([await domain.mode(), await domain.mode(), domain.asked.length]).toEqual([null, null, 1]);

    domain.nowMs = 300_001;
    domain.answer = { status: 200, type: 'text/plain', body: text('enforce') };
    expect(await domain.mode()).toBe('enforce');
  });
});
