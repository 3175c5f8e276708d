import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { type TypedInvoice, typedCustomerOf } from '../creation/drawn-up.ts';
import { typedAdjustmentOf } from '../creation/typed-discount.ts';
import { typedLineOf } from '../creation/typed-line.ts';
import { typedTermsOf } from '../creation/typed-terms.ts';
import { reasonOf } from '../graphql/client.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { REPLACEABLE, type Replaceable } from '../replacing/documents.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import type { Reason } from '../text/errors.ts';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_DRAFT } from './documents.ts';
import { contentOf } from './draft-content.ts';

/** Makes a draft with the customer and the lines of an invoice, and opens it. */
export function DuplicateButton({ invoiceId }: { readonly invoiceId: string }) {
  const { language } = useLanguage();
  const { address, client, tenant, environment } = useWorkspace();
  const { route } = useLocation();
  const creation = useChange(CREATE_DRAFT);
  const [unread, setUnread] = useState<Reason | null>(null);
  if (!hasScope(tenant.role, 'draft', environment)) return null;

  async function duplicate(): Promise<void> {
    const { data, error } = await client.query(REPLACEABLE, { id: invoiceId }).toPromise();
    setUnread(data ? null : reasonOf(error));
    const made = data && (await creation.run({ content: contentOf(duplicateOf(data.invoice), {}) }));
    if (made) route(`${address}/drafts/${made.draft.id}`);
  }

  return (
    <>
      <button type="button" class="secondary" aria-disabled={creation.busy} onClick={() => void duplicate()}>
        {DRAFT_TEXTS[language].duplicate}
      </button>
      <Refusal why={unread ?? creation.refusal} />
    </>
  );
}

/**
 * Returns the members that a new invoice takes from an earlier one. Dates, numbers, references and deposits belong only
 * to the earlier one.
 */
function duplicateOf(invoice: Replaceable): TypedInvoice {
  const { customer, lines, discount, charge, terms } = invoice;
  return {
    ...typedCustomerOf(customer),
    // A certificate is given for one purchase.
    lines: lines.map((line) => ({ ...typedLineOf(line), certificateNumber: '', certificateDate: '' })),
    discount: typedAdjustmentOf(discount),
    charge: typedAdjustmentOf(charge),
    terms: { ...typedTermsOf(terms), operationDate: '', dueDate: '' },
  };
}
