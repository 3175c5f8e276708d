import { takeTurn } from '../event-loop-turns.ts';
import { leavesReasonToProfile } from '../morocco/exemptions.ts';
import type { Invoice } from './invoice.ts';
import { INVOICE_WARNINGS, type InvoiceWarning } from './invoice-warnings.ts';
import { legalWarnings, type WarnedInvoice } from './legal-warnings.ts';

/** Finds the characters of a text that the PDF replaces with U+FFFD, each once per reason. */
export type UnshownCharacters = (text: string) => Promise<{
  /**
   * Characters that no font of the PDF has, and clusters, such as emoji of several characters, that no single font has
   * completely.
   */
  readonly withoutFont: readonly string[];
  /** Characters that would make the text look like another one, such as controls that reverse it. */
  readonly distorting: readonly string[];
}>;

/**
 * Computes all warnings of an invoice: those about its contents, and those about characters that its PDF cannot show.
 * They are computed once for each object, because creation, the answer and several aliases ask for them.
 */
export type InvoiceWarnings = (invoice: Stated) => Promise<readonly InvoiceWarning[]>;

type Stated = WarnedInvoice & Pick<Invoice, 'number'> & Partial<Pick<Invoice, 'credit'>>;

export function createInvoiceWarnings(unshown: UnshownCharacters): InvoiceWarnings {
  const known = new WeakMap<Stated, Promise<InvoiceWarning[]>>();
  return (invoice) => {
    const warnings = known.get(invoice) ?? warningsOf(invoice);
    known.set(invoice, warnings);
    warnings.catch(() => known.delete(invoice));
    return warnings;
  };

  async function warningsOf(invoice: Stated): Promise<InvoiceWarning[]> {
    return [...legalWarnings(invoice), ...(await unprintableWarnings(invoice, unshown))];
  }
}

/** Maximum number of warnings about texts of lines; further ones are only counted. */
const MAX_LINES = 20;
/** Maximum number of characters that one warning names for each reason. */
const MAX_NAMED = 10;

/** Number of characters looked up in one unit of {@link takeTurn}. */
const CHARACTERS_A_UNIT = 8;

/**
 * Computes the warnings about texts with characters that the PDF does not show, such as Chinese ones. The XML contains
 * them.
 */
async function unprintableWarnings(invoice: Stated, unshown: UnshownCharacters): Promise<InvoiceWarning[]> {
  const warningOf = async ([path, text]: PrintedText) => {
    const reasons = text ? reasonsOf(await unshown(text)) : [];
    return reasons.length === 0 ? [] : [warning(path, reasons)];
  };
  const fields = await Promise.all(printedFields(invoice).map(warningOf));
  const ofLines: InvoiceWarning[] = [];
  // Checks line after line and yields to the event loop, because there may be 1,000 lines of 500 characters.
  for (const [index, line] of invoice.lines.entries()) {
    const texts = printedOfLine(line).flatMap(([name, text]) =>
      text ? [[`lines.${index}.${name}`, text] as const] : [],
    );
    const turn = takeTurn(Math.ceil(texts.reduce((sum, [, { length }]) => sum + length, 0) / CHARACTERS_A_UNIT));
    if (turn) await turn;
    for (const text of texts) ofLines.push(...(await warningOf(text)));
  }
  const listed = ofLines.slice(0, MAX_LINES);
  const last = listed.pop();
  const further = new Set(ofLines.slice(MAX_LINES).map(({ path }) => path.split('.')[1])).size;
  if (last)
    listed.push(
      further > 0 ? { ...last, message: `${last.message} ${further} further lines have such characters.` } : last,
    );
  return [...fields.flat(), ...listed];
}

type PrintedText = readonly [path: string, text: string | null | undefined];

/** Returns the clients' texts of a line that the PDF shows. */
function printedOfLine({ description, discount, exemption }: Stated['lines'][number]): PrintedText[] {
  return [
    ['description', description],
    ['discount.reason', discount?.reason],
    ['exemption.certificate.number', exemption?.certificate?.number],
  ];
}

/** Returns the clients' texts that the PDF shows, except those of the lines. */
function printedFields({
  credit,
  customer,
  number,
  seller,
  lines,
  terms,
  references,
  withholding,
  discount,
  charge,
}: Stated): PrintedText[] {
  return [
    ['customer.name', customer.name],
    ['customer.address', customer.address],
    ['customer.taxNumber', customer.taxNumber],
    ['number', number],
    ['credit.note', credit?.note],
    ['credit.original.number', credit?.original.number],
    ['credit.original.dgiId', credit?.original.dgiId],
    ['seller.legalName', seller.legalName],
    ['seller.legalForm', seller.legalForm],
    ['seller.address.street', seller.address?.street],
    ['seller.address.postalCode', seller.address?.postalCode],
    ['seller.address.city', seller.address?.city],
    ['seller.email', seller.email],
    ['seller.taxId', seller.taxId],
    ['seller.tradeRegister', seller.tradeRegister],
    ['seller.professionalTax', seller.professionalTax],
    ['seller.cnss', seller.cnss],
    ['seller.paymentMode', seller.paymentMode],
    ['terms.paymentMode', terms.paymentMode],
    ['terms.paymentReference', terms.paymentReference],
    ['references.order', references?.order],
    ['references.contract', references?.contract],
    ['withholding.certificate.number', withholding?.certificate?.number],
    ['discount.reason', discount?.reason],
    ['charge.reason', charge?.reason],
    ['seller.exemptionReason', lines.some(leavesReasonToProfile) ? seller.exemptionReason : null],
  ];
}

function reasonsOf({ withoutFont, distorting }: Awaited<ReturnType<UnshownCharacters>>): string[] {
  // Distorting characters are named by their code points alone, because they would distort the message, too.
  return [
    ...reason('none of its fonts has them', withoutFont, (each) => `${each} (${codePoints(each)})`),
    ...reason('they would make the text look like another one', distorting, codePoints),
  ];
}

function reason(why: string, characters: readonly string[], nameOf: (character: string) => string): string[] {
  const named = characters.slice(0, MAX_NAMED).map(nameOf);
  const more = characters.length - named.length;
  return named.length === 0 ? [] : [`because ${why}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

function warning(path: string, reasons: readonly string[]): InvoiceWarning {
  return {
    code: 'unprintable_characters',
    path,
    message: `${path} has characters that the PDF shows as \ufffd, ${reasons.join(', and ')}. The XML holds them. ${INVOICE_WARNINGS.unprintable_characters.remedy}`,
  };
}

function codePoints(cluster: string): string {
  const each = [...cluster].map((character) => character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0'));
  return each.map((digits) => `U+${digits}`).join(' ');
}
