import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { Topic } from './topic-queries';

/** Form for a new topic, or for the name and description of an existing topic. */
export function TopicForm({ topic, onClose }: { topic: Topic | null; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(topic?.name ?? '');
  const [description, setDescription] = useState(topic?.description ?? '');
  const [key, setKey] = useState('');
  const [initial, setInitial] = useState<Topic['default_subscription']>('opt_in');
  const save = async (): Promise<void> => {
    const shared = { name: name.trim(), description: description.trim() || null };
    const { id } = await answered(
      topic === null
        ? api.POST('/v1/topics', {
            body: { ...shared, default_subscription: initial, ...(key !== '' && { key }) },
          })
        : api.PATCH('/v1/topics/{id}', { params: { path: { id: topic.id } }, body: shared }),
    );
    await queries.invalidateQueries({ queryKey: ['topic', env, id] });
    await queries.invalidateQueries({ queryKey: ['topics', env] });
    if (topic === null) void navigate({ to: '/$env/topics/$id', params: { env, id } });
  };
  return (
    <Confirm
      title={t(topic === null ? 'topic.new' : 'topic.edit')}
      action={t(topic === null ? 'create' : 'save')}
      isOff={name.trim() === ''}
      onConfirm={save}
      onClose={onClose}
    >
      <div className="stacked">
        <label>
          {t('template.name')}
          <input
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
            placeholder="Newsletter"
          />
          <span className="quiet">{t('topic.name-text')}</span>
        </label>
        <label>
          {t('topic.description')}
          <input
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            autoComplete="off"
          />
        </label>
        {topic === null && <Fixed topicKey={key} onKey={setKey} initial={initial} onInitial={setInitial} />}
      </div>
    </Confirm>
  );
}

interface FixedProps {
  topicKey: string;
  onKey: (key: string) => void;
  initial: Topic['default_subscription'];
  onInitial: (subscription: Topic['default_subscription']) => void;
}

/** Fields of a topic that cannot be changed later. */
function Fixed({ topicKey, onKey, initial, onInitial }: FixedProps): ReactNode {
  return (
    <>
      <label>
        {t('topic.key')}
        <input
          maxLength={64}
          pattern="[a-z0-9][a-z0-9\-]*"
          value={topicKey}
          onChange={(event) => onKey(event.target.value)}
          autoComplete="off"
          spellCheck={false}
          placeholder="newsletter"
        />
        <span className="quiet">{t('topic.key-text')}</span>
      </label>
      <label>
        {t('topic.default')}
        <select value={initial} onChange={(event) => onInitial(event.target.value as Topic['default_subscription'])}>
          <option value="opt_in">{t('topic.default.opt_in')}</option>
          <option value="opt_out">{t('topic.default.opt_out')}</option>
        </select>
        <span className="quiet">{t('topic.default-text')}</span>
      </label>
    </>
  );
}
