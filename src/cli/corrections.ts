import { QUANTITY_PLACES } from '../domain/decimal.ts';
import { CREDIT_REASONS } from '../domain/invoice/credit.ts';
import { type Command, InputError, type Option, type ParsedArguments, UsageError } from './command.ts';
import { readInput } from './files.ts';
import { accessOf, operate, SERVICE_OPTIONS } from './webhooks/service.ts';

const REASON_OPTIONS = {
  reason: { value: 'REASON', description: 'Why', required: true, choices: Object.keys(CREDIT_REASONS) },
  note: { value: 'TEXT', description: 'The reason in words; the documents state it' },
  'idempotency-key': { value: 'KEY', description: 'Repeating the command with it creates nothing more' },
  json: { description: 'Print an object' },
} as const satisfies Record<string, Option>;

/** The operation of `invoices credit`. */
export const CREDIT = `mutation ($invoiceId: ID!, $input: CreditInvoiceInput!, $idempotencyKey: String) {
  creditInvoice(invoiceId: $invoiceId, input: $input, idempotencyKey: $idempotencyKey) {
    ... on CreditInvoicePayload { replayed creditNote { id amount } }
    ... on Error { refused: message }
  }
}`;

/** The operation of `invoices replace`. */
export const REPLACE = `mutation ($invoiceId: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $idempotencyKey: String) {
  replaceInvoice(invoiceId: $invoiceId, input: $input, reason: $reason, note: $note, idempotencyKey: $idempotencyKey) {
    ... on ReplaceInvoicePayload { replayed invoice { id } creditNote { id amount } }
    ... on Error { refused: message }
  }
}`;

interface CreditNoteFacts {
  readonly id: string;
  readonly amount: number;
}

export const creditInvoiceCommand: Command = {
  name: 'invoices credit',
  summary: 'Creates a credit note of an accepted invoice',
  positionals: ['INVOICE_ID'],
  options: {
    ...REASON_OPTIONS,
    lines: { value: 'LINE:QUANTITY,…', description: 'Credit these quantities of lines, which are counted from 1' },
    amounts: { value: 'RATE:CENTIMES,…', description: 'Credit these amounts without VAT at these rates' },
    ...SERVICE_OPTIONS,
  },
  details: `Without --lines and --amounts, all that is left of the invoice is credited. The credit note is signed and sent like an
invoice: see docs/api/corrections.md.`,
  async run(input, context) {
    const lines = pairsOf(input, 'lines', LINES)?.map(([line, quantity]) => ({ line, quantity }));
    const amounts = pairsOf(input, 'amounts', AMOUNTS)?.map(([taxRate, net]) => ({ taxRate, net }));
    const { reason, note } = reasonOf(input);
    const { creditInvoice } = await operate<{
      creditInvoice: { replayed: boolean; creditNote: CreditNoteFacts };
    }>(await accessOf(input, context), CREDIT, {
      invoiceId: input.get('INVOICE_ID'),
      input: { reason, note, lines, amounts },
      idempotencyKey: input.find('idempotency-key'),
    });
    const { creditNote, replayed } = creditInvoice;
    context.terminal.print(
      input.has('json')
        ? JSON.stringify({ credit_note: creditNote, replayed })
        : `Credit note ${creditNote.id} of ${creditNote.amount} centimes ${created(replayed)}.`,
    );
    return 0;
  },
};

export const replaceInvoiceCommand: Command = {
  name: 'invoices replace',
  summary: 'Replaces an accepted or rejected invoice by a corrected one',
  positionals: ['INVOICE_ID', 'FILE'],
  options: { ...REASON_OPTIONS, ...SERVICE_OPTIONS },
  details: `FILE has the whole corrected invoice as JSON, as for POST /v1/invoices. What is left of an accepted invoice is credited in
the same act, and the corrected one waits until that credit note is accepted: see docs/api/corrections.md.`,
  async run(input, context) {
    const { reason, note } = reasonOf(input);
    const corrected = await readInvoice(input.get('FILE'));
    const { replaceInvoice } = await operate<{
      replaceInvoice: { replayed: boolean; invoice: { id: string }; creditNote: CreditNoteFacts | null };
    }>(await accessOf(input, context), REPLACE, {
      invoiceId: input.get('INVOICE_ID'),
      input: corrected,
      reason,
      note,
      idempotencyKey: input.find('idempotency-key'),
    });
    const { invoice, creditNote, replayed } = replaceInvoice;
    context.terminal.print(
      input.has('json')
        ? JSON.stringify({ invoice, credit_note: creditNote, replayed })
        : `Invoice ${invoice.id} ${created(replayed)}.${
            creditNote ? ` It waits for credit note ${creditNote.id} of ${creditNote.amount} centimes.` : ''
          }`,
    );
    return 0;
  },
};

function created(replayed: boolean): string {
  return replayed ? 'was created before with this key' : 'is created';
}

function reasonOf(input: ParsedArguments) {
  return { reason: input.get('reason'), note: input.find('note') };
}

const LINES = {
  pair: String.raw`\d{1,15}:\d{1,15}(?:\.\d{1,${QUANTITY_PLACES}})?`,
  form: 'pairs of a line and a quantity, such as 1:2,3:0.5',
};
const AMOUNTS = { pair: String.raw`\d{1,15}:\d{1,15}`, form: 'pairs of integers, such as 20:1000,10:500' };

/** Parses pairs of numbers such as `1:2,3:1`; undefined if the option was not given. @throws {UsageError} */
function pairsOf(
  input: ParsedArguments,
  option: string,
  { pair, form }: { readonly pair: string; readonly form: string },
): (readonly [number, number])[] | undefined {
  const text = input.find(option);
  if (text === null) return undefined;
  if (!new RegExp(`^${pair}(?:,${pair})*$`).test(text)) throw new UsageError(`--${option} must be ${form}`);
  return text.split(',').map((each) => {
    const [first, second] = each.split(':');
    return [Number(first), Number(second)] as const;
  });
}

/** Reads an invoice in REST's form. @throws {InputError} */
async function readInvoice(path: string) {
  const text = (await readInput(path)).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new InputError(`${path} is not JSON.`);
  }
  // Only here: making the schemas takes longer than most commands.
  const invoice = await import('../domain/invoice/create-invoice-input.ts');
  const { inputOfRestBody, restBodyProblems, restInvoiceBody } = invoice;
  const parsed = restInvoiceBody.safeParse(body);
  if (parsed.success) return inputOfRestBody(parsed.data);
  const [problem] = restBodyProblems(parsed.error);
  throw new InputError(`${path}: ${problem.message}`);
}
