import type { Config } from '#kernel/config/config.js';
import type { ReceivedEvent } from '#modules/ledger/accept.contract.js';
import type { Ledger } from '#modules/ledger/ledger.js';
import type { MessageActions } from '../actions/message-actions.js';
import type { AliasRouting } from '../aliases/alias-routing.js';
import type { SignedLinks } from '../messages/signed-links.js';
import { AcceptMessage } from './accept-message.js';
import type { MessageProgress } from './message-progress.js';
import type { Decided, WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

it('the request line of received mail contains neither the address of the sending server nor a URL', async () => {
  const lines: unknown[] = [];
  const accepting = new AcceptMessage(
    {} as WaitingMessagesStore,
    { decide: async () => true, settle: async () => undefined } as unknown as MessageProgress,
    { arrivals: async () => [] } as unknown as AliasRouting,
    { receive: async ({ requestLine }: ReceivedEvent) => void lines.push(requestLine) } as unknown as Ledger,
    { plan: async (_: unknown, read: Decided) => read, carryOut: async () => undefined } as unknown as MessageActions,
    {} as SignedLinks,
    { baseUrl: 'https://posthorn.example' } as Config,
  );
  const id = '0190f0a0-0000-0000-0000-000000000001';
  const message = {
    environmentId: 1,
    id,
    aliasId: id,
    clientIp: '192.0.2.1',
    receivedAt: new Date(0),
    decided: null,
    linkTtlSeconds: null,
  };
  const detail = { isParked: false, headerLines: [], attachments: [], text: null, html: null };

  await accepting.accept(
    message as unknown as WaitingMessage,
    { auth: 'pass', reason: null, detail } as unknown as Decided,
  );

  expect(lines).toEqual([{ method: 'POST', path: '', query: '' }]);
});
