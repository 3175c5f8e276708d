import { type ComponentChild, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { COLUMN_HEADERS } from '../../domain/imports/column-headers.ts';
import { IMPORT_COLUMNS, type ImportField } from '../../domain/imports/columns.ts';
import { hasScope } from '../../domain/scopes.ts';
import { columnName } from '../../text/column-name.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { formatNumber } from '../text/money.ts';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { type Imported, REMAP_IMPORT, type Reading } from './documents.ts';

interface FileReadingProps {
  readonly imported: Imported;
  readonly reading: Reading;
  readonly onChanged: () => void;
}

/** Shows how the file was read: the decisions of the service by its content, and the field of each column. */
export function FileReading({ imported, reading, onChanged }: FileReadingProps) {
  const { language } = useLanguage();
  const words = IMPORT_TEXTS[language];
  const { missing, columns } = reading;
  const unused = columns.filter(
    ({ field, mayBe, result, header }) => field === null && mayBe.length === 0 && !result && header.trim() !== '',
  );
  return (
    <section class="card">
      <h2>{words.how}</h2>
      <dl class="facts">
        {factsOf(reading, language).map(([fact, value]) => (
          <div key={fact}>
            <dt>{words.facts[fact]}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <details open={missing.length > 0}>
        <summary>
          <h3>{words.mapping}</h3>
        </summary>
        <Columns imported={imported} reading={reading} onChanged={onChanged} key={JSON.stringify(columns)} />
      </details>
      {unused.length > 0 && (
        <p class="unused">
          {words.unusedColumns}{' '}
          {unused.map(({ index, header }, nth) => (
            <Fragment key={index}>
              {nth > 0 && LIST_COMMA[language]}
              <bdi>{header}</bdi>
            </Fragment>
          ))}
        </p>
      )}
    </section>
  );
}

type Fact = keyof (typeof IMPORT_TEXTS)['fr']['facts'];

/** Returns the facts of the reading; those that the file does not have are left out. */
function factsOf(reading: Reading, language: 'fr' | 'en' | 'ar'): [Fact, ComponentChild][] {
  const { facts: _, ...words } = IMPORT_TEXTS[language];
  const { sheet, otherSheets, encoding, separator, decimalSign, dateOrder, dateSystem, ignoredRows } = reading;
  const known = (texts: Readonly<Record<string, string>>, key: string | null) => key && (texts[key] ?? key);
  const isolated = (text: string | null) => text !== null && text !== '' && <bdi>{text}</bdi>;
  const ignored = ignoredRows
    .map(({ row, reason }) => `${row} (${known(words.ignored, reason)})`)
    .join(LIST_COMMA[language]);
  const all: [Fact, ComponentChild][] = [
    ['sheet', isolated(sheet)],
    ['otherSheets', isolated(otherSheets.join(LIST_COMMA[language]))],
    ['encoding', isolated(encoding)],
    ['separator', known(words.separators, separator)],
    ['decimalSign', known(words.decimals, decimalSign)],
    ['dateOrder', known(words.orders, dateOrder)],
    ['dateSystem', dateSystem !== null && isolated(String(dateSystem))],
    ['headerRow', isolated(formatNumber(reading.headerRow, language))],
    ['rows', isolated(formatNumber(reading.rows, language))],
    ['ignored', ignored],
  ];
  return all.filter(([, value]) => value !== null && value !== false && value !== '');
}

const LIST_COMMA = { fr: ', ', en: ', ', ar: '، ' } as const;

/** The value of the choice for a column that a person must decide about. */
const OPEN = '?';

function Columns({ imported, reading, onChanged }: FileReadingProps) {
  const { language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const words = IMPORT_TEXTS[language];
  const [chosen, setChosen] = useState<Readonly<Record<string, string | null>>>({});
  const [privateCustomers, setPrivate] = useState(reading.privateCustomers);
  const change = useChange(REMAP_IMPORT);
  const mayChange = imported.status === 'checked' && hasScope(tenant.role, 'draft', environment);
  const nameOf = (field: string) => COLUMN_HEADERS[field as ImportField]?.[language] ?? field;
  async function remap(): Promise<void> {
    const columns = Object.entries(chosen).map(([key, field]) => ({ key, field }));
    if (await change.run({ id: imported.id, columns, privateCustomers })) onChanged();
  }
  const isChanged = Object.keys(chosen).length > 0 || privateCustomers !== reading.privateCustomers;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void remap();
      }}
    >
      {reading.missing.length > 0 && (
        <p class="refusal" role="alert">
          {words.missing(reading.missing.map(nameOf).join(LIST_COMMA[language]))}
        </p>
      )}
      <ul class="mapping">
        {reading.columns
          .filter(({ result }) => !result)
          .map(({ index, header, key, field, mayBe }) => (
            <li key={index}>
              <label for={`column${index}`}>
                <bdi class="letters">{columnName(index)}</bdi> <bdi>{header}</bdi>
              </label>
              <select
                id={`column${index}`}
                disabled={!mayChange}
                value={(key in chosen ? chosen[key] : mayBe.length > 0 ? OPEN : field) ?? ''}
                onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, [key]: value || null })}
              >
                {mayBe.length > 0 && (
                  <option value={OPEN} disabled>
                    {words.toChoose}
                  </option>
                )}
                <option value="">{words.unused}</option>
                {IMPORT_COLUMNS.map((column) => (
                  <option key={column.field} value={column.field}>
                    {nameOf(column.field)}
                  </option>
                ))}
              </select>
            </li>
          ))}
      </ul>
      <p>
        <label>
          <input
            type="checkbox"
            disabled={!mayChange}
            checked={privateCustomers}
            onChange={({ currentTarget: { checked } }) => setPrivate(checked)}
          />{' '}
          {words.privateCustomers}
        </label>
      </p>
      <Refusal why={change.refusal} />
      {mayChange && (
        <>
          <p class="under">{words.mappingLead}</p>
          <button type="submit" class="secondary" aria-disabled={!isChanged || change.busy}>
            {words.remap}
          </button>
        </>
      )}
    </form>
  );
}
