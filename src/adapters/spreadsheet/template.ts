import type { DocumentLanguage } from '../../domain/document-language.ts';
import { COLUMN_EXPLANATIONS } from '../../domain/imports/column-explanations.ts';
import { COLUMN_HEADERS } from '../../domain/imports/column-headers.ts';
import { type ColumnKind, IMPORT_COLUMNS, type ImportColumn, ONE_OF } from '../../domain/imports/columns.ts';
import type { WorkbookTemplates } from '../../domain/imports/ports.ts';
import { columnName } from '../../text/column-name.ts';
import { directionOf } from '../../text/document-format.ts';
import { TEMPLATE_TEXTS } from '../../text/import-template.ts';
import { numberCell, rowOf, textCell, valueCell } from '../workbook/cells.ts';
import { escaped } from '../workbook/markup.ts';
import { packed } from '../workbook/pack.ts';
import { sheetEnd, sheetPath, sheetStart, workbookParts } from '../workbook/parts.ts';
import type { Style } from '../workbook/styles.ts';
import { type ChoiceList, choicesOf } from './template-choices.ts';
import { exampleOf } from './template-example.ts';

/** The columns of the template, in their order. */
const TEMPLATE_COLUMNS: readonly TemplateColumn[] = (IMPORT_COLUMNS as readonly ImportColumn[]).filter(
  ({ isRare }) => !isRare,
) as readonly TemplateColumn[];
type TemplateColumn = (typeof IMPORT_COLUMNS)[number];

/** The formats of empty cells. Only a text cell keeps an ICE or a number as it is typed. */
const STYLES: Readonly<Partial<Record<ColumnKind, Style>>> = {
  quantity: 'general',
  percent: 'general',
  taxRate: 'general',
  money: 'amount',
  price: 'price',
  date: 'day',
};
/** Widths of columns, characters. */
const WIDTHS: Readonly<Partial<Record<ColumnKind, number>>> = {
  text: 36,
  ice: 19,
  unit: 10,
  quantity: 12,
  exemption: 32,
  customerKind: 22,
  paymentMeans: 20,
};
const [USUAL_WIDTH, LARGEST_PROMPT, LARGEST_PROMPT_TITLE] = [18, 255, 32];

/**
 * The workbook that people fill in. It has a sheet for invoices and lines, whose cells offer lists and show
 * explanations, and a sheet with all explanations and the values of the lists. In Arabic both run from right to left.
 */
export const workbookTemplates: WorkbookTemplates = {
  write(language) {
    const { invoices, explanations } = TEMPLATE_TEXTS[language];
    const parts = {
      ...workbookParts([invoices, explanations], directionOf(language) === 'rtl'),
      [sheetPath(0)]: invoiceSheet(language),
      [sheetPath(1)]: explanationSheet(language),
    };
    return packed(Object.entries(parts).map(([path, content]) => ({ path, content })));
  },
};

function invoiceSheet(language: DocumentLanguage): string {
  const columns = TEMPLATE_COLUMNS.map(({ field, kind }) => ({
    width: Math.max(WIDTHS[kind] ?? USUAL_WIDTH, COLUMN_HEADERS[field][language].length + 2),
    style: STYLES[kind] ?? 'text',
  }));
  const headings = TEMPLATE_COLUMNS.map((column, i) =>
    textCell(i, 1, COLUMN_HEADERS[column.field][language], isRequired(column) ? 'required' : 'optional'),
  );
  const rules = TEMPLATE_COLUMNS.map((column, i) => validation(column, i, language));
  return (
    sheetStart(columns, directionOf(language) === 'rtl') +
    rowOf(1, headings) +
    sheetEnd(`<dataValidations count="${rules.length}">${rules.join('')}</dataValidations>`)
  );
}

/**
 * Whether each line needs a cell of the column. A file may lack the column of quantities or rates, but not single cells
 * of it.
 */
function isRequired({ field, kind, ...column }: TemplateColumn): boolean {
  return (
    'isRequired' in column ||
    ONE_OF.some((fields) => fields.includes(field)) ||
    kind === 'quantity' ||
    kind === 'taxRate'
  );
}

/** Writes the prompt that a selected cell of a column shows, and its list. Values outside the list are not refused. */
function validation({ field, kind }: TemplateColumn, index: number, language: DocumentLanguage): string {
  const { notInList } = TEMPLATE_TEXTS[language];
  const name = columnName(index);
  const title = escaped(COLUMN_HEADERS[field][language].slice(0, LARGEST_PROMPT_TITLE));
  const prompt = escaped(COLUMN_EXPLANATIONS[field][language].slice(0, LARGEST_PROMPT));
  const said = `allowBlank="1" showInputMessage="1" promptTitle="${title}" prompt="${prompt}"`;
  const place = `sqref="${name}2:${name}1048576"`;
  const list = rangeOf(kind, language);
  if (list === null) return `<dataValidation ${said} ${place}/>`;
  const error = `errorStyle="warning" showErrorMessage="1" errorTitle="${title}" error="${escaped(notInList)}"`;
  return `<dataValidation type="list" ${error} ${said} ${place}><formula1>${escaped(list)}</formula1></dataValidation>`;
}

/** The columns of the table on the sheet of explanations. */
const TABLE = ['column', 'need', 'explanation', 'firstLine', 'secondLine'] as const;
const WIDTHS_IN_TABLE = { column: 32, need: 16, explanation: 100, firstLine: 34, secondLine: 20 } as const;
const FIRST_EXAMPLE = TABLE.indexOf('firstLine');
/** The first column of the lists, which are beside the table, after an empty column. */
const FIRST_LIST = TABLE.length + 1;

function explanationSheet(language: DocumentLanguage): string {
  const texts = TEMPLATE_TEXTS[language];
  const lists = listsOf(language);
  const rows: string[][] = [];
  const put = (row: number, cell: string) => {
    rows[row] ??= [];
    rows[row].push(cell);
  };
  put(1, textCell(0, 1, texts.explanations, 'title'));
  for (const [i, step] of texts.steps.entries()) put(2 + i, textCell(0, 2 + i, step, 'label'));
  const head = tableRow(language);
  put(head - 1, textCell(FIRST_LIST, head - 1, texts.lists, 'heading'));
  for (const [i, name] of TABLE.entries()) put(head, textCell(i, head, texts[name], 'required'));
  TEMPLATE_COLUMNS.forEach((column, nth) => {
    const row = head + 1 + nth;
    const need = isRequired(column) ? texts.required : texts.optional;
    put(row, textCell(0, row, COLUMN_HEADERS[column.field][language], 'heading'));
    put(row, textCell(1, row, need, 'label'));
    put(row, textCell(2, row, COLUMN_EXPLANATIONS[column.field][language], 'label'));
    exampleOf(column.field, language).forEach((value, line) => {
      if (value === null) return;
      const [at, style] = [FIRST_EXAMPLE + line, STYLES[column.kind] ?? 'text'];
      put(row, typeof value === 'number' ? numberCell(at, row, String(value), style) : valueCell(at, row, value));
    });
  });
  const headOf = ({ kind }: ChoiceList) =>
    COLUMN_HEADERS[TEMPLATE_COLUMNS.find((column) => column.kind === kind)?.field ?? 'document'][language];
  lists.forEach((list, nth) => {
    const at = FIRST_LIST + nth;
    put(head, textCell(at, head, headOf(list), 'optional'));
    list.values.forEach((value, i) => {
      const row = head + 1 + i;
      const isNumber = typeof value === 'number';
      put(row, isNumber ? numberCell(at, row, String(value), 'choice') : textCell(at, row, value, 'label'));
    });
  });
  const widthOf = (list: ChoiceList) => Math.max(...[headOf(list), ...list.values].map((text) => String(text).length));
  const widths = [
    ...TABLE.map((name) => ({ width: WIDTHS_IN_TABLE[name] })),
    { width: 4 },
    ...lists.map((list) => ({ width: widthOf(list) + 2 })),
  ];
  const written = rows.map((cells, row) => rowOf(row, cells));
  return sheetStart(widths, directionOf(language) === 'rtl', false) + written.join('') + sheetEnd();
}

/** The row of the table's headings: after the title, the steps and an empty row. */
function tableRow(language: DocumentLanguage): number {
  return TEMPLATE_TEXTS[language].steps.length + 3;
}

function listsOf(language: DocumentLanguage): readonly ChoiceList[] {
  const kinds = new Set<ColumnKind>(TEMPLATE_COLUMNS.map(({ kind }) => kind));
  return choicesOf(language).filter(({ kind }) => kinds.has(kind));
}

/** The range with the values of a kind on the sheet of explanations; null if the kind has no list. */
function rangeOf(kind: ColumnKind, language: DocumentLanguage): string | null {
  const lists = listsOf(language);
  const nth = lists.findIndex((list) => list.kind === kind);
  const list = lists[nth];
  if (!list) return null;
  const column = columnName(FIRST_LIST + nth);
  const first = tableRow(language) + 1;
  return `'${TEMPLATE_TEXTS[language].explanations}'!$${column}$${first}:$${column}$${first + list.values.length - 1}`;
}
