import { noReplyReason } from './auto-reply.js';
import type { Auth } from './mail-verdicts.js';
import { fieldsOf } from './message-head.js';

const reasonOf = (headers: string, { from = 'ada@b.example', auth = 'pass' }: { from?: string; auth?: Auth } = {}) =>
  noReplyReason({
    fields: fieldsOf(Buffer.from(`From: ada@b.example\r\n${headers}\r\n`)),
    envelopeFrom: from,
    envelopeTo: ['help+x@in.example'],
    auth,
  });

const TO = 'To: Help <HELP+x@IN.example>\r\n';

describe('noReplyReason', () => {
  it.each([
    ['a letter to the alias', TO],
    ['a copy to the alias', 'To: other@c.example\r\nCc: a@b.example, help+x@in.example\r\n'],
    ['an address in obsolete syntax', 'To: Help <@relay.example: help+x (desk) @ in . example>\r\n'],
    ['an address in an invalid list', 'To: Help desk help+x@in.example\r\n'],
    ['Auto-Submitted: no', `${TO}Auto-Submitted: no\r\n`],
    ['an unrelated suppression', `${TO}X-Auto-Response-Suppress: DR, RN\r\n`],
  ])('%s may get a reply', (_case, headers) => {
    expect(reasonOf(headers)).toBeNull();
    expect(reasonOf(headers, { auth: 'none' })).toBeNull();
  });

  it.each([
    ['Auto-Submitted: auto-replied', 'automatic_message'],
    ['Auto-Submitted: auto-generated; x=y', 'automatic_message'],
    ['Precedence: bulk', 'automatic_message'],
    ['Precedence: junk', 'automatic_message'],
    ['Precedence: list', 'list_message'],
    ['X-Auto-Response-Suppress: OOF, AutoReply', 'automatic_message'],
    ['X-Autoreply: yes', 'automatic_message'],
    ['Return-Path: <>', 'automatic_message'],
    ['List-Id: <x.y.example>', 'list_message'],
    ['List-Unsubscribe: <https://x.example>', 'list_message'],
    ['X-Loop: somewhere', 'list_message'],
  ])('%s: %s', (header, reason) => {
    expect(reasonOf(`${TO}${header}\r\n`)).toBe(reason);
  });

  it.each([
    'MAILER-DAEMON@b.example',
    'postmaster@b.example',
    'no-reply@b.example',
    'noreply@b.example',
    'do_not_reply@b.example',
    'donotreply+1@b.example',
    'owner-list@b.example',
    'list-request@b.example',
    'list-bounces@b.example',
    'bounce+1=x.example@b.example',
    'SRS0=abcd=ef=x.example=ada@b.example',
    '"SRS0=abcd=ef=x.example=ada"@b.example',
    'ada+SRS=abcd=EF=in.example=help@b.example',
    'noreply+tag@b.example',
    'no-reply-123@b.example',
    'noresponse@b.example',
    'auto-confirm@b.example',
    'x-bounces+user=domain@list.example',
    'x-bounces-help=in.example@list.example',
    'bounce-123-456@b.example',
    'bounces123@b.example',
    'bounce-mc.us1_123.456-help=in.example@b.example',
    'pm_bounces@b.example',
    'msprvs1=18001abcd=bounces-123@b.example',
    'prvs=0123456789=bounces-123@b.example',
    'prvs=0123456789=x+help=in.example@b.example',
    'prvs=ada=0123456789@b.example',
    'x-return-123-help=in.example@list.example',
    'x-return-@list.example',
    'x+help=in.example@list.example',
    'ada+caf_=help=in.example@b.example',
    'x-confirm+0123abcd@list.example',
    'x+bncBDK4XQ7YQQ@list.example',
    '0100018f3c2ab4d5-0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d-000000@b.example',
    `b+r${'a2'.repeat(28)}@bounce.b.example`,
    `b+${'0f'.repeat(28)}@bounce.b.example`,
    'nobody@b.example',
  ])('%s is a machine', (from) => {
    expect(reasonOf(TO, { from })).toBe('sender_is_a_machine');
  });

  it('the null sender, a failed authentication and a blind copy get no reply', () => {
    expect(reasonOf(TO, { from: '' })).toBe('null_sender');
    expect(reasonOf(TO, { auth: 'fail' })).toBe('auth_failed');
    expect(reasonOf('To: help@in.example\r\n')).toBe('not_addressed');
    expect(reasonOf('')).toBe('not_addressed');
    expect(reasonOf('To: "help+x@in.example" <a@b.example> (help+x@in.example)\r\n')).toBe('not_addressed');
  });

  it.each([
    'replying@b.example',
    'prvs=0891a9abd5=ada@b.example',
    'btv1==31277f5e0ab==ada@b.example',
    'bouncer@b.example',
    'owner@b.example',
    'listserver@b.example',
    'b+news@b.example',
    'b+friend@b.example',
    'ada+x=y@b.example',
    'ada.return@b.example',
    'responder@b.example',
    'mailerson@b.example',
    'trebounce@b.example',
  ])('%s is a person', (from) => {
    expect(reasonOf(TO, { from })).toBeNull();
  });
});
