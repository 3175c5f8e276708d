import { useState } from 'preact/hooks';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { DOCUMENT_TEXTS } from '../text/credit-notes.ts';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { formatMoney } from '../text/money.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CREDITS } from './documents.ts';

/** Number of credit notes that are shown at first, and the maximum, which is that of an invoice. */
const [SOME, ALL] = [10, 100];

interface CreditedProps {
  /** An accepted invoice. */
  readonly invoice: { readonly id: string; readonly amount: number };
}

/** Shows the credited amount of an accepted invoice and its credit notes, and leads to the form for a further one. */
export function Credited({ invoice: { id, amount } }: CreditedProps) {
  const { language, texts } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const [first, setFirst] = useState(SOME);
  const { data, reload } = useRead(CREDITS, { id, first });
  useLive((documentId) => kindOfId(documentId) === 'credit_note', reload);
  const { title, credited, showAll, action } = CREDITING_TEXTS[language];
  const notes = data?.invoice.creditNotes;
  if (!notes) return null;
  const sum = data.invoice.creditedAmount ?? 0;
  const isOffered = sum < amount && hasScope(tenant.role, 'issue', environment);
  if (notes.nodes.length === 0 && !isOffered) return null;
  const money = (centimes: number) => formatMoney(centimes, language);
  const { stepNames } = DOCUMENT_TEXTS.credit_note[language];
  return (
    <section class="card part credited" aria-labelledby="credited">
      <h2 id="credited">{title}</h2>
      <p role="status">{credited(money(sum), money(amount))}</p>
      {notes.nodes.length > 0 && (
        <ul class="log">
          {notes.nodes.map((note) => (
            <li key={note.id}>
              <a href={`${address}/invoices/${note.id}`}>
                <bdi>{note.number ?? texts.numberToCome}</bdi>
              </a>
              <span class="badge" data-status={note.status}>
                {stepNames[note.status]}
              </span>
              <bdi>{money(-note.amount)}</bdi>
            </li>
          ))}
        </ul>
      )}
      {notes.pageInfo.hasNextPage && first < ALL && (
        <button type="button" class="quiet" onClick={() => setFirst(ALL)}>
          {showAll}
        </button>
      )}
      {isOffered && (
        <p class="actions">
          <a class="primary" href={`${address}/invoices/${id}/credit`}>
            {action}
          </a>
        </p>
      )}
    </section>
  );
}
