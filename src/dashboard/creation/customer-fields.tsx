import { useMemo } from 'preact/hooks';
import { COUNTRIES } from '../../domain/countries.ts';
import { CUSTOMER_KIND_NAMES } from '../../domain/invoice/customer-kind.ts';
import { useLanguage } from '../interface/language.tsx';
import { CUSTOMER_TEXTS } from '../text/customers.ts';
import { TERM_TEXTS } from '../text/term-fields.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CompletedField } from './customer-completion.tsx';
import { SCENARIOS } from './documents.ts';
import { kindOf, type TypedInvoice, typedCustomerOf } from './drawn-up.ts';
import type { Fault, Faults } from './faults.tsx';
import { Choice, Field } from './field.tsx';
import { SAMPLE_CUSTOMER } from './sample-invoice.ts';

interface CustomerFieldsProps {
  readonly typed: TypedInvoice;
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields of the customer, by what it is, and the number of the invoice. */
export function CustomerFields({ typed, faults, onTyped }: CustomerFieldsProps) {
  const { texts, language } = useLanguage();
  const { environment } = useWorkspace();
  const { name, email, number } = texts.creation;
  const { kind: kindLabel, kinds, taxNumberField: taxNumber } = CUSTOMER_TEXTS[language];
  const { address } = TERM_TEXTS[language];
  const labels = { ice: texts.ice, name, address, taxNumber, email, number };
  const kind = kindOf(typed);
  const hidden = kind === 'company' ? ['taxNumber'] : kind === 'person' ? ['ice', 'taxNumber'] : ['ice'];
  const fields = (['ice', 'name', 'address', 'taxNumber', 'email', 'number'] as const).filter(
    (field) => !hidden.includes(field) && (field !== 'number' || typed.number !== undefined),
  );
  return (
    <div class="fields">
      {environment === 'test' && kind === 'company' && (
        <ScenarioChoice ice={typed.ice} onChosen={(ice) => onTyped({ ...typed, ice })} />
      )}
      <Choice
        name="kind"
        label={kindLabel}
        value={kind}
        options={CUSTOMER_KIND_NAMES.map((each) => [each, kinds[each]])}
        onTyped={(chosen) => onTyped({ ...typed, kind: kindOf({ kind: chosen }) })}
      />
      {kind === 'foreign' && (
        <CountryChoice
          country={typed.country ?? ''}
          faults={faults?.get('country')}
          onChosen={(country) => onTyped({ ...typed, country })}
        />
      )}
      {fields.map((field) => {
        const props = {
          name: field,
          label: labels[field],
          value: typed[field] ?? '',
          faults: faults?.get(field),
          onTyped: (value: string) => onTyped({ ...typed, [field]: value }),
        };
        const isCompleted = field === 'name' || field === 'ice';
        return isCompleted ? (
          <CompletedField
            {...props}
            key={field}
            onChosen={(customer) => onTyped({ ...typed, ...typedCustomerOf(customer) })}
          />
        ) : (
          <Field {...props} key={field} />
        );
      })}
    </div>
  );
}

interface CountryChoiceProps {
  readonly country: string;
  readonly faults: readonly Fault[] | undefined;
  readonly onChosen: (country: string) => void;
}

/** Chooses the country of a customer abroad. */
function CountryChoice({ country, faults, onChosen }: CountryChoiceProps) {
  const { language } = useLanguage();
  const named = useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: 'region' });
    const rows = COUNTRIES.map((code) => [code, names.of(code) ?? code] as const);
    return rows.toSorted(([, a], [, b]) => a.localeCompare(b, language));
  }, [language]);
  return (
    <Choice
      name="country"
      label={CUSTOMER_TEXTS[language].country}
      value={country}
      faults={faults}
      options={[['', '—'], ...named]}
      onTyped={onChosen}
    />
  );
}

/** Chooses the outcome of a test invoice, by the ICE of its customer. */
function ScenarioChoice({ ice, onChosen }: { readonly ice: string; readonly onChosen: (ice: string) => void }) {
  const { texts } = useLanguage();
  const { data } = useRead(SCENARIOS, {});
  const { scenario, scenarios, ordinary } = texts.creation;
  return (
    <div class="field wide">
      <label for="scenario">{scenario}</label>
      <select
        id="scenario"
        value={data?.testScenarios.some((each) => each.ice === ice) ? ice : SAMPLE_CUSTOMER.ice}
        onChange={({ currentTarget }) => onChosen(currentTarget.value)}
      >
        <option value={SAMPLE_CUSTOMER.ice}>{ordinary}</option>
        {data?.testScenarios.map((each) => (
          <option value={each.ice} key={each.ice}>
            {scenarios[each.name]}
          </option>
        ))}
      </select>
    </div>
  );
}
