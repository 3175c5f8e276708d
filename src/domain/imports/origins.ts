import type { ReadInvoice, ShownCell } from './reading.ts';

/**
 * Finds the cell that a problem of a field concerns: the field's own cell; else that of its record (`customer` for
 * `customer.ice`) or of a member of the record; else the first row of the invoice.
 * @param param dotted path; null if the problem concerns no field
 */
export function cellOf(invoice: Pick<ReadInvoice, 'sheet' | 'firstRow' | 'origins'>, param: string | null): ShownCell {
  const { origins, sheet, firstRow } = invoice;
  const names = param === null ? [] : param.split('.');
  for (let count = names.length; count > 0; count--) {
    const path = names.slice(0, count).join('.');
    const own = origins[path];
    if (own) return own;
    const member = Object.entries(origins).find(([other]) => other.startsWith(`${path}.`));
    // A problem of a line concerns its row, not one of its cells.
    if (member && path !== 'lines') return member[1];
  }
  return { sheet, row: firstRow, column: null, header: null, value: null };
}
