import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Api, bytesOf, type Environment } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t, word } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { useSigned } from '../session/session';
import { type EmailDetail, type Suppression, useSuppressionsOf } from './mail-queries';
import { copyOf, type LoadedFile } from './send-again';

/** Sends an email again to recipients whose server deferred or refused the message. */
export function ReplayEmail({ email, onClose }: { email: EmailDetail; onClose: () => void }): ReactNode {
  const { api, environment } = useSigned();
  const queries = useQueryClient();
  const replay = async (): Promise<void> => {
    await answered(api.POST('/v1/events/{id}/replay', { params: { path: { id: email.id } } }));
    await queries.invalidateQueries({ queryKey: ['email', environment, email.id] });
    await queries.invalidateQueries({ queryKey: ['emails', environment] });
  };
  return (
    <Confirm title={t('email.again')} action={t('email.again')} onConfirm={replay} onClose={onClose}>
      <p>
        {t('email.again-replay')} <strong>{t(`environment.${environment}`)}</strong>
      </p>
    </Confirm>
  );
}

interface SendCopyProps {
  email: EmailDetail;
  to: string[];
  onClose: () => void;
}

/**
 * Sends the content of an email as a new email. First removes the suppressions of the recipients, because suppressions
 * would block the new email.
 */
export function SendCopy({ email, to, onClose }: SendCopyProps): ReactNode {
  const { api, environment } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: suppressions } = useSuppressionsOf(to);
  const [isRemoving, setRemoving] = useState(false);
  const [key] = useState(randomUuid);
  const isBlocked = suppressions !== undefined && suppressions.length > 0 && !isRemoving;
  const send = async (): Promise<void> => {
    const body = copyOf(email, to, await loadFiles(api, environment, email));
    try {
      for (const { id } of suppressions ?? [])
        await answered(api.DELETE('/v1/suppressions/{id}', { params: { path: { id } } }));
    } finally {
      // Refetches the suppressions, so that a second try does not delete suppressions that are already deleted.
      await queries.invalidateQueries({ queryKey: ['suppressions-of', environment] });
    }
    const { id } = await answered(api.POST('/v1/emails', { params: { header: { 'Idempotency-Key': key } }, body }));
    for (const list of ['emails', 'suppressions']) await queries.invalidateQueries({ queryKey: [list, environment] });
    void navigate({ to: '/$env/emails/$id', params: { env: environment, id } });
  };
  return (
    <Confirm
      title={t('email.again')}
      action={t('email.again')}
      isOff={suppressions === undefined || isBlocked}
      onConfirm={send}
      onClose={onClose}
    >
      <p>
        {t('email.again-copy')} <strong>{t(`environment.${environment}`)}</strong>
      </p>
      <ul>
        {to.map((address) => (
          <li key={address}>
            <bdi>{address}</bdi> <Origin of={suppressions?.find(({ email: each }) => isSame(each, address))} />
          </li>
        ))}
      </ul>
      {suppressions !== undefined && suppressions.length > 0 && (
        <label className="check-line">
          <input type="checkbox" checked={isRemoving} onChange={({ target }) => setRemoving(target.checked)} />
          {t('email.again-remove')}
        </label>
      )}
    </Confirm>
  );
}

function Origin({ of }: { of: Suppression | undefined }): ReactNode {
  return of === undefined ? null : (
    <span className="quiet">{t('email.suppressed-because', { reason: word('origin', of.origin) })}</span>
  );
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Loads the attachments of a sent email. Fails if a part of its content is missing. */
async function loadFiles(api: Api, environment: Environment, email: EmailDetail): Promise<LoadedFile[]> {
  if (email.attachments.length === 0) return [];
  const { attachments } = await answered(api.GET('/v1/emails/{id}/content', { params: { path: { id: email.id } } }));
  if (attachments.length < email.attachments.length) throw new Error(t('email.again-incomplete'));
  return Promise.all(
    attachments.map(async (file) => ({
      file,
      bytes: (await bytesOf(environment, file.path.replace(/^\//, ''))).bytes,
    })),
  );
}
