import type { RowVerdict } from '../../domain/imports/ports.ts';
import { columnName } from '../../text/column-name.ts';
import { inlineText, placeOf } from '../workbook/markup.ts';
import { columnElements } from './column-widths.ts';
import type { ResultPlace, VerdictCursor } from './result-columns.ts';
import { type WiderFilter, widenedFilter } from './result-filter.ts';
import { columnOf, Places, type SheetExtent } from './sheet-extent.ts';
import { attributeOf, prefixOf, type XmlPiece, xmlPieces } from './xml-pieces.ts';

/** The additions to a sheet. */
export interface SheetAdditions {
  readonly places: readonly ResultPlace[];
  readonly verdicts: VerdictCursor;
  readonly headerRow: number;
  readonly extent: SheetExtent;
  /** The extended range of its filter; null if the range stays as it is. */
  readonly filter: WiderFilter | null;
  /** Index of the text format among the workbook's formats; null if the workbook has no such format. */
  readonly textStyle: number | null;
}

/** Widths of the columns of verdicts, characters. */
const WIDTHS: Readonly<Record<ResultPlace['name'], number>> = {
  number: 20,
  status: 20,
  reason: 60,
  dgiId: 28,
  pdfUrl: 40,
};

/** A cell that the service writes. */
interface OwnCell {
  readonly column: number;
  readonly text: string;
  readonly style: string | number | null;
}

const NAMES = ['dimension', 'cols', 'col', 'sheetData', 'row', 'c', 'f', 'autoFilter', 'extLst'];

/** A cell whose end has not been read yet. */
interface OpenCell {
  raw: string;
  isFormula: boolean;
}

/** Writes the XML of a sheet again, with the cells of the verdicts. Everything else stays unchanged. */
export async function* sheetWithVerdicts(
  bytes: AsyncIterable<Uint8Array>,
  additions: SheetAdditions,
): AsyncGenerator<Uint8Array, void, void> {
  const writer = new SheetWriter(additions);
  for await (const pieces of xmlPieces(bytes, NAMES)) {
    for (const piece of pieces) {
      // Only at the start of a row, or at the end of all rows, does the writer wait for verdicts.
      if (piece.name === 'row' && piece.kind !== 'end') await writer.enterRow(piece);
      else if (piece.name === 'sheetData' && piece.kind === 'end') await writer.endRows(piece);
      else writer.write(piece);
    }
    yield Buffer.from(writer.take());
  }
}

class SheetWriter {
  readonly #additions: SheetAdditions;
  /** The columns of earlier verdicts, which are removed. */
  readonly #earlier: ReadonlySet<number>;
  readonly #places = new Places();
  #written: string[] = [];
  #prefix = '';
  /** The remaining cells of the current row that the service writes, in the order of their columns. */
  #own: OwnCell[] = [];
  #inRow = false;
  /** A cell in a column of verdicts, until its end shows whether it is a formula. */
  #cell: OpenCell | null = null;
  /** The `<col>` elements of the sheet while they are being read. */
  #columns: XmlPiece[] | null = null;
  #hasColumns = false;

  constructor(additions: SheetAdditions) {
    this.#additions = additions;
    this.#earlier = new Set(additions.places.filter(({ isThere }) => isThere).map(({ index }) => index));
  }

  /** Returns the XML written since the last call. */
  take(): string {
    const text = this.#written.join('');
    this.#written = [];
    return text;
  }

  async enterRow(row: XmlPiece): Promise<void> {
    const number = this.#places.enterRow(row);
    const verdict = await this.#verdictOf(number);
    this.#own = this.#cellsOf(number, verdict);
    // `spans` is optional and states up to which column a row has cells.
    const raw = row.raw.replace(/\sspans\s*=\s*(?:"[^"]*"|'[^']*')/, '');
    if (row.kind === 'start') {
      this.#inRow = true;
      this.#written.push(raw);
    } else if (this.#own.length === 0) this.#written.push(raw);
    else {
      this.#written.push(raw.replace(/\s*\/>$/, '>'));
      this.#writeOwn();
      this.#written.push(`</${this.#prefix}row>`);
    }
  }

  async endRows(end: XmlPiece): Promise<void> {
    await this.#verdictOf(Number.POSITIVE_INFINITY);
    this.#written.push(end.raw);
  }

  /** Writes a piece that does not start a row. */
  write(piece: XmlPiece): void {
    const { kind, name, raw } = piece;
    if (this.#cell) {
      this.#continueCell(this.#cell, piece);
      return;
    }
    if (this.#columns && (name === 'col' || kind === 'other')) {
      if (name === 'col' && kind !== 'end') this.#columns.push(piece);
      return;
    }
    switch (kind === 'other' ? '' : name) {
      case 'dimension':
        this.#written.push(kind === 'end' ? raw : this.#dimension(piece));
        return;
      case 'cols':
        if (kind === 'end') this.#writeColumns(this.#columns ?? [], prefixOf(piece));
        else if (kind === 'start') this.#columns = [];
        return;
      case 'sheetData':
        this.#prefix = prefixOf(piece);
        if (!this.#hasColumns) this.#writeColumns([], this.#prefix);
        break;
      case 'c':
        if (kind === 'end') break;
        this.#enterCell(piece);
        return;
      case 'autoFilter':
        this.#written.push(widenedFilter(piece, this.#additions.filter));
        return;
      case 'extLst':
        if (this.#inRow) this.#writeOwn();
        break;
      case 'row':
        this.#writeOwn();
        this.#inRow = false;
    }
    this.#written.push(raw);
  }

  #enterCell(cell: XmlPiece): void {
    const column = this.#places.enterCell(cell);
    this.#writeOwn(column);
    const isReplaced = this.#own[0]?.column === column;
    const isRemoved = this.#earlier.has(column) && this.#places.row > this.#additions.headerRow;
    if (!isReplaced && !isRemoved) this.#written.push(cell.raw);
    else if (cell.kind === 'start') this.#cell = { raw: cell.raw, isFormula: false };
    else this.#writeOwn(column + 1);
  }

  /** Replaces the cell at its end, unless it is a formula: the calculation chain lists every formula. */
  #continueCell(cell: OpenCell, { kind, name, raw }: XmlPiece): void {
    cell.raw += raw;
    if (name === 'f') cell.isFormula = true;
    if (kind !== 'end' || name !== 'c') return;
    this.#cell = null;
    const { column } = this.#places;
    if (cell.isFormula) {
      if (this.#own[0]?.column === column) this.#own.shift();
      this.#written.push(cell.raw);
    } else this.#writeOwn(column + 1);
  }

  /** Returns the verdict of a row. Earlier verdicts whose rows the sheet lacks get rows of their own. */
  async #verdictOf(row: number): Promise<RowVerdict | null> {
    const { verdicts } = this.#additions;
    for (;;) {
      const verdict = await verdicts.upTo(row);
      if (verdict === null || verdict.row === row) return verdict;
      this.#own = this.#cellsOf(verdict.row, verdict);
      this.#written.push(`<${this.#prefix}row r="${verdict.row}">`);
      for (const cell of this.#own.splice(0)) this.#writeCell(cell, verdict.row);
      this.#written.push(`</${this.#prefix}row>`);
    }
  }

  #cellsOf(row: number, verdict: RowVerdict | null): OwnCell[] {
    const { places, headerRow, textStyle, extent } = this.#additions;
    if (row === headerRow) {
      const added = places.filter(({ isThere }) => !isThere);
      return added.map(({ index, heading }) => ({ column: index, text: heading, style: extent.headingStyle }));
    }
    if (!verdict) return [];
    return places.flatMap(({ name, index }) => {
      const text = verdict[name];
      return text === null ? [] : [{ column: index, text, style: textStyle }];
    });
  }

  /** Writes the service's cells before a column. */
  #writeOwn(before = Number.POSITIVE_INFINITY): void {
    for (let cell = this.#own[0]; cell && cell.column < before; cell = this.#own[0]) {
      this.#writeCell(cell, this.#places.row);
      this.#own.shift();
    }
  }

  #writeCell({ column, text, style }: OwnCell, row: number): void {
    const format = style === null ? '' : ` s="${style}"`;
    const p = this.#prefix;
    this.#written.push(`<${p}c r="${placeOf(column, row)}"${format} t="inlineStr">${inlineText(text, p)}</${p}c>`);
  }

  #writeColumns(columns: readonly XmlPiece[], prefix: string): void {
    this.#hasColumns = true;
    this.#columns = null;
    const widths = new Map(
      this.#additions.places.filter(({ isThere }) => !isThere).map(({ index, name }) => [index + 1, WIDTHS[name]]),
    );
    const written = columnElements(columns, widths, prefix);
    if (written !== '') this.#written.push(`<${prefix}cols>${written}</${prefix}cols>`);
  }

  /** Extends a range such as `A1:C9` by the columns of the verdicts. */
  #dimension(piece: XmlPiece): string {
    const { places, extent } = this.#additions;
    const ref = attributeOf(piece, 'ref') ?? '';
    const [from = 'A1', to = from] = ref.split(':');
    const last = Math.max(columnOf(to) ?? 0, ...places.map(({ index }) => index));
    const rows = Math.max(extent.rows, Number(/\d+$/.exec(to)?.[0] ?? 1));
    return piece.raw.replace(ref, `${from}:${columnName(last)}${rows}`);
  }
}
