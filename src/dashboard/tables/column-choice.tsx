import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { TABLE_TEXTS } from '../text/tables.ts';

/** A column that may be shown or not. */
interface Choosable {
  readonly id: string;
  readonly name: string;
  /** Whether it is shown only if somebody chooses it. */
  readonly isExtra?: boolean;
}

export interface ColumnChoice {
  readonly isShown: (column: Choosable) => boolean;
  readonly toggle: (column: Choosable) => void;
}

/**
 * Keeps in the browser the columns of a table that a person shows or hides differently from the default.
 * @param table its name
 */
export function useColumnChoice(table: string): ColumnChoice {
  const key = `columns.${table}`;
  const [changed, setChanged] = useState(() => kept(key));
  const isShown = ({ id, isExtra = false }: Choosable) => changed.has(id) === isExtra;
  return {
    isShown,
    toggle({ id }) {
      const next = new Set(changed);
      if (!next.delete(id)) next.add(id);
      setChanged(next);
      keep(key, next);
    },
  };
}

function kept(key: string): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return new Set(Array.isArray(ids) ? ids.map(String) : []);
  } catch {
    return new Set(); // The browser stores nothing for this page.
  }
}

function keep(key: string, ids: ReadonlySet<string>): void {
  try {
    localStorage.setItem(key, JSON.stringify([...ids]));
  } catch {
    // The browser stores nothing for this page.
  }
}

/** Lets the reader choose the columns of a table. */
export function ColumnChoices({ columns, choice }: { columns: readonly Choosable[]; choice: ColumnChoice }) {
  const { language } = useLanguage();
  return (
    <details class="column-choice">
      <summary>{TABLE_TEXTS[language].columns}</summary>
      <fieldset>
        <legend class="unseen">{TABLE_TEXTS[language].columns}</legend>
        {columns.map((column) => (
          <label key={column.id}>
            <input type="checkbox" checked={choice.isShown(column)} onChange={() => choice.toggle(column)} />
            {column.name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
