import { useLanguage } from '../interface/language.tsx';
import { useEvery } from '../interface/use-every.ts';
import { formatAmount } from '../text/local-number.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useRead } from '../workspace/workspace-context.ts';
import { TOTALS } from './documents.ts';
import type { Filter } from './invoice-filter.ts';

/** Time after which the totals are read again, milliseconds. They follow the documents by some seconds. */
const AGAIN_MS = 5000;

/** Shows the number of documents of the list, on all of its pages, and their totals. */
export function ListTotals({ filter: { kind, status, search, from, until } }: { readonly filter: Filter }) {
  const { texts, language } = useLanguage();
  const { data, reload } = useRead(TOTALS, { kind, status, search, from, through: until });
  // A search must read the documents that it finds.
  useEvery(search === null ? AGAIN_MS : null, reload);
  const totals = data?.fiscalDocumentTotals;
  if (!totals || totals.count === 0) return null;
  const { documents, moreThan, totals: label } = TABLE_TEXTS[language];
  if (totals.hasMore) return <p class="list-totals">{moreThan(totals.count)}</p>;
  const { net, total } = PERIOD_TEXTS[language];
  const sums = [
    [net, totals.net],
    [texts.invoices.columns.vat, totals.tax],
    [total, totals.total],
  ] as const;
  return (
    <section class="list-totals" aria-label={label}>
      <span>{documents(totals.count)}</span>
      {sums.map(([name, sum]) => (
        <span key={name}>
          {name} <bdi>{formatAmount(BigInt(sum), language)}</bdi>
        </span>
      ))}
    </section>
  );
}
