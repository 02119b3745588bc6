import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { NameField } from '../kit/form/NameField';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { isOtherType, NEW_TARGET, newTargetOf, targetFaultOf, TYPES } from './target-draft';
import { TargetFields } from './TargetFields';
import { UrlCheck } from './UrlCheck';

/** Value of the type field for a type that an extension adds. */
const OTHER = 'other' as const;

/** Form for a new destination of any type. Checks a URL while the user types. */
export function NewDestination({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [choice, setChoice] = useState<(typeof TYPES)[number] | typeof OTHER>('https');
  const [otherType, setOtherType] = useState('');
  const [draft, setDraft] = useState(NEW_TARGET);
  const type = choice === OTHER ? otherType.trim() : choice;
  const { config, credentialsLine } = targetFaultOf(type, draft, '');
  const create = async (): Promise<void> => {
    const { id } = await answered(
      api.POST('/v1/destinations', {
        body: { name, type, ...newTargetOf(type, draft), timeout_ms: null, asymmetric: null },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['destinations', env] });
    await queries.invalidateQueries({ queryKey: ['destination-names', env] });
    void navigate({ to: '/$env/destinations/$id', params: { env, id } });
  };
  return (
    <FormDialog
      title={t('destination.new')}
      action={t('create')}
      isOff={config !== null || credentialsLine !== null}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField label={t('destination.name')} value={name} onChange={setName} />
      <label>
        {t('destination.type')}
        <select value={choice} onChange={(event) => setChoice(event.target.value as typeof choice)}>
          {[...TYPES, OTHER].map((each: (typeof TYPES)[number] | typeof OTHER) => (
            <option key={each} value={each}>
              {t(`type.${each}`)}
            </option>
          ))}
        </select>
      </label>
      {choice === OTHER && (
        <label>
          {t('destination.type-name')}
          <input
            required
            maxLength={64}
            value={otherType}
            onChange={(event) => setOtherType(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        </label>
      )}
      {type !== '' && (
        <TargetFields
          type={type}
          draft={draft}
          hasCredentials={false}
          onChange={(changes) => setDraft({ ...draft, ...changes })}
        />
      )}
      {type !== 'pull' && type !== 'sqs' && !isOtherType(type) && <UrlCheck type={type} url={draft.url} />}
    </FormDialog>
  );
}
