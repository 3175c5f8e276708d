import { useState } from 'preact/hooks';
import type { TypedInvoice } from '../creation/drawn-up.ts';
import { allFaults, type Fault, type Faults, faultsOf, NO_FAULTS } from '../creation/faults.tsx';
import { fieldOfElement, type Placed, placed, typedAt } from '../creation/place-findings.ts';
import { useRefused } from '../creation/use-refused.ts';
import { useLanguage } from '../interface/language.tsx';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import type { Reason } from '../text/errors.ts';
import { REPLACING_TEXTS } from '../text/replacing.ts';
import type { Replaceable } from './documents.ts';

type AuthorityProblem = Replaceable['problems'][number];

/**
 * Places the authority's findings about the rejected invoice, and the service's problems of the corrected one, beside
 * the fields of the form.
 * @param refusal of the service
 */
export function useFindings(invoice: Replaceable, typed: TypedInvoice, refusal: Reason | null) {
  const [original] = useState(typed);
  const [stays, setStays] = useState(true);
  const count = typed.lines.length;
  const rejection = invoice.status === 'rejected' ? placedRejection(invoice, stays ? count : 0) : null;
  const refused = useRefused(refusal, count);
  return {
    rejection,
    refused,
    faults: allFaults(
      rejection ? authorityFaults(rejection, original) : NO_FAULTS,
      refused ? faultsOf(refused, typed) : NO_FAULTS,
    ),
    /** To be called with the new number of lines. */
    onLines: (lines: number) => lines < count && setStays(false),
  };
}

function placedRejection({ problems, rejectionReason }: Replaceable, lines: number): Placed<AuthorityProblem> {
  const found = problems.length > 0 ? problems : [{ path: null, message: rejectionReason ?? '' }];
  return placed(found, ({ path }) => fieldOfElement(path), lines);
}

/** A value that was changed is no longer the one that the authority refused. */
function authorityFaults({ beside }: Placed<AuthorityProblem>, original: TypedInvoice): Faults {
  const faultOf = (field: string, { message }: AuthorityProblem): Fault => ({
    text: (
      <span lang="fr" dir="ltr">
        {message}
      </span>
    ),
    value: typedAt(original, field),
  });
  return new Map([...beside].map(([field, found]) => [field, found.map((each) => faultOf(field, each))]));
}

/** Shows why the authority rejected the invoice, as far as it is not shown beside fields. */
export function Rejection({ placed: { beside, rest } }: { readonly placed: Placed<AuthorityProblem> }) {
  const { language } = useLanguage();
  return (
    <div class="refusal findings">
      <strong>{REPLACING_TEXTS[language].findings}</strong>
      <ul>
        {beside.size > 0 && <li>{CREDITING_TEXTS[language].faulty}</li>}
        {rest.map(({ message }, i) => (
          <li lang="fr" dir="auto" key={i}>
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
