import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import type { Decision } from '../../src/domain/authority/ports.ts';
import { totalsOf } from '../../src/domain/invoice/totals.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { answering, held } from '../support/authority.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { sampled } from '../support/samples.ts';
import { STAND_IN_RENDERER, startService, type TestService } from '../support/service.ts';

/** Its signing key makes live documents possible; a scripted authority decides them. */
let simulator: Simulator;
let service: TestService;
let client: Client;
/** Whether the authority rejects the credit notes that it gets at present. */
let rejects: () => boolean;

function decided(submissionId: string): Decision {
  const decidedAt = new Date();
  if (!submissionId.startsWith('crn_') || !rejects())
    return { outcome: 'accepted', dgiId: `DGI-${submissionId}`, decidedAt };
  const problem = { code: 'line_unknown', path: null, message: 'Ligne inconnue.' };
  return { outcome: 'rejected', problems: [problem], decidedAt };
}

beforeAll(async () => {
  simulator = await startSimulator({});
  const authority = answering({ submit: async ({ submissionId }) => held(decided(submissionId)) });
  service = await startService({ ...simulator.settings }, STAND_IN_RENDERER, false, { authority });
  const { id } = await service.tenant({ ...SPECIMEN_SELLER, ice: '001525713000085' });
  client = new Client(service.url, await service.liveKey(id));
});
afterAll(async () => {
  await service.close();
  await simulator.close();
});

const CREDIT = `mutation ($id: ID!, $input: CreditInvoiceInput!) {
  creditInvoice(invoiceId: $id, input: $input) {
    ... on CreditInvoicePayload { creditNote { id } } ... on Error { code } } }`;
const READ = `query ($id: ID!) { invoice(id: $id) { creditedAmount
  creditNotes(first: 100) { nodes { id status amount totals { taxTotals { rate base tax } } } } } }`;

const LINES = [
  { description: 'Conseil', quantity: 9, unitPrice: 333, taxRate: 20 },
  { description: 'Livre', quantity: 5, unitPrice: 107, taxRate: 10 },
  { description: 'Eau', quantity: 3, unitPrice: 77, taxRate: 7 },
  { description: 'Pain', quantity: 1, unitPrice: 1_001, taxRate: 0 },
] as const;
const TOTALS = totalsOf({ lines: LINES })!;

async function accepted(): Promise<string> {
  const lines = LINES.map(({ unitPrice, taxRate, ...line }) => ({ ...line, unit_price: unitPrice, tax_rate: taxRate }));
  const { body } = await client.post('/v1/invoices', invoiceBody({ amount: TOTALS.gross, lines }));
  expect((await client.settled(body.id)).status).toBe('accepted');
  return body.id;
}

/** Returns the id of the credit note; null if too little is left. */
async function credit(id: string, input: object): Promise<string | null> {
  const { creditNote, code } = (await client.graphql(CREDIT, { id, input: { reason: 'other', ...input } })).body.data
    .creditInvoice;
  if (!creditNote) expect(code).toBe('credit_exceeds_invoice');
  return creditNote?.id ?? null;
}

/** A request of any form; `rest` is rare, so that several are accepted. */
function requestOf(choice: number): object {
  const [form, share] = [choice % 12, Math.floor(choice / 12)];
  const { quantity, taxRate, unitPrice } = LINES[share % LINES.length]!;
  const some = (most: number) => 1 + (Math.floor(share / 4) % most);
  if (form === 0) return {};
  if (form < 6) return { lines: [{ line: (share % LINES.length) + 1, quantity: some(Math.min(quantity, 3)) }] };
  const amounts = [{ taxRate, net: some(unitPrice) }];
  return { amounts: form < 9 ? amounts : [...amounts, { taxRate: 20, net: 1 + (share % 50) }] };
}

interface Note {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly totals: { readonly taxTotals: readonly { rate: number; base: number; tax: number }[] };
}

/** The credit notes of the invoice that count. Their sums do not exceed it, in all and at each rate. */
async function counted(id: string): Promise<readonly Note[]> {
  const read = async () => {
    const { creditedAmount, creditNotes } = (await client.graphql(READ, { id })).body.data.invoice;
    return { creditedAmount, notes: creditNotes.nodes as readonly Note[] };
  };
  let { creditedAmount, notes } = await read();
  const sum = () => notes.reduce((total, { amount }) => total + amount, 0);
  // The two fields are read one after the other: a rejection in between is seen by the second one only.
  for (let tries = 0; tries < 10 && creditedAmount !== sum(); tries++) ({ creditedAmount, notes } = await read());
  expect(creditedAmount).toBe(sum());
  expect(creditedAmount).toBeLessThanOrEqual(TOTALS.gross);
  for (const { rate, base, tax } of sumsOf(notes)) {
    const most = TOTALS.rates.find((each) => each.rate === rate);
    expect(base).toBeLessThanOrEqual(most?.base ?? 0);
    expect(tax).toBeLessThanOrEqual(most?.tax ?? 0);
  }
  return notes;
}

function sumsOf(notes: readonly Note[]) {
  const all = notes.flatMap(({ totals }) => totals.taxTotals);
  return TOTALS.rates.map(({ rate }) => {
    const mine = all.filter((each) => each.rate === rate);
    const sum = (of: 'base' | 'tax') => mine.reduce((total, each) => total + each[of], 0);
    return { rate, base: sum('base'), tax: sum('tax') };
  });
}

/** Credits what is left, and checks that all credit notes together are exactly the invoice. */
async function creditRest(id: string): Promise<void> {
  rejects = () => false;
  // Those still under way may be rejected by an earlier decision, and then leave something again.
  await settled(id);
  await credit(id, {});
  await settled(id);
  const notes = await counted(id);
  expect(notes.map(({ status }) => status)).toEqual(notes.map(() => 'accepted'));
  expect({ amount: notes.reduce((sum, { amount }) => sum + amount, 0), rates: sumsOf(notes) }).toEqual({
    amount: TOTALS.gross,
    rates: TOTALS.rates,
  });
  expect(await credit(id, {})).toBeNull();
}

async function settled(id: string): Promise<void> {
  const open = async () => (await counted(id)).filter(({ status }) => status !== 'accepted');
  await expect.poll(open, { timeout: 45_000 }).toEqual([]);
}

it('32 credit notes at the same time, of all forms, never exceed the invoice, and the refused take nothing', async () => {
  rejects = () => false;
  const id = await accepted();
  const made = await Promise.all(Array.from({ length: 32 }, (_, nth) => credit(id, requestOf(nth * 29 + 1))));
  const ids = made.filter((each) => each !== null);
  // How many fit depends on the order in which they arrive.
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.length).toBeLessThan(32);
  expect(new Set((await counted(id)).map((note) => note.id))).toEqual(new Set(ids));
  await creditRest(id);
});

it('what the authority rejects of them comes back', async () => {
  let nth = 0;
  rejects = () => nth++ % 2 === 0;
  const id = await accepted();
  const made = await Promise.all(Array.from({ length: 32 }, (_, each) => credit(id, requestOf(each * 29 + 1))));
  await settled(id);
  const left = (await counted(id)).length;
  expect(left).toBeLessThan(made.filter((each) => each !== null).length);
  expect(left).toBeGreaterThan(0);
  await creditRest(id);
});

it('credit notes in any order, of any form, some of them rejected, end at exactly nothing', async () => {
  const steps = fc.array(fc.record({ choice: fc.nat({ max: 10_000 }), isRejected: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (each) => {
      const id = await accepted();
      for (const { choice, isRejected } of each) {
        rejects = () => isRejected;
        await credit(id, requestOf(choice));
        await counted(id);
      }
      await creditRest(id);
    }),
    { numRuns: sampled(60, 20) },
  );
});
