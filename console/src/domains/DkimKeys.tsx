import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Domain, useKnownDomain } from './domain-queries';

type Dkim = Schemas['DkimItem'];

const ALGORITHMS = ['rsa-2048', 'rsa-2048+ed25519'] as const;
const GRACES = [
  [604_800, 'grace.week'],
  [86_400, 'grace.day'],
  [0, 'grace.now'],
] as const;

/** The keys that sign a domain's mail, and the records in which receivers find them. */
export function DkimKeys({ domain, dkim }: { domain: Domain; dkim: Dkim }): ReactNode {
  const { can } = useSigned();
  const [asked, setAsked] = useState<'change' | 'rotate' | null>(null);
  return (
    <section>
      <h2>{t('dkim')}</h2>
      <p>
        {t(dkim.mode === 'domain' ? 'dkim.own' : 'dkim.platform')} <code>{dkim.algorithm}</code>
      </p>
      {can('admin') && (
        <p className="actions">
          <button type="button" onClick={() => setAsked('change')}>
            {t('dkim.change')}
          </button>
          {dkim.mode === 'domain' && (
            <button type="button" onClick={() => setAsked('rotate')}>
              {t('dkim.rotate')}
            </button>
          )}
        </p>
      )}
      {dkim.keys.length > 0 && <KeyTable domain={domain} keys={dkim.keys} />}
      {asked === 'change' && <ChangeMode domain={domain} dkim={dkim} onClose={() => setAsked(null)} />}
      {asked === 'rotate' && <Rotate domain={domain} onClose={() => setAsked(null)} />}
    </section>
  );
}

function KeyTable({ domain, keys }: { domain: Domain; keys: Dkim['keys'] }): ReactNode {
  const recordOf = (selector: string): Domain['records'][number] | undefined =>
    domain.records.find(({ name }) => name.startsWith(`${selector}._domainkey.`));
  const columns: Column<Dkim['keys'][number]>[] = [
    { id: 'selector', label: t('dkim.selector'), cell: ({ selector }) => <code>{selector}</code> },
    { id: 'algorithm', label: t('dkim.algorithm'), cell: ({ algorithm }) => algorithm },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ state, required_until: until }) => (
        <>
          <Status of={state} kind="dkim" />
          {until !== null && (
            <div className="quiet">
              {t('dkim.required-until')} <Time at={until} />
            </div>
          )}
        </>
      ),
    },
    {
      id: 'record',
      label: t('dkim.record'),
      cell: ({ selector }) => {
        const record = recordOf(selector);
        return record === undefined ? '–' : <Status of={record.status} kind="record" />;
      },
    },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <Time at={at} /> },
  ];
  return (
    <>
      <p className="quiet">{t('dkim.records')}</p>
      <Table id="dkim-keys" label={t('dkim')} rows={keys} columns={columns} keyOf={({ selector }) => selector} />
    </>
  );
}

function ChangeMode({ domain, dkim, onClose }: { domain: Domain; dkim: Dkim; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const known = useKnownDomain();
  const [chosen, setChosen] = useState<'platform' | Dkim['algorithm']>(
    dkim.mode === 'platform' ? 'platform' : dkim.algorithm,
  );
  const isChanged = useIsChanged(chosen);
  const save = async (): Promise<void> =>
    known(
      await answered(
        api.PATCH('/v1/domains/{id}', {
          params: { path: { id: domain.id } },
          body: {
            acknowledge_mx_conflict: false,
            dkim:
              chosen === 'platform'
                ? { mode: 'platform', algorithm: 'rsa-2048' }
                : { mode: 'domain', algorithm: chosen },
          },
        }),
      ),
    );
  return (
    <Confirm title={t('dkim.change')} action={t('save')} isOff={!isChanged} onConfirm={save} onClose={onClose}>
      <fieldset className="radio-cards">
        <legend>{t('dkim.signed-by')}</legend>
        {(['platform', ...ALGORITHMS] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="dkim" checked={chosen === each} onChange={() => setChosen(each)} />
            <span>
              <strong>{t(`dkim.mode.${each}`)}</strong>
              <span className="quiet">{t(`dkim.mode.${each}.text`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p>{t('dkim.change-text')}</p>
    </Confirm>
  );
}

function Rotate({ domain, onClose }: { domain: Domain; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const known = useKnownDomain();
  const [grace, setGrace] = useState<number>(GRACES[0][0]);
  const rotate = async (): Promise<void> =>
    known(
      await answered(
        api.POST('/v1/domains/{id}/dkim/rotate', {
          params: { path: { id: domain.id } },
          body: { grace_seconds: grace },
        }),
      ),
    );
  return (
    <Confirm title={t('dkim.rotate')} action={t('dkim.rotate')} onConfirm={rotate} onClose={onClose}>
      <p>{t('dkim.rotate-text')}</p>
      <label>
        {t('dkim.grace')}
        <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
          {GRACES.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
    </Confirm>
  );
}
