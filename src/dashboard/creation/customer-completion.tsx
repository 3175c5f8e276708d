import { useState } from 'preact/hooks';
import { useTypedRead } from '../workspace/use-typed-read.ts';
import { KNOWN_CUSTOMERS, type KnownCustomer } from './documents.ts';
import { Field, type FieldProps } from './field.tsx';

/** Pause in typing after which customers are suggested, milliseconds. */
const PAUSE_MS = 200;
/** Number of characters from which customers are suggested. */
const LEAST = 2;

interface CompletedFieldProps extends FieldProps {
  readonly onChosen: (customer: KnownCustomer) => void;
}

/** A field whose beginning finds customers of earlier invoices. The arrow keys and Enter choose one, Escape none. */
export function CompletedField({ onChosen, ...field }: CompletedFieldProps) {
  const { name, value, onTyped } = field;
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(-1);
  const customers = useKnownCustomers(typed);
  const isOpen = customers.length > 0 && typed === value;
  const list = `${name}-customers`;
  const idOf = (index: number) => `${list}-${index}`;

  function close(): void {
    setTyped('');
    setAt(-1);
  }
  function choose(customer: KnownCustomer): void {
    onChosen(customer);
    close();
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (!isOpen || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = event.key === 'Enter' ? customers[at] : undefined;
    if (step !== undefined) setAt((at + step + customers.length + (at < 0 && step < 0 ? 1 : 0)) % customers.length);
    else if (chosen) choose(chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  }

  return (
    <Field
      {...field}
      completion={{
        role: 'combobox',
        'aria-autocomplete': 'list',
        'aria-expanded': isOpen,
        'aria-controls': isOpen ? list : undefined,
        'aria-activedescendant': isOpen && at >= 0 ? idOf(at) : undefined,
        onKeyDown,
        onBlur: close,
      }}
      onTyped={(text) => {
        setTyped(text);
        setAt(-1);
        onTyped(text);
      }}
    >
      {isOpen && (
        <div class="completions" role="listbox" id={list} aria-label={field.label}>
          {customers.map((customer, index) => (
            <div
              role="option"
              tabIndex={-1}
              id={idOf(index)}
              key={index}
              aria-selected={index === at}
              // Before the field loses the focus, which closes the list.
              onMouseDown={(event) => {
                event.preventDefault();
                choose(customer);
              }}
            >
              <bdi>{customer.name}</bdi>{' '}
              <span class="under">
                <bdi>{customer.ice ?? customer.taxNumber ?? customer.address ?? customer.email ?? ''}</bdi>
              </span>
            </div>
          ))}
        </div>
      )}
    </Field>
  );
}

/** Returns the customers whose name or ICE begins with a text, after a pause in typing. */
function useKnownCustomers(typed: string): readonly KnownCustomer[] {
  const text = typed.trim();
  const { data, isCurrent } = useTypedRead(KNOWN_CUSTOMERS, text.length < LEAST ? null : { beginning: text }, PAUSE_MS);
  return isCurrent && data ? data.customers : [];
}
