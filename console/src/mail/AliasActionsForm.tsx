import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import {
  aliasActionsChangesOf,
  type AliasActionsDraft,
  aliasActionsDraftOf,
  LIFETIMES,
  PERIODS,
} from './alias-actions-draft';
import type { Alias } from './mail-queries';
import { periodWord } from './period-word';

/** Form for the addresses that an alias forwards to, its automatic reply, and the links in its events. */
export function AliasActionsForm({ alias, onClose }: { alias: Alias; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [before] = useState(() => aliasActionsDraftOf(alias));
  const [draft, setDraft] = useState(before);
  const set = (changes: Partial<AliasActionsDraft>): void => setDraft((now) => ({ ...now, ...changes }));
  const html = alias.auto_reply?.html ?? null;
  const changes = aliasActionsChangesOf(draft, before, html);
  const isIncomplete = draft.isReplying && (draft.subject.trim() === '' || (draft.text.trim() === '' && html === null));
  const save = async (): Promise<void> => {
    await answered(api.PATCH('/v1/aliases/{alias}', { params: { path: { alias: alias.id } }, body: changes }));
    await queries.invalidateQueries({ queryKey: ['alias', env, alias.id] });
    await queries.invalidateQueries({ queryKey: ['aliases', env] });
  };
  return (
    <Confirm
      title={t('alias.actions')}
      action={t('save')}
      isOff={isIncomplete || Object.keys(changes).length === 0}
      onConfirm={save}
      onClose={onClose}
    >
      <div className="stacked">
        <label>
          {t('alias.forward')}
          <textarea
            rows={3}
            value={draft.forwards}
            spellCheck={false}
            autoFocus
            placeholder="ops@example.org"
            onChange={(event) => set({ forwards: event.target.value })}
          />
          <span className="quiet">{t('alias.forward-text')}</span>
        </label>
        <label className="check-line">
          <input
            type="checkbox"
            checked={draft.isReplying}
            onChange={({ target }) => set({ isReplying: target.checked })}
          />
          {t('alias.reply-on')}
        </label>
        {draft.isReplying && <Reply draft={draft} onChange={set} />}
        <Lifetime value={draft.lifetime} onChange={(lifetime) => set({ lifetime })} />
      </div>
    </Confirm>
  );
}

interface ReplyProps {
  draft: AliasActionsDraft;
  onChange: (changes: Partial<AliasActionsDraft>) => void;
}

function Reply({ draft, onChange }: ReplyProps): ReactNode {
  const periods = PERIODS.some((each) => each === draft.period) ? PERIODS : [...PERIODS, draft.period];
  return (
    <>
      <label>
        {t('mail.subject')}
        <input
          required
          maxLength={998}
          value={draft.subject}
          autoComplete="off"
          onChange={(event) => onChange({ subject: event.target.value })}
        />
      </label>
      <label>
        {t('mail.tab.text')}
        <textarea
          rows={4}
          maxLength={65_536}
          value={draft.text}
          onChange={(event) => onChange({ text: event.target.value })}
        />
      </label>
      <label>
        {t('alias.from-name')}
        <input
          maxLength={128}
          value={draft.fromName}
          autoComplete="off"
          onChange={(event) => onChange({ fromName: event.target.value })}
        />
      </label>
      <label>
        {t('alias.period')}
        <select value={draft.period} onChange={(event) => onChange({ period: event.target.value })}>
          {periods.map((period) => (
            <option key={period} value={period}>
              {periodWord(period)}
            </option>
          ))}
        </select>
        <span className="quiet">{t('alias.reply-text')}</span>
      </label>
    </>
  );
}

function Lifetime({ value, onChange }: { value: string; onChange: (seconds: string) => void }): ReactNode {
  const isOther = value !== '' && !LIFETIMES.some((seconds) => String(seconds) === value);
  return (
    <label>
      {t('alias.links')}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('alias.links-key')}</option>
        {LIFETIMES.map((seconds) => (
          <option key={seconds} value={seconds}>
            {t(`alias.links.${seconds}`)}
          </option>
        ))}
        {isOther && <option value={value}>{t('alias.links-other', { seconds: Number(value) })}</option>}
      </select>
    </label>
  );
}
