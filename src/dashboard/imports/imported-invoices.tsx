import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { VERDICT_NAMES } from '../../domain/imports/import.ts';
import { useLanguage } from '../interface/language.tsx';
import { Unreachable } from '../interface/unreachable.tsx';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf, sizeInAddress } from '../tables/page-sizes.ts';
import { PageSizes } from '../tables/size-links.tsx';
import { WARNING_TEXTS } from '../text/findings.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { formatMoney, formatNumber } from '../text/money.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { IMPORTED_INVOICES, type Imported, type ImportedInvoice } from './documents.ts';

/** Lists the invoices of a file with their verdicts, in its order. The address has the filter and the page. */
export function ImportedInvoices({ imported }: { readonly imported: Imported }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { query } = useLocation();
  const { id, counts, reading } = imported;
  const words = IMPORT_TEXTS[language];
  const only = VERDICT_NAMES.find((verdict) => verdict === query.only) ?? null;
  const size = pageSizeOf(query);
  const { data, problem, reload } = useRead(IMPORTED_INVOICES, {
    id,
    ...(only && { only: [only] }),
    ...pageArguments(query, size),
  });
  const state = JSON.stringify(counts);
  useEffect(reload, [state]);
  const page = data?.import.invoices;
  const to = (set: Readonly<Record<string, string | null>>) =>
    listAddress(`${address}/imports/${id}`, { only, size: sizeInAddress(size), ...set });
  return (
    <section class="imported" aria-busy={!page && !problem}>
      <div class="filters">
        <nav aria-label={words.filter}>
          {[null, ...VERDICT_NAMES].map((verdict) => (
            <a key={verdict} href={to({ only: verdict })} aria-current={verdict === only ? 'true' : undefined}>
              {verdict === null ? words.all : words.verdicts[verdict]}{' '}
              <bdi>({formatNumber(verdict === null ? counts.invoices : counts[verdict], language)})</bdi>
            </a>
          ))}
        </nav>
      </div>
      {problem && <Unreachable text={words.failed} onRetry={reload} />}
      {page?.nodes.length === 0 && <p class="empty">{words.noRows}</p>}
      {page && page.nodes.length > 0 && (
        <>
          <ol class="log">
            {page.nodes.map((invoice) => (
              <Row invoice={invoice} language={reading?.language ?? language} key={invoice.id} />
            ))}
          </ol>
          <div class="list-end">
            <PageLinks pageInfo={page.pageInfo} to={to} isByDate={false} />
            <PageSizes size={size} to={(chosen) => to({ size: chosen })} />
          </div>
        </>
      )}
    </section>
  );
}

interface RowProps {
  readonly invoice: ImportedInvoice;
  /** That of the messages about the file. */
  readonly language: 'fr' | 'en' | 'ar';
}

function Row({ invoice: imported, language: ofFile }: RowProps) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const words = IMPORT_TEXTS[language];
  const { firstRow, lastRow, label, number, customerName, amount, verdict, problems, warnings, invoice } = imported;
  const shown = (row: number) => formatNumber(row, language);
  return (
    <li data-verdict={verdict}>
      <p class="of-file">
        <span class="under">
          {firstRow === lastRow ? words.row(shown(firstRow)) : words.rows(shown(firstRow), shown(lastRow))}
        </span>
        <bdi>{invoice?.number ?? number ?? label}</bdi>
        <strong>
          <bdi>{customerName ?? words.nameless}</bdi>
        </strong>
        {amount !== null && <bdi>{formatMoney(amount, language)}</bdi>}
        <span class="badge" data-state={BADGES[verdict]}>
          {words.verdicts[verdict]}
        </span>
        {invoice && (
          <a href={`${address}/invoices/${invoice.id}`}>
            <span class="badge" data-status={invoice.status}>
              {texts.stepNames[invoice.status]}
            </span>
          </a>
        )}
      </p>
      {problems.length > 0 && (
        <ul class="problems" lang={ofFile}>
          {problems.map(({ row, column, header, value, code, message }, nth) => (
            <li key={`${nth}${code}`} dir="auto">
              <bdi class="place">{column === null ? row : `${column}${row}`}</bdi>
              {header !== null && <bdi>{header}</bdi>}
              {value !== null && <q dir="auto">{value}</q>}
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
      <Warnings
        warnings={warnings}
        isOpen={verdict === 'known' || warnings.some(({ code }) => code === 'similar_sale')}
        language={ofFile}
      />
    </li>
  );
}

interface WarningsProps extends Pick<ImportedInvoice, 'warnings'> {
  readonly isOpen: boolean;
  /** That of the messages about the file. */
  readonly language: 'fr' | 'en' | 'ar';
}

/** Warnings about content that the service accepts, but the law or the person may not. */
function Warnings({ warnings, isOpen, language: ofFile }: WarningsProps) {
  const { language } = useLanguage();
  if (warnings.length === 0) return null;
  // Several fields may have the same warning.
  const byCode = new Map(warnings.map((warning) => [warning.code, warning]));
  return (
    <details class="findings" open={isOpen}>
      <summary>{IMPORT_TEXTS[language].warnings(byCode.size)}</summary>
      <ul>
        {[...byCode.values()].map(({ code, message }) => (
          <li key={code}>
            {WARNING_TEXTS[code as keyof typeof WARNING_TEXTS]?.[language] ?? (
              <span lang={ofFile} dir="auto">
                {message}
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The looks of badges of verdicts. */
const BADGES: Readonly<Partial<Record<ImportedInvoice['verdict'], string>>> = {
  faulty: 'failed',
  refused: 'refused',
  issued: 'delivered',
  known: 'delivered',
};
