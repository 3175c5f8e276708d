import type { InvoiceInput } from '../creation/documents.ts';
import { drawnUp, kindOf, type Left, type TypedInvoice } from '../creation/drawn-up.ts';
import { draftDetailsOf, NO_DETAILS, typedDetailsOf } from '../creation/typed-details.ts';
import { isUnreadable, typedAdjustmentOf } from '../creation/typed-discount.ts';
import { type TypedLine, typedLineOf } from '../creation/typed-line.ts';
import { changedTerms, NO_TERMS, typedTermsOf } from '../creation/typed-terms.ts';
import { recordOf, textOf, UNREADABLE } from '../creation/typed-values.ts';

export type DraftContent = Readonly<Record<string, unknown>>;

/**
 * Converts the form to the content of a draft. A figure that cannot be read stays as it was typed, so that the service
 * names it and the form shows it again.
 * @param before the content that the form was opened with: members that the form does not show are kept, and so is the
 *   amount while the rest of a deposit is not known
 */
export function contentOf(typed: TypedInvoice, before: DraftContent, left: Left = new Map()): DraftContent {
  const { details = NO_DETAILS, ...written } = typed;
  const { customer, lines, number, terms: _typed, ...drawn } = drawnUp(written, left);
  const isUnknown = drawn.deposits?.some((id) => !left.has(id)) ?? false;
  // The form shows the members as typed, so none of an earlier kind of customer stays.
  const {
    email: _email,
    kind: _kind,
    ice: _ice,
    country: _country,
    taxNumber: _number,
    address: _address,
    ...others
  } = recordOf(before.customer);
  const {
    number: earlier,
    discount: _discount,
    charge: _charge,
    references: _references,
    servicePeriod: _period,
    foreignValue: _value,
    terms: earlierTerms,
    withholding: _withholding,
    isDeposit: _isDeposit,
    deposits: _deposits,
    ...kept
  } = before;
  const terms = changedTerms(typed.terms ?? NO_TERMS, earlierTerms);
  const own = typed.number === undefined ? earlier : number;
  return {
    ...kept,
    ...(own !== undefined && { number: own }),
    ...drawn,
    ...(isUnknown && before.amount !== undefined && { amount: before.amount }),
    ...draftDetailsOf(details),
    ...(Object.keys(terms).length > 0 && { terms }),
    ...asTypedOf('discount', drawn, typed),
    ...asTypedOf('charge', drawn, typed),
    customer: { ...others, ...customer },
    lines: lines.map((line, i) => {
      const { quantity, unitPrice, taxRate, discount = '' } = typed.lines[i] as TypedLine;
      const asTyped = { quantity, unitPrice, taxRate };
      const read = Object.entries(asTyped).map(([name, text]) => {
        const figure = line[name as keyof typeof asTyped];
        return [name, figure === UNREADABLE ? text : figure];
      });
      return { ...line, ...Object.fromEntries(read), ...(isUnreadable(line.discount) && { discount }) };
    }),
  };
}

type Name = 'discount' | 'charge';

/** Returns a discount or a charge whose figure cannot be read as it was typed. */
function asTypedOf(name: Name, drawn: Pick<InvoiceInput, Name>, typed: TypedInvoice) {
  const { amount: _amount, percent: _percent, ...others } = drawn[name] ?? {};
  return isUnreadable(drawn[name]) ? { [name]: { ...others, amount: typed[name]?.figure } } : {};
}

/** Returns the content of a draft, which may be anything, as the form shows it. */
export function typedOf(content: DraftContent, newLine: TypedLine): TypedInvoice {
  const customer = recordOf(content.customer);
  const lines = Array.isArray(content.lines) ? content.lines : [];
  return {
    kind: kindOf(customer),
    country: textOf(customer.country),
    taxNumber: textOf(customer.taxNumber),
    ice: textOf(customer.ice),
    name: textOf(customer.name),
    email: textOf(customer.email),
    address: textOf(customer.address),
    number: textOf(content.number),
    lines: lines.length === 0 ? [newLine] : lines.map(typedLineOf),
    discount: typedAdjustmentOf(content.discount),
    charge: typedAdjustmentOf(content.charge),
    terms: typedTermsOf(content.terms),
    details: typedDetailsOf(content),
    isDeposit: content.isDeposit === true,
    deposits: Array.isArray(content.deposits) ? content.deposits.filter((id) => typeof id === 'string') : [],
  };
}

/** Returns the name of the customer of a draft; empty if it has none. */
export function customerOf(content: DraftContent): string {
  return textOf(recordOf(content.customer).name);
}
