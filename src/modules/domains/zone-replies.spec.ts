import packet from 'dns-packet';
import fc from 'fast-check';
import { platformZone } from '#engine/mail/platform-zone.js';
import { replyTo } from './zone-replies.js';

const zone = platformZone(
  {
    domain: 'posthorn.example',
    addresses: ['192.0.2.1'],
    spf: null,
    dkim: [
      { selector: 'ph1', publicKey: 'A'.repeat(392) },
      { selector: 'ph2', publicKey: 'B'.repeat(392) },
    ],
  },
  7,
);
const wide = [
  ...zone,
  ...Array.from({ length: 10 }, (_each, i) => ({
    name: 'wide.posthorn.example',
    ttl: 60,
    type: 'TXT' as const,
    strings: [`${i}`.padEnd(200, 'x')],
  })),
];
const UDP = { isUdp: true, isShort: false };

function query(name: string, type: string, more: Partial<packet.Packet> = {}): Buffer {
  return packet.encode({
    type: 'query',
    id: 4711,
    flags: packet.RECURSION_DESIRED,
    questions: [{ name, type: type as 'A', class: 'IN' }],
    ...more,
  });
}

const edns = (size: number): Partial<packet.Packet> => ({
  additionals: [
    {
      type: 'OPT',
      name: '.',
      udpPayloadSize: size,
      extendedRcode: 0,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [],
    },
  ],
});

function reply(
  bytes: Buffer,
  records: Parameters<typeof replyTo>[1] = zone,
  way = UDP,
): packet.DecodedPacket & { rcode: string } {
  const answer = replyTo(bytes, records, way);
  if (answer === null) throw new Error('There is no reply.');
  return packet.decode(answer) as packet.DecodedPacket & { rcode: string };
}

describe('replyTo', () => {
  it('answers with authority, the unchanged question, and no recursion', () => {
    const answer = reply(query('MX.PostHorn.Example', 'A'));

    expect(answer).toMatchObject({
      id: 4711,
      type: 'response',
      rcode: 'NOERROR',
      flag_aa: true,
      flag_rd: true,
      flag_ra: false,
      flag_tc: false,
    });
    expect(answer.questions).toMatchObject([{ name: 'MX.PostHorn.Example', type: 'A' }]);
    expect(answer.answers).toMatchObject([{ name: 'MX.PostHorn.Example', type: 'A', data: '192.0.2.1' }]);
  });

  it.each<[string, Buffer, string, number, number]>([
    ['an unknown name', query('nobody.posthorn.example', 'A'), 'NXDOMAIN', 0, 1],
    ['a missing type', query('mx.posthorn.example', 'TXT'), 'NOERROR', 0, 1],
    ['an unknown type', query('mx.posthorn.example', 'UNKNOWN_65280'), 'NOERROR', 0, 1],
    ['a name of another zone', query('example.com', 'A'), 'REFUSED', 0, 0],
    ['a transfer', query('posthorn.example', 'AXFR'), 'REFUSED', 0, 0],
    [
      'another class',
      query('posthorn.example', 'A', { questions: [{ name: 'posthorn.example', type: 'A', class: 'CH' }] }),
      'REFUSED',
      0,
      0,
    ],
    [
      'two questions',
      query('a', 'A', {
        questions: ['posthorn.example', 'mx.posthorn.example'].map((name) => ({
          name,
          type: 'A' as const,
          class: 'IN' as const,
        })),
      }),
      'FORMERR',
      0,
      0,
    ],
    ['no question', query('a', 'A', { questions: [] }), 'FORMERR', 0, 0],
    ['an update', Buffer.from(query('posthorn.example', 'SOA')).fill(0x28, 2, 3), 'NOTIMP', 0, 0],
    ['type ANY, with records of one type', query('posthorn.example', 'ANY'), 'NOERROR', 2, 0],
  ])('%s', (_what, bytes, rcode, answers, authorities) => {
    const answer = reply(bytes);
    expect([answer.rcode, answer.answers?.length, answer.authorities?.length]).toEqual([rcode, answers, authorities]);
  });

  it('sets the negative caching time', () => {
    expect(reply(query('nobody.posthorn.example', 'A')).authorities).toMatchObject([
      { name: 'posthorn.example', type: 'SOA', ttl: 300, data: { minimum: 300, serial: 7 } },
    ]);
  });

  it('SERVFAIL if the zone could not be read', () => {
    expect(reply(query('posthorn.example', 'A'), null).rcode).toBe('SERVFAIL');
  });

  it('a label with a dot inside is not two labels, and a label of arbitrary bytes is simply unknown', () => {
    const dotted = query('mxxposthorn.example', 'A');
    dotted[12 + 3] = 0x2e;
    expect(reply(dotted).rcode).toBe('REFUSED');
    expect(reply(query('mx\x00.posthorn.example', 'A')).rcode).toBe('NXDOMAIN');
  });

  it('an oversized answer is truncated to no records, and complete over TCP', () => {
    const bytes = query('wide.posthorn.example', 'TXT', edns(65_535));

    const [cut, whole] = [reply(bytes, wide), reply(bytes, wide, { isUdp: false, isShort: false })];

    expect([cut.flag_tc, cut.answers?.length]).toEqual([true, 0]);
    expect([whole.flag_tc, whole.answers?.length]).toEqual([false, 10]);
    expect(replyTo(bytes, wide, UDP)?.length).toBeLessThanOrEqual(bytes.length);
  });

  it('a key fits if the client accepts more than 512 bytes, which is the limit for others', () => {
    const key = query('ph1._domainkey.posthorn.example', 'TXT');
    expect(reply(query('ph1._domainkey.posthorn.example', 'TXT', edns(1_232))).answers).toHaveLength(1);
    expect(replyTo(key, zone, UDP)?.length).toBeLessThanOrEqual(512);
  });

  it('over the quota the reply is no longer than the question, and asks to retry over TCP', () => {
    const bytes = query('posthorn.example', 'ANY', edns(4_096));
    const answer = replyTo(bytes, zone, { isUdp: true, isShort: true });

    expect(answer?.length).toBeLessThanOrEqual(bytes.length);
    expect(packet.decode(answer as Buffer)).toMatchObject({ flag_tc: true, answers: [] });
  });
});

describe('replyTo with malformed input', () => {
  const isReply = (bytes: Buffer, answer: Buffer | null): void => {
    if (answer === null) return;
    expect(answer.readUInt16BE(0)).toBe(bytes.readUInt16BE(0));
    expect(answer.readUInt16BE(2) & 0x8000).toBe(0x8000);
    expect(answer.length).toBeLessThanOrEqual(1_232);
  };

  it('never throws: random bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
        (bytes) => isReply(bytes, replyTo(bytes, wide, UDP)),
      ),
      { numRuns: 2_000 },
    );
  });

  it('never throws: queries with changed and missing bytes', () => {
    const base = query('wide.posthorn.example', 'TXT', edns(1_232));
    const changes = fc.array(fc.tuple(fc.nat({ max: base.length - 1 }), fc.nat({ max: 255 })), { maxLength: 6 });
    fc.assert(
      fc.property(changes, fc.nat({ max: base.length }), (exchanged, length) => {
        const bytes = Buffer.from(base);
        for (const [at, value] of exchanged) bytes[at] = value;
        const cut = bytes.subarray(0, length);
        isReply(cut, replyTo(cut, wide, UDP));
      }),
      { numRuns: 5_000 },
    );
  });

  it('never replies to a reply, nor to a message without a header', () => {
    const answered = replyTo(query('posthorn.example', 'A'), zone, UDP) as Buffer;
    expect(replyTo(answered, zone, UDP)).toBeNull();
    for (let length = 0; length < 12; length += 1)
      expect(replyTo(query('a', 'A').subarray(0, length), zone, UDP)).toBeNull();
  });
});
