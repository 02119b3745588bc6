import { aliasActionsChangesOf, type AliasActionsDraft, aliasActionsDraftOf } from './alias-actions-draft';

const REPLY = {
  subject: 'Received',
  text: 'Thank you.',
  html: '<p>Thank you.</p>',
  from_name: 'Acme',
  once_per: 'P1D',
};
const BEFORE = aliasActionsDraftOf({ forward_to: ['a@x.example'], auto_reply: REPLY, link_ttl_seconds: null });

it.each<[Partial<AliasActionsDraft>, object]>([
  [{}, {}],
  [{ forwards: 'a@x.example\nb@x.example ' }, { forward_to: ['a@x.example', 'b@x.example'] }],
  [{ forwards: '' }, { forward_to: [] }],
  [{ text: 'Hello' }, { auto_reply: { ...REPLY, text: 'Hello' } }],
  [{ text: ' ', fromName: '' }, { auto_reply: { ...REPLY, text: null, from_name: null } }],
  [{ isReplying: false }, { auto_reply: null }],
  [{ lifetime: '3600' }, { link_ttl_seconds: 3_600 }],
])('the change %j of an alias sends %j', (changes, sent) => {
  expect(aliasActionsChangesOf({ ...BEFORE, ...changes }, BEFORE, REPLY.html)).toEqual(sent);
});
