import { type ReactNode, useId } from 'react';
import { t } from '../kit/messages/t';
import { VARIABLE_TYPES, type VariableDraft, variableFaultOf } from './template-draft';

const VARIABLES_MAX = 50;

interface TemplateVariablesProps {
  variables: VariableDraft[];
  onChange: (variables: VariableDraft[]) => void;
}

/** Types and fallbacks of a template's variables. */
export function TemplateVariables({ variables, onChange }: TemplateVariablesProps): ReactNode {
  return (
    <fieldset className="mail-variables">
      <legend>{t('template.variables')}</legend>
      <p className="quiet">{t('template.variables-text')}</p>
      {variables.map((variable, at) => (
        <Variable
          key={at}
          variable={variable}
          fault={variableFaultOf(variable, variables)}
          onChange={(changes) =>
            onChange(variables.map((each, index) => (index === at ? { ...each, ...changes } : each)))
          }
          onRemove={() => onChange(variables.filter((_, index) => index !== at))}
        />
      ))}
      <p>
        <button
          type="button"
          className="small"
          disabled={variables.length >= VARIABLES_MAX}
          onClick={() => onChange([...variables, { key: '', type: 'string', fallback: '' }])}
        >
          {t('template.variable-add')}
        </button>
      </p>
    </fieldset>
  );
}

interface VariableProps {
  variable: VariableDraft;
  fault: 'key' | 'fallback' | null;
  onChange: (changes: Partial<VariableDraft>) => void;
  onRemove: () => void;
}

function Variable({ variable, fault, onChange, onRemove }: VariableProps): ReactNode {
  const hint = useId();
  return (
    <div className="mail-variable">
      <div className="fields">
        <label className="grow">
          {t('template.variable')}
          <input
            value={variable.key}
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={fault === 'key'}
            aria-describedby={hint}
            onChange={(event) => onChange({ key: event.target.value })}
          />
        </label>
        <label>
          {t('template.type')}
          <select
            value={variable.type}
            onChange={(event) => onChange({ type: event.target.value as VariableDraft['type'] })}
          >
            {VARIABLE_TYPES.map((type) => (
              <option key={type} value={type}>
                {t(`template.type.${type}`)}
              </option>
            ))}
          </select>
        </label>
        <label className="grow">
          {t('template.fallback')}
          <input
            value={variable.fallback}
            autoComplete="off"
            spellCheck={false}
            placeholder={t('template.fallback-none')}
            aria-invalid={fault === 'fallback'}
            aria-describedby={hint}
            onChange={(event) => onChange({ fallback: event.target.value })}
          />
        </label>
        <button
          type="button"
          className="small"
          aria-label={`${t('template.variable-remove')} ${variable.key}`}
          onClick={onRemove}
        >
          {t('template.variable-remove')}
        </button>
      </div>
      <p id={hint} className="mail-fault">
        {fault !== null && `✕ ${t(fault === 'key' ? 'template.variable-fault' : 'template.fallback-fault')}`}
      </p>
    </div>
  );
}
