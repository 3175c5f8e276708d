import { columnOf } from './columns.ts';
import type { Evidence } from './evidence.ts';
import type { ColumnMapping, ReadColumn } from './reading.ts';
import { isWeak } from './recognize-columns.ts';

/**
 * Removes the fields of columns whose cells contradict their headers. Columns that the mapping chose keep their fields.
 */
export function settleColumns(
  columns: readonly ReadColumn[],
  mapping: ColumnMapping | null,
  evidence: Pick<Evidence, 'areRates' | 'areCounts' | 'knownStates'>,
): readonly ReadColumn[] {
  return columns.map((column) => {
    const { field, key, index } = column;
    if (field === null || mapping?.[key] === field) return column;
    if (field === 'line.taxRate' && !evidence.areRates()) return { ...column, field: null, mayBe: [field] };
    if (field === 'number' && isWeak(key) && evidence.areCounts())
      return { ...column, field: null, mayBe: [field, 'document'] };
    // A column called `Type` or `Status` may be about something else than the document.
    const isState = columnOf(field)?.kind === 'sourceState';
    return isState && isWeak(key) && !evidence.knownStates().has(index) ? { ...column, field: null } : column;
  });
}
