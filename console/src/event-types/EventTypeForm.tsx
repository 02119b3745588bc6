import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { readObject, writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { EventTypeDetail } from './event-type-queries';

const FIRST_SCHEMA = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };

/**
 * Form for the description, schema and example of an event type. The service checks whether the example matches the
 * schema, and returns all errors with their positions.
 */
export function EventTypeForm({ of }: { of: EventTypeDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [description, setDescription] = useState(of.description ?? '');
  const [group, setGroup] = useState(of.group ?? '');
  const [schemaText, setSchema] = useState(writeJson(of.schema));
  const [exampleText, setExample] = useState(writeJson(of.example));
  const [isEnforced, setEnforced] = useState(of.enforce);
  const schema = readObject(schemaText, t('filter-editor.object'));
  const example = readObject(exampleText, t('filter-editor.object'));
  const body = {
    description: description || null,
    group: group || null,
    schema: schema.value,
    example: example.value,
    enforce: isEnforced,
  };
  const before: typeof body = {
    description: of.description,
    group: of.group,
    schema: of.schema,
    example: of.example,
    enforce: of.enforce,
  };
  const isDirty = JSON.stringify(body) !== JSON.stringify(before);
  const save = useMutation({
    mutationFn: async () => {
      await answered(api.PATCH('/v1/event-types/{name}', { params: { path: { name: of.name } }, body }));
      for (const key of ['event-type', 'event-type-versions'])
        await queries.invalidateQueries({ queryKey: [key, env, of.name] });
      await queries.invalidateQueries({ queryKey: ['event-types', env] });
    },
  });
  const isNewVersion = schema.fault === null && JSON.stringify(schema.value) !== JSON.stringify(of.schema);
  return (
    <form
      className="stacked"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className="fields">
        <label className="grow">
          {t('event-type.description')}
          <input
            maxLength={2000}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            autoComplete="off"
          />
        </label>
        <label>
          {t('event-type.group')}
          <input maxLength={100} value={group} onChange={(event) => setGroup(event.target.value)} autoComplete="off" />
        </label>
      </div>
      <div className="split even">
        <CodeField
          label={t('event-type.schema-field')}
          value={schemaText}
          rows={16}
          fault={schema.fault}
          onChange={setSchema}
        />
        <CodeField
          label={t('event-type.example-field')}
          value={exampleText}
          rows={16}
          fault={example.fault}
          onChange={setExample}
        />
      </div>
      {schemaText.trim() === '' && (
        <p>
          <button type="button" onClick={() => setSchema(writeJson(FIRST_SCHEMA))}>
            {t('rules.example')}
          </button>
        </p>
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={isEnforced}
          disabled={schema.value === null}
          onChange={(event) => setEnforced(event.target.checked)}
        />{' '}
        {t('event-type.enforce')}
      </label>
      <FaultLine fault={save.error} />
      <p className="actions">
        <button
          type="submit"
          className="primary"
          disabled={save.isPending || !isDirty || schema.fault !== null || example.fault !== null}
        >
          {t('save')}
        </button>
        {isNewVersion && <span className="quiet">{t('event-type.new-version', { number: of.version + 1 })}</span>}
      </p>
    </form>
  );
}
