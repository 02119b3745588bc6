import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import type { Change } from '../kit/undo/perform';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import { topicChange } from './topic-changes';
import type { Topic } from './topic-queries';

/** Form for a new topic. */
export function NewTopic({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [texts, setTexts] = useState({ name: '', description: '' });
  const [key, setKey] = useState('');
  const [initial, setInitial] = useState<Topic['default_subscription']>('opt_in');
  const create = async (): Promise<void> => {
    const body = { ...storedOf(texts), default_subscription: initial, ...(key !== '' && { key }) };
    const { id } = await answered(api.POST('/v1/topics', { body }));
    await queries.invalidateQueries({ queryKey: ['topics', env] });
    void navigate({ to: '/$env/topics/$id', params: { env, id } });
  };
  return (
    <Confirm
      title={t('topic.new')}
      action={t('create')}
      isOff={texts.name.trim() === ''}
      onConfirm={create}
      onClose={onClose}
    >
      <div className="stacked">
        <TextFields texts={texts} onChange={setTexts} />
        <Fixed topicKey={key} onKey={setKey} initial={initial} onInitial={setInitial} />
      </div>
    </Confirm>
  );
}

/** Form for the name and the description of a topic. The pages show the change at once, and it can be undone. */
export function EditTopic({ topic, onClose }: { topic: Topic; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  const [texts, setTexts] = useState({ name: topic.name, description: topic.description ?? '' });
  const isChanged = useIsChanged(storedOf(texts));
  const changeTo = (fields: Pick<Topic, 'name' | 'description'>): Change => ({
    subject: topic.id,
    views: topicChange(env, topic.id, fields),
    send: () => answered(api.PATCH('/v1/topics/{id}', { params: { path: { id: topic.id } }, body: fields })),
    done: t('undo.topic-saved', { name: fields.name }),
  });
  const save = (): Promise<void> => {
    run({
      ...changeTo(storedOf(texts)),
      inverse: changeTo({ name: topic.name, description: topic.description }),
    });
    return Promise.resolve();
  };
  return (
    <Confirm
      title={t('topic.edit')}
      action={t('save')}
      isOff={!isChanged || texts.name.trim() === ''}
      onConfirm={save}
      onClose={onClose}
    >
      <div className="stacked">
        <TextFields texts={texts} onChange={setTexts} />
      </div>
    </Confirm>
  );
}

/** Texts of a topic, as the form edits them. */
interface TopicTexts {
  name: string;
  description: string;
}

function storedOf({ name, description }: TopicTexts): Pick<Topic, 'name' | 'description'> {
  return { name: name.trim(), description: description.trim() || null };
}

function TextFields({ texts, onChange }: { texts: TopicTexts; onChange: (texts: TopicTexts) => void }): ReactNode {
  return (
    <>
      <label>
        {t('template.name')}
        <input
          required
          maxLength={100}
          value={texts.name}
          onChange={(event) => onChange({ ...texts, name: event.target.value })}
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
          value={texts.description}
          onChange={(event) => onChange({ ...texts, description: event.target.value })}
          autoComplete="off"
        />
      </label>
    </>
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
