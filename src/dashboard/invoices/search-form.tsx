import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { formatAmount } from '../text/money.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { BY_NUMBER, CUSTOMERS, type KnownCustomer } from './documents.ts';
import { type Filter, NO_MATCH } from './invoice-filter.ts';
import { searchedOf } from './searched.ts';

/** Pause in typing after which customers are suggested, milliseconds. */
const PAUSE_MS = 200;
const MATCHED = ['customer', 'ice', 'amount'] as const;

interface SearchFormProps {
  readonly filter: Filter;
  readonly to: (change: Partial<Filter>) => string;
}

/** Searches a document by id or number, or the documents of a customer or with a total. */
export function SearchForm({ filter, to }: SearchFormProps) {
  const { texts } = useLanguage();
  const { client, address } = useWorkspace();
  const { route } = useLocation();
  const { label, hint, submit } = texts.search;
  const [typed, setTyped] = useState('');
  const suggested = useCustomers(typed);

  async function find(): Promise<void> {
    const searched = searchedOf(typed);
    if (!searched) return;
    setTyped('');
    if (searched.kind === 'id') return route(`${address}/invoices/${encodeURIComponent(searched.id)}`);
    if (searched.kind === 'match') return show(searched.match);
    const { text } = searched;
    // A number of the series has digits. If it does not exist, the answer is an error.
    const byNumber = /\d/.test(text) ? await client.query(BY_NUMBER, { number: text }).toPromise() : null;
    if (byNumber?.data) return route(`${address}/invoices/${byNumber.data.fiscalDocumentByNumber.id}`);
    const found = suggested.length > 0 ? suggested : await customersOf(client, text);
    const [first] = found;
    if (/^\d+$/.test(text)) return show({ ice: first?.ice ?? text });
    return show({ customer: (found.find(({ name }) => name === text) ?? first)?.name ?? text });
  }

  function show(match: Partial<Filter>): void {
    route(to({ ...NO_MATCH, ...match, status: null, after: null, before: null }));
  }

  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <label class="unseen" for="search">
          {label}
        </label>
        <input
          id="search"
          type="search"
          name="search"
          list="customers"
          autocomplete="off"
          maxLength={200}
          aria-describedby="search-hint"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <datalist id="customers">
          {suggested.map(({ name, ice }) => (
            <option key={name} value={name}>
              {ice}
            </option>
          ))}
        </datalist>
        <button type="submit" class="secondary">
          {submit}
        </button>
        <p class="hint" id="search-hint">
          {hint}
        </p>
        <Match filter={filter} to={to} />
      </form>
    </search>
  );
}

/** Shows the customer or the amount to which the list is restricted, with a link that removes the restriction. */
function Match({ filter, to }: SearchFormProps) {
  const { texts, language } = useLanguage();
  const field = MATCHED.find((each) => filter[each] !== null);
  if (!field) return null;
  const value = filter[field] ?? '';
  const names = { customer: texts.invoices.columns.customer, ice: texts.ice, amount: texts.payable };
  return (
    <p class="match">
      {names[field]}{' '}
      <bdi>
        <strong>{field === 'amount' ? formatAmount(Number(value), language) : value}</strong>
      </bdi>{' '}
      <a href={to({ ...NO_MATCH, after: null, before: null })}>{texts.search.remove}</a>
    </p>
  );
}

/** Returns the customers whose name or ICE begins with the typed text, after a pause in typing. */
function useCustomers(typed: string): readonly KnownCustomer[] {
  const { client } = useWorkspace();
  const [found, setFound] = useState<{ typed: string; customers: readonly KnownCustomer[] }>(NOTHING);
  const text = typed.trim();
  useEffect(() => {
    if (text.length < 2 || searchedOf(text)?.kind !== 'text') return setFound(NOTHING);
    let isOver = false;
    const timer = setTimeout(async () => {
      const customers = await customersOf(client, text);
      if (!isOver) setFound({ typed: text, customers });
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, text]);
  // Customers found for an earlier text are not suggested.
  return found.typed === text ? found.customers : [];
}

const NOTHING = { typed: '', customers: [] };

async function customersOf(client: ReturnType<typeof useWorkspace>['client'], beginning: string) {
  const { data } = await client.query(CUSTOMERS, { beginning }).toPromise();
  return data?.customers ?? [];
}
