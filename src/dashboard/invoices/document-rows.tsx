import type { ComponentChildren } from 'preact';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { useLanguage } from '../interface/language.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { type Column, DataTable, type ListedPage } from '../tables/data-table.tsx';
import { formatDate, formatDay } from '../text/dates.ts';
import { formatAmount } from '../text/local-number.ts';
import { signedAmount } from '../text/money.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { ListedDocument } from './documents.ts';
import { type Filter, isSortable } from './invoice-filter.ts';

interface DocumentRowsProps {
  readonly list: ListedPage<ListedDocument>;
  readonly empty: string;
  /** The filter of the list, which decides how the list can be sorted. */
  readonly filter: Filter;
  readonly children: ComponentChildren;
}

/** Shows a page of invoices and credit notes. */
export function DocumentRows({ list, empty, filter, children }: DocumentRowsProps) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { number, customer, status, date } = texts.invoices.columns;
  const own = TABLE_TEXTS[language];
  const byNumber = isSortable(filter, 'number') && ({ sort: ['number_descending', 'number'] } as const);
  const byCustomer = isSortable(filter, 'customer') && ({ sort: ['customer', 'customer_descending'] } as const);
  const byAmount = isSortable(filter, 'amount') && ({ sort: ['amount_descending', 'amount'] } as const);
  const byDate = isSortable(filter, 'oldest') && ({ sort: ['newest', 'oldest'] } as const);
  const columns: readonly Column<ListedDocument>[] = [
    { id: 'number', name: number, ...byNumber, cell: (row) => <Numbered row={row} /> },
    {
      id: 'customer',
      name: customer,
      kind: 'wide',
      ...byCustomer,
      cell: (row) => <bdi>{row.customer.name}</bdi>,
    },
    { id: 'ice', name: own.ice, isExtra: true, cell: (row) => row.customer.ice && <bdi>{row.customer.ice}</bdi> },
    { id: 'order', name: own.order, isExtra: true, cell: (row) => <bdi>{invoiceOf(row)?.references?.order}</bdi> },
    { id: 'dgi', name: own.dgiId, isExtra: true, cell: (row) => <bdi>{row.dgiId}</bdi> },
    { id: 'status', name: status, cell: (row) => <Status row={row} /> },
    {
      id: 'date',
      name: date,
      ...byDate,
      cell: ({ createdAt }) => <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>,
    },
    {
      id: 'due',
      name: own.dueDate,
      isExtra: true,
      cell(row) {
        const day = invoiceOf(row)?.terms?.dueDate;
        return day && <time dateTime={day}>{formatDay(day, language)}</time>;
      },
    },
    {
      id: 'amount',
      name: texts.payable,
      kind: 'sum',
      ...byAmount,
      cell: ({ id, amount, currency }) => (
        <bdi>
          {formatAmount(signedAmount(amount, kindOfId(id) ?? 'invoice'), language)} {currency}
        </bdi>
      ),
    },
  ];
  return (
    <DataTable
      name="invoices"
      list={list}
      columns={columns}
      hrefOf={({ id }) => `${address}/invoices/${id}`}
      empty={empty}
      failed={texts.invoices.failed}
    >
      {children}
    </DataTable>
  );
}

/** Returns the members that only invoices have. */
function invoiceOf(row: ListedDocument) {
  return 'terms' in row ? row : null;
}

function Numbered({ row: { id, number } }: { row: ListedDocument }) {
  const { kind, texts } = useDocumentTexts(id);
  return (
    <>
      <bdi>{number ?? texts.numberToCome}</bdi>
      {kind === 'credit_note' && <span class="badge kind">{texts.invoice}</span>}
    </>
  );
}

function Status({ row: { id, status, attention } }: { row: ListedDocument }) {
  const { texts } = useDocumentTexts(id);
  return (
    <>
      <span class="badge" data-status={status}>
        {texts.stepNames[status]}
      </span>
      {attention && <span class="badge attention">{texts.invoices.attention}</span>}
    </>
  );
}
