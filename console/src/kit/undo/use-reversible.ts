import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { headlineOf } from '../form/fault-headline';
import { t } from '../messages/t';
import { preferences } from '../preferences';
import { toast } from '../toast/toasts';
import { keepFocus } from './keep-focus';
import { type Change, perform, type ReversibleChange } from './perform';

/**
 * Returns a function that makes a change, and offers to undo it if the change has an inverse. The pages show the change
 * at once, and the request is sent at once. If the API rejects the request, the pages show the state before the change,
 * and a message shows the reason.
 */
export function useReversible(): (change: ReversibleChange | Change) => void {
  const queries = useQueryClient();
  return useCallback((change) => run(queries, change), [queries]);
}

function run(queries: QueryClient, change: ReversibleChange | Change): void {
  const { subject } = change;
  keepFocus();
  void perform(queries, change, {
    onDone: () =>
      toast(change.done, {
        subject,
        action: 'inverse' in change ? { label: t('undo'), onSelect: () => run(queries, change.inverse) } : undefined,
      }),
    onFault: (fault) =>
      toast(t('undo.rejected', { reason: headlineOf(fault as object, preferences().language).headline }), {
        subject,
        tone: 'bad',
      }),
  });
}
