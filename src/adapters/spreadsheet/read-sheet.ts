import { type Cell, cellText, type MergedCells, type SheetRow, textCell } from '../../domain/imports/cell.ts';
import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { UnreadableFile } from '../../domain/imports/reading.ts';
import { shortened, unescaped } from './read-strings.ts';
import type { NumberStyle } from './read-styles.ts';
import { readXml } from './read-xml.ts';
import { serialDay } from './serial-day.ts';

/** The parts of a workbook that cells refer to. */
export interface CellContext {
  readonly strings: readonly string[];
  readonly styles: readonly NumberStyle[];
  readonly dateSystem: 1900 | 1904;
}

/** The cell being read. */
interface PendingCell {
  readonly column: number;
  readonly type: string;
  readonly style: NumberStyle;
  value: string;
  /** The text of its formula; null if it has none. */
  formula: string | null;
  /** The number of the shared formula that the cell uses; null if it uses none. */
  shared: string | null;
  /** The range of its array formula, `A2:A9`; null if it has none. */
  cells: string | null;
}

const MOST_MERGED = 100_000;
const MOST_SHARED = 1000;
/** Maximum characters of a formula. */
const FORMULA = 8192;
/** Functions whose value changes although the file does not. Files store their English names. */
const VOLATILE = /\b(TODAY|NOW|RAND|RANDBETWEEN|RANDARRAY)\s*\(/i;
/** The last row and column of a sheet. */
const LAST = { row: 1_048_576, column: 16_383 };

/**
 * Reads the rows of a sheet (ECMA-376, part 1, section 18.3.1.99), and after them the merged cells. Formulas are not
 * evaluated: their stored values are read.
 * @throws {UnreadableFile}
 */
export async function* readSheet(
  chunks: AsyncIterable<Uint8Array>,
  context: CellContext,
  onMerged: (merged: readonly MergedCells[]) => void = () => undefined,
): AsyncGenerator<readonly SheetRow[], void, void> {
  const merged: MergedCells[] = [];
  let rows: SheetRow[] = [];
  let cells: (Cell | null)[] = [];
  let cell: PendingCell | null = null;
  let [row, nextColumn, emptyRows, count] = [0, 0, 0, 0];
  let [isHidden, isInRow, isValue, isFormula, isReading] = [false, false, false, false, false];
  /** The volatile shared formulas, and the cells of volatile array formulas. */
  const volatile = new Set<string>();
  const volatileCells: MergedCells[] = [];
  const hiddenColumns: [first: number, last: number][] = [];

  function openRow(attributes: Readonly<Record<string, string>>): void {
    const stated = attributes.r === undefined ? row + 1 : Number(attributes.r);
    if (!(stated > row && stated <= LAST.row)) throw new UnreadableFile('damaged');
    row = stated;
    isHidden = isTrue(attributes.hidden);
    isInRow = true;
    [cells, nextColumn] = [[], 0];
  }

  function openCell(attributes: Readonly<Record<string, string>>): void {
    const column = attributes.r === undefined ? nextColumn : columnOf(attributes.r);
    if (!(column >= nextColumn && column <= LAST.column)) throw new UnreadableFile('damaged');
    nextColumn = column + 1;
    const style = context.styles[Number(attributes.s ?? 0)] ?? null;
    cell = { column, type: attributes.t ?? 'n', style, value: '', formula: null, shared: null, cells: null };
  }

  function isVolatile({ column, formula, shared, cells }: PendingCell): boolean {
    if (formula === null) return volatileCells.some((range) => isIn(range, row, column));
    // Ignores texts, names of sheets and names of columns.
    const changes = VOLATILE.test(formula.replaceAll(/"[^"]*"|'[^']*'|\[[^\]]*\]/g, "''"));
    if (changes && (shared ?? cells) !== null) {
      if (volatile.size + volatileCells.length >= MOST_SHARED) throw new UnreadableFile('too_costly');
      if (shared !== null) volatile.add(shared);
      const range = shared === null ? rangeOf(cells ?? '') : null;
      if (range) volatileCells.push(range);
    }
    return changes || (shared !== null && volatile.has(shared));
  }

  function closeCell(pending: PendingCell): void {
    const { column } = pending;
    const shown = cellOf(pending, context);
    const read: Cell | null = isVolatile(pending) ? { kind: 'volatile', shown: cellText(shown) } : shown;
    if (read === null || hiddenColumns.some(([first, last]) => column >= first && column <= last)) return;
    if (column >= IMPORT_LIMITS.columns) throw new UnreadableFile('too_many_columns', { most: IMPORT_LIMITS.columns });
    if (++count > IMPORT_LIMITS.cells) throw new UnreadableFile('too_many_cells', { most: IMPORT_LIMITS.cells });
    while (cells.length < column) cells.push(null);
    cells.push(read);
  }

  function closeRow(): void {
    isInRow = false;
    emptyRows = cells.length === 0 ? emptyRows + 1 : 0;
    if (emptyRows > IMPORT_LIMITS.emptyRows)
      throw new UnreadableFile('too_many_empty_rows', { most: IMPORT_LIMITS.emptyRows });
    if (cells.length > 0) rows.push({ row, isHidden, cells });
  }

  const pieces = readXml(chunks, {
    open(name, attributes) {
      if (name === 'row') openRow(attributes);
      else if (name === 'c' && isInRow) openCell(attributes);
      else if (cell !== null && (name === 'v' || name === 't')) isValue = !isReading;
      else if (cell !== null && name === 'f') {
        isFormula = true;
        cell.formula = '';
        cell.shared = attributes.si ?? null;
        cell.cells = attributes.t === 'array' ? (attributes.ref ?? null) : null;
      } else if (name === 'rPh') isReading = true;
      else if (name === 'col' && (isTrue(attributes.hidden) || attributes.width === '0')) {
        if (hiddenColumns.length < IMPORT_LIMITS.columns)
          hiddenColumns.push([Number(attributes.min) - 1, Number(attributes.max) - 1]);
      } else if (name === 'mergeCell') {
        const range = rangeOf(attributes.ref ?? '');
        if (range) merged.push(range);
        if (merged.length > MOST_MERGED) throw new UnreadableFile('too_costly');
      }
    },
    text(piece) {
      if (isValue && cell && cell.value.length <= IMPORT_LIMITS.cell) cell.value += piece;
      if (isFormula && cell && (cell.formula?.length ?? 0) <= FORMULA) cell.formula += piece;
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'f') isFormula = false;
      else if (name === 'rPh') isReading = false;
      else if (name === 'c' && cell !== null) {
        closeCell(cell);
        cell = null;
      } else if (name === 'row') closeRow();
    },
  });
  for await (const _ of pieces) {
    if (rows.length === 0) continue;
    yield rows;
    rows = [];
  }
  onMerged(merged);
}

function cellOf({ type, style, value, formula }: PendingCell, context: CellContext): Cell | null {
  switch (type) {
    case 's': {
      const text = context.strings[Number(value)];
      if (text === undefined && value !== '') throw new UnreadableFile('damaged');
      return textCell(text ?? '');
    }
    case 'inlineStr':
    case 'str':
      return textCell(shortened(unescaped(value)));
    case 'b':
      return value === '' ? null : { kind: 'flag', value: isTrue(value.trim()) };
    case 'e':
      return { kind: 'error', text: value.slice(0, 20) };
    case 'd':
      return /^\d{4}-\d{2}-\d{2}/.test(value) ? { kind: 'day', day: value.slice(0, 10) } : textCell(value);
    default:
      if (value.trim() === '') return formula === null ? null : { kind: 'uncomputed' };
      return numberCell(Number(value), style, context.dateSystem);
  }
}

function numberCell(value: number, style: NumberStyle, dateSystem: 1900 | 1904): Cell {
  if (!Number.isFinite(value)) throw new UnreadableFile('damaged');
  if (style === 'time' || style === 'unseen') return { kind: style, value };
  if (style === 'date') {
    const day = serialDay(value, dateSystem);
    return day === null ? { kind: 'time', value } : { kind: 'day', day };
  }
  return {
    kind: 'number',
    value,
    isPercent: style === 'percent',
    format: style === 'foreign' || style === 'shaped' ? style : null,
  };
}

function isIn({ firstRow, lastRow, firstColumn, lastColumn }: MergedCells, row: number, column: number): boolean {
  return row >= firstRow && row <= lastRow && column >= firstColumn && column <= lastColumn;
}

function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true';
}

/** `AB12` → 27; NaN if the text is no cell reference. */
function columnOf(place: string): number {
  const letters = /^([A-Z]{1,3})\d{1,7}$/.exec(place)?.[1];
  if (letters === undefined) return Number.NaN;
  let column = 0;
  for (let i = 0; i < letters.length; i++) column = column * 26 + letters.charCodeAt(i) - 64;
  return column - 1;
}

function rangeOf(range: string): MergedCells | null {
  const [, from = '', firstRow, to = '', lastRow] = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(range) ?? [];
  if (from === '') return null;
  return {
    firstRow: Number(firstRow),
    lastRow: Number(lastRow),
    firstColumn: columnOf(`${from}1`),
    lastColumn: columnOf(`${to}1`),
  };
}
