import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { Unreachable } from '../interface/unreachable.tsx';
import { TABLE_TEXTS } from '../text/tables.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import type { Read } from '../workspace/workspace-context.ts';
import { ColumnChoices, useColumnChoice } from './column-choice.tsx';
import { useKeptPlace } from './kept-place.ts';
import { sizeInAddress } from './page-sizes.ts';
import { useRowKeys } from './row-keys.ts';
import { PageSizes } from './size-links.tsx';

export interface Column<Row> {
  readonly id: string;
  readonly name: string;
  /**
   * `wide`: takes the width that the other columns leave, and is cut there. `sum`: a number, at the end of its cell.
   */
  readonly kind?: 'wide' | 'sum';
  /** Whether it is shown only if somebody chooses it. */
  readonly isExtra?: boolean;
  /** The orders by this column: the order after a first click, and its reverse. */
  readonly sort?: readonly [first: string, second: string];
  readonly cell: (row: Row) => ComponentChildren;
}

/** A page of a list, and how it was read. */
export interface ListedPage<Row> extends Pick<Read<unknown>, 'problem' | 'reload'> {
  readonly page: {
    readonly nodes: readonly Row[];
    readonly pageInfo: Parameters<typeof PageLinks>[0]['pageInfo'];
  } | null;
  /** Number of rows that it may have. */
  readonly size: number;
  /** Returns the address of the list with the same filter and another page or size. */
  readonly to: (place: Readonly<Record<'after' | 'before' | 'size', string | null>>) => string;
  /**
   * Whether the following rows are older, as in most lists; by default true unless the list is sorted in another order.
   */
  readonly isByDate?: boolean;
  /** The current order, if it can be changed, and the address of the first page in another one. */
  readonly sorted?: { readonly by: string; readonly to: (sort: string) => string };
}

interface DataTableProps<Row> {
  /** Names the choice of columns in the browser. */
  readonly name: string;
  readonly list: ListedPage<Row>;
  /** The first one names the row. It is always shown, and its text is the link of the row. */
  readonly columns: readonly Column<Row>[];
  /** The address that the whole row leads to; null if there is none. */
  readonly hrefOf: (row: Row) => string | null;
  /** Shown if there are no rows. */
  readonly empty: string;
  /** The text if the list could not be read; default: a text that the service does not answer. */
  readonly failed?: string;
  /** Shown below the rows. */
  readonly children?: ComponentChildren;
}

/** Number of shapes shown in place of rows that are being read. */
const SHAPES = 12;

/**
 * Shows a page of a list as a table with rows of one line, and on a phone as cards. The whole row is a link, `j` and
 * `k` move between rows, and going back to the list keeps its place.
 */
export function DataTable<Row extends { readonly id: string }>(props: DataTableProps<Row>) {
  const { name, columns, hrefOf, empty, failed, children } = props;
  const { page, problem, reload, size, to } = props.list;
  const { language } = useLanguage();
  const choice = useColumnChoice(name);
  const table = useRef<HTMLTableElement>(null);
  useRowKeys(table);
  useKeptPlace(table, page !== null);
  const [first, ...others] = columns;
  if (!first) return null;
  const shown = others.filter(choice.isShown);
  return (
    <>
      {problem && <Unreachable {...(failed !== undefined && { text: failed })} onRetry={reload} />}
      {page?.nodes.length === 0 && <p class="empty">{empty}</p>}
      {page?.nodes.length !== 0 && (page || !problem) && (
        <table class="rows data-rows" ref={table}>
          <thead>
            <tr>
              {[first, ...shown].map((column) => (
                <Heading column={column} sorted={props.list.sorted} key={column.id} />
              ))}
            </tr>
          </thead>
          {page ? (
            <tbody>
              {page.nodes.map((row) => (
                <tr key={row.id}>
                  <th scope="row" class={first.kind}>
                    <RowLink href={hrefOf(row)}>{first.cell(row)}</RowLink>
                  </th>
                  {shown.map((column) => (
                    <td key={column.id} class={column.kind}>
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          ) : (
            <Shapes columns={1 + shown.length} text={TABLE_TEXTS[language].loading} />
          )}
        </table>
      )}
      {page && (
        <div class="list-end">
          <PageLinks
            pageInfo={page.pageInfo}
            to={(cursor) => to({ size: sizeInAddress(size), ...cursor })}
            isByDate={props.list.isByDate ?? (props.list.sorted?.by ?? 'newest') === 'newest'}
          />
          {page.nodes.length > 0 && (
            <>
              <PageSizes size={size} to={(size) => to({ size, after: null, before: null })} />
              {children}
              <ColumnChoices columns={others} choice={choice} />
            </>
          )}
        </div>
      )}
    </>
  );
}

function RowLink({ href, children }: { readonly href: string | null; readonly children: ComponentChildren }) {
  if (href === null) return <>{children}</>;
  return (
    <a class="row-link" href={href}>
      {children}
    </a>
  );
}

interface HeadingProps {
  readonly column: Omit<Column<never>, 'cell'>;
  readonly sorted: ListedPage<never>['sorted'];
}

/** Shows the name of a column, which sorts the list if the column can. */
function Heading({ column: { kind, name, sort }, sorted }: HeadingProps) {
  if (!sort || !sorted) {
    return (
      <th scope="col" class={kind}>
        {name}
      </th>
    );
  }
  const [first, second] = sort;
  const isCurrent = sort.includes(sorted.by);
  const order = isDescending(sorted.by) ? 'descending' : 'ascending';
  return (
    <th scope="col" class={kind} aria-sort={isCurrent ? order : undefined}>
      <a href={sorted.to(sorted.by === first ? second : first)}>{name}</a>
    </th>
  );
}

const isDescending = (sort: string) => sort === 'newest' || sort.endsWith('_descending');

/** Shows shapes in place of rows that are being read. */
function Shapes({ columns, text }: { columns: number; text: string }) {
  return (
    <tbody class="shapes">
      <tr>
        <td colSpan={columns}>
          <span class="unseen" role="status">
            {text}
          </span>
          {Array.from({ length: SHAPES }, (_, nth) => (
            <span class="shape" key={nth} />
          ))}
        </td>
      </tr>
    </tbody>
  );
}
