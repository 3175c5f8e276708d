import { type Command, type Option, type ParsedArguments, UsageError } from '../../../src/cli/command.ts';
import { readJsonInput } from '../../../src/cli/files.ts';
import { interruptible } from '../../../src/cli/interruption.ts';
import { columns, harmless, type Terminal } from '../../../src/cli/terminal.ts';
import { accessOf } from '../../../src/cli/webhooks/service.ts';
import { INVOICE_STATUSES } from '../../../src/domain/invoice/lifecycle.ts';
import { type CreateInvoice, type Creation, dirhams, type Include, type Invoice } from '../../typescript/src/index.ts';
import { clientOf } from './connection.ts';
import { quoted, UndecidedError } from './failures.ts';

const INCLUDES = ['number', 'totals', 'terms', 'warnings', 'credits', 'customer', 'lines'] as const satisfies Include[];

const JSON_OPTION = { description: 'Print an object' } as const satisfies Option;
const INCLUDE = {
  value: 'NAME,…',
  description: `Further members: ${INCLUDES.join(', ')}`,
} as const satisfies Option;

/** An invoice that the test authority accepts. */
const EXAMPLE: CreateInvoice = {
  amount: 12_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas SARL' },
  lines: [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }],
};

const createInvoice: Command = {
  name: 'invoices create',
  summary: 'Creates an invoice',
  positionals: [],
  options: {
    file: { value: 'FILE', description: 'JSON as for POST /v1/invoices; - is standard input' },
    example: { description: 'Create an example instead (test environment only)' },
    order: { value: 'NUMBER', description: 'Your number of the order: the same order never becomes a second invoice' },
    'idempotency-key': { value: 'KEY', description: 'The same for a key of your own' },
    wait: { description: 'Wait until the authority has decided; exit code 1 if it rejects' },
    include: INCLUDE,
    json: JSON_OPTION,
  },
  async run(input, context) {
    const { environment } = await accessOf(input, context);
    const client = await clientOf(input, context);
    const [invoice, include] = [await invoiceOf(input, environment), includeOf(input)];
    return interruptible(async (signal) => {
      const made = await client.invoices.create(invoice, {
        orderNumber: input.find('order') ?? undefined,
        idempotencyKey: input.find('idempotency-key') ?? undefined,
        include,
        signal,
      });
      if (input.has('wait')) {
        // The decision may take hours. Whoever does not wait for it has the invoice all the same.
        const statement = statementOf(made, input);
        context.terminal.remark(statement);
        const settled = client.invoices.settled(made.id, { include, signal }).catch((error: Error) => {
          throw new UndecidedError(made.id, statement, error);
        });
        return settle(settled, input, context.terminal);
      }
      if (input.has('json')) context.terminal.print(JSON.stringify(made));
      else {
        show(context.terminal, made);
        context.terminal.print(`client_secret  ${made.client_secret}`);
        if (made.replayed) context.terminal.remark('It was created before with this key.');
      }
      return 0;
    });
  },
};

/** Says that an invoice exists, and how to wait for the decision on it. */
function statementOf({ id, replayed }: Creation, input: ParsedArguments): string {
  const profile = input.find('profile');
  const follow = `fatoura invoices follow ${id}${profile === null ? '' : ` --profile ${quoted(profile)}`}`;
  return `${id} ${replayed ? 'was created before with this key' : 'is created'}; its decision: ${follow}`;
}

async function invoiceOf(input: ParsedArguments, environment: 'test' | 'live'): Promise<CreateInvoice> {
  const file = input.find('file');
  if (input.has('example')) {
    if (file !== null) throw new UsageError('--example needs no --file');
    if (environment === 'live') throw new UsageError('--example is for the test environment');
    return EXAMPLE;
  }
  if (file === null) throw new UsageError('--file is required, or --example');
  return (await readJsonInput(file)) as CreateInvoice;
}

const getInvoice: Command = {
  name: 'invoices get',
  summary: 'Shows an invoice, by its id or its number',
  positionals: ['INVOICE'],
  options: { include: INCLUDE, json: JSON_OPTION },
  async run(input, context) {
    const { invoices } = await clientOf(input, context);
    const [asked, include] = [input.get('INVOICE'), includeOf(input)];
    const invoice = asked.startsWith('inv_')
      ? await invoices.get(asked, { include })
      : await invoices.findByNumber(asked, { include });
    if (!invoice) throw new Error(`there is no invoice with the number ${harmless(asked)}`);
    if (input.has('json')) context.terminal.print(JSON.stringify(invoice));
    else show(context.terminal, invoice);
    return 0;
  },
};

const listInvoices: Command = {
  name: 'invoices list',
  summary: 'Lists invoices, newest first',
  positionals: [],
  options: {
    status: { value: 'STATUS', description: 'Only with this status', choices: INVOICE_STATUSES },
    most: { value: 'N', description: 'How many at most; default 20' },
    after: { value: 'TIME', description: 'Created after: 2026-01-31T12:00:00Z' },
    before: { value: 'TIME', description: 'Created before' },
    ice: { value: 'ICE', description: 'Only of the customer with this ICE' },
    include: INCLUDE,
    json: { description: 'Print an array' },
  },
  async run(input, context) {
    const most = Number(input.find('most') ?? 20);
    if (!Number.isSafeInteger(most) || most < 1) throw new UsageError('--most must be a number from 1');
    const { invoices } = await clientOf(input, context);
    const found = await invoices
      .list({
        status: INVOICE_STATUSES.find((each) => each === input.find('status')),
        created_after: input.find('after') ?? undefined,
        created_before: input.find('before') ?? undefined,
        customer_ice: input.find('ice') ?? undefined,
        limit: Math.min(100, most),
        include: includeOf(input),
      })
      .take(most);
    if (input.has('json')) context.terminal.print(JSON.stringify(found));
    else if (found.length > 0)
      context.terminal.print(
        columns(
          found.map(({ id, created_at: at, status, amount, currency, customer }) => [
            id,
            at,
            status,
            `${dirhams(amount).padStart(12)} ${currency}`,
            harmless(customer.name),
          ]),
        ),
      );
    return 0;
  },
};

const followInvoice: Command = {
  name: 'invoices follow',
  summary: 'Prints each status of an invoice, until it is accepted or rejected',
  positionals: ['INVOICE_ID'],
  options: { json: { description: 'Print each as an object on a line' } },
  details: 'The exit code is 1 if it is rejected.',
  async run(input, context) {
    const { invoices } = await clientOf(input, context);
    let isRejected = false;
    for await (const message of invoices.follow(input.get('INVOICE_ID'))) {
      const { status, updated_at: at, dgi_id: dgiId, rejection_reason: reason } = message;
      isRejected = status === 'rejected';
      const more = dgiId ?? (reason === null ? '' : harmless(reason));
      context.terminal.print(input.has('json') ? JSON.stringify(message) : `${at}  ${status}  ${more}`.trimEnd());
    }
    return isRejected ? 1 : 0;
  },
};

export const INVOICE_COMMANDS: readonly Command[] = [createInvoice, getInvoice, listInvoices, followInvoice];

async function settle(settled: Promise<Invoice>, input: ParsedArguments, terminal: Terminal): Promise<number> {
  const invoice = await settled;
  if (input.has('json')) terminal.print(JSON.stringify(invoice));
  else show(terminal, invoice);
  return invoice.status === 'accepted' ? 0 : 1;
}

function show({ print, style }: Terminal, invoice: Invoice): void {
  const { id, status, amount, currency, customer, dgi_id: dgiId, pdf_url: pdf, xml_url: xml, ...others } = invoice;
  const colour = status === 'accepted' ? 'green' : status === 'rejected' ? 'red' : 'yellow';
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['id', id],
    ['number', others.number],
    ['status', style(colour, status)],
    ['amount', `${dirhams(amount)} ${currency}`],
    ['customer', customer.name],
    ['created', others.created_at],
    ['DGI id', dgiId],
    ['reason', others.rejection_reason],
    ['PDF', pdf],
    ['XML', xml],
  ];
  // The status has colours, which are control characters.
  print(columns(facts.flatMap(([name, text]) => (text ? [[name, name === 'status' ? text : harmless(text)]] : []))));
}

function includeOf(input: ParsedArguments): Include[] | undefined {
  const names = input.find('include')?.split(',');
  return names?.map((name) => {
    const known = INCLUDES.find((each) => each === name);
    if (!known) throw new UsageError(`--include has ${INCLUDES.join(', ')}, not '${name}'`);
    return known;
  });
}
