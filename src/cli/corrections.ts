import { QUANTITY_PLACES } from '../domain/decimal.ts';
import { CREDIT_REASONS } from '../domain/invoice/credit.ts';
import {
  type Command,
  type CommandContext,
  InputError,
  type Option,
  type ParsedArguments,
  UsageError,
} from './command.ts';
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

interface Credit {
  readonly replayed: boolean;
  readonly creditNote: CreditNoteFacts;
}

interface Replacement {
  readonly replayed: boolean;
  readonly invoice: { readonly id: string };
  readonly creditNote: CreditNoteFacts | null;
}

interface Reason {
  readonly reason: string;
  readonly note: string | null;
}

interface CreditInput extends Reason {
  readonly lines: readonly { readonly line: number; readonly quantity: number }[] | undefined;
  readonly amounts: readonly { readonly taxRate: number; readonly net: number }[] | undefined;
}

/** Requests corrections from the service. The idempotency key is null if none was given. */
export interface Corrections {
  credit(invoiceId: string, input: CreditInput, idempotencyKey: string | null): Promise<Credit>;
  /** @param input as for GraphQL's `createInvoice` */
  replace(invoiceId: string, input: object, why: Reason, idempotencyKey: string | null): Promise<Replacement>;
}

/** Makes the commands that correct invoices. @param connect returns the client of the service */
export function correctionCommands(
  connect: (input: ParsedArguments, context: CommandContext) => Promise<Corrections>,
): readonly [credit: Command, replace: Command] {
  return [creditOf(connect), replaceOf(connect)];
}

type Connect = Parameters<typeof correctionCommands>[0];

const creditOf = (connect: Connect): Command => ({
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
    const corrections = await connect(input, context);
    const { creditNote, replayed } = await corrections.credit(
      input.get('INVOICE_ID'),
      { ...reasonOf(input), lines, amounts },
      input.find('idempotency-key'),
    );
    context.terminal.print(
      input.has('json')
        ? JSON.stringify({ credit_note: creditNote, replayed })
        : `Credit note ${creditNote.id} of ${creditNote.amount} centimes ${created(replayed)}.`,
    );
    return 0;
  },
});

const replaceOf = (connect: Connect): Command => ({
  name: 'invoices replace',
  summary: 'Replaces an accepted or rejected invoice by a corrected one',
  positionals: ['INVOICE_ID', 'FILE'],
  options: { ...REASON_OPTIONS, ...SERVICE_OPTIONS },
  details: `FILE has the whole corrected invoice as JSON, as for POST /v1/invoices. What is left of an accepted invoice is credited in
the same act, and the corrected one waits until that credit note is accepted: see docs/api/corrections.md.`,
  async run(input, context) {
    const corrected = await readInvoice(input.get('FILE'));
    const corrections = await connect(input, context);
    const { invoice, creditNote, replayed } = await corrections.replace(
      input.get('INVOICE_ID'),
      corrected,
      reasonOf(input),
      input.find('idempotency-key'),
    );
    context.terminal.print(
      input.has('json')
        ? JSON.stringify({ invoice, credit_note: creditNote, replayed })
        : `Invoice ${invoice.id} ${created(replayed)}.${
            creditNote ? ` It waits for credit note ${creditNote.id} of ${creditNote.amount} centimes.` : ''
          }`,
    );
    return 0;
  },
});

/** Returns a client of the service, with the address and key of this machine's settings. */
export async function askOnce(input: ParsedArguments, context: CommandContext): Promise<Corrections> {
  const access = await accessOf(input, context);
  return {
    async credit(invoiceId, credited, idempotencyKey) {
      const variables = { invoiceId, input: credited, idempotencyKey };
      return (await operate<{ creditInvoice: Credit }>(access, CREDIT, variables)).creditInvoice;
    },
    async replace(invoiceId, corrected, why, idempotencyKey) {
      const variables = { invoiceId, input: corrected, ...why, idempotencyKey };
      return (await operate<{ replaceInvoice: Replacement }>(access, REPLACE, variables)).replaceInvoice;
    },
  };
}

function created(replayed: boolean): string {
  return replayed ? 'was created before with this key' : 'is created';
}

function reasonOf(input: ParsedArguments): Reason {
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
  // Imported only here, because making the schemas takes longer than most commands.
  const invoice = await import('../domain/invoice/create-invoice-input.ts');
  const { inputOfRestBody, restBodyProblems, restInvoiceBody } = invoice;
  const parsed = restInvoiceBody.safeParse(body);
  if (parsed.success) return inputOfRestBody(parsed.data);
  const [problem] = restBodyProblems(parsed.error);
  throw new InputError(`${path}: ${problem.message}`);
}
