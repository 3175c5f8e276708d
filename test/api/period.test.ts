import { expect } from 'vitest';
import { addDays } from '../../src/domain/calendar-date.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { withSharedService } from '../support/service.ts';

const PERIOD = `query ($period: String!) { period(period: $period) {
  period { ...Sums } before { name from through invoices { accepted { count total } } } } }
  fragment Sums on Period { name from through
    invoices { pending { count } accepted { ...All } rejected { ...All } } creditNotes { accepted { ...All } } }
  fragment All on PeriodSums { count net tax total withheld rates { rate net tax } }`;
const NONE = { count: 0, net: '0', tax: '0', total: '0', withheld: '0' };

withSharedService('a period has the sums of what was issued in it, by kind, status and rate', async ({ service }) => {
  const { url, app } = service;
  const { id: tenantId, secretKey } = await service.tenant();
  const client = new Client(url, secretKey);
  const other = new Client(url, (await service.tenant()).secretKey);
  const month = moroccanDate(new Date()).slice(0, 7);
  const accepted = [];
  for (const changes of [
    {},
    { lines: [{ description: 'L', quantity: 1, unit_price: 10_000, tax_rate: 10 }], amount: 11_000 },
  ])
    accepted.push((await client.post('/v1/invoices', invoiceBody(changes))).body.id);
  // Nobody has this ICE.
  const rejected = (await client.post('/v1/invoices', invoiceBody({ customer: { ice: '999000000000102', name: 'R' } })))
    .body.id;
  for (const id of [...accepted, rejected]) await client.settled(id);
  const credit = `mutation ($id: ID!) { creditInvoice(invoiceId: $id, input: { reason: return }) {
    ... on CreditInvoicePayload { creditNote { id } } ... on Error { message } } }`;
  const note = (await client.graphql(credit, { id: accepted[1] })).body.data.creditInvoice.creditNote.id;
  const read = async (from: Client, period = month) => (await from.graphql(PERIOD, { period })).body;
  await expect
    .poll(async () => (await read(client)).data.period.period.creditNotes.accepted.count, { timeout: 20_000 })
    .toBe(1);
  const { invoices, creditNotes, ...named } = (await read(client)).data.period.period;
  expect(named).toMatchObject({ name: month, from: `${month}-01` });
  expect(invoices.accepted).toMatchObject({ ...NONE, count: 2, net: '20000', tax: '3000', total: '23000' });
  expect(invoices.accepted.rates).toEqual([
    { rate: 20, net: '10000', tax: '2000' },
    { rate: 14, net: '0', tax: '0' },
    { rate: 10, net: '10000', tax: '1000' },
    { rate: 7, net: '0', tax: '0' },
    { rate: 0, net: '0', tax: '0' },
  ]);
  expect(invoices.rejected).toMatchObject({ ...NONE, count: 1, net: '10000', tax: '2000', total: '12000' });
  expect(invoices.pending).toEqual({ count: 0 });
  expect(creditNotes.accepted).toMatchObject({ ...NONE, count: 1, net: '10000', tax: '1000', total: '11000' });
  const next = moroccanDate(new Date(Date.now() + 32 * 86_400_000)).slice(0, 7);
  for (const period of [month.slice(0, 4), `${month.slice(0, 4)}-Q${Math.ceil(Number(month.slice(5)) / 3)}`])
    expect((await read(client, period)).data.period.period).toMatchObject({ name: period, invoices, creditNotes });
  const days = `query ($from: String!, $through: String!) { daySums(from: $from, through: $through) {
    from through invoices { accepted { ...All } rejected { ...All } } creditNotes { accepted { ...All } } } }
    fragment All on PeriodSums { count net tax total withheld rates { rate net tax } }`;
  const sumsOf = async (from: string, through: string) => (await client.graphql(days, { from, through })).body;
  const today = moroccanDate(new Date());
  const { pending: _open, ...decided } = invoices;
  const on = { from: addDays(today, -365), through: today };
  expect((await sumsOf(on.from, on.through)).data.daySums).toEqual({ ...on, invoices: decided, creditNotes });
  expect((await sumsOf(addDays(today, 2), addDays(today, 3))).data.daySums.invoices.accepted.count).toBe(0);
  for (const [from, through, param] of [
    [addDays(today, -366), today, 'through'],
    [today, addDays(today, -1), 'through'],
    ['2026-02-30', today, 'from'],
    [today, `${today}T00:00:00Z`, 'through'],
    ['x'.repeat(10_000), today, 'from'],
  ] as const)
    expect((await sumsOf(from, through)).errors[0].extensions).toMatchObject({ code: 'invalid_request', param });
  // The totals of lists: of the days, and of what a search finds.
  const totals = `query ($kind: FiscalDocumentKind, $status: InvoiceStatus, $search: String, $from: String, $through: String) {
    fiscalDocumentTotals(kind: $kind, status: $status, search: $search, from: $from, through: $through) {
      count net tax total hasMore } }`;
  const totalsOf = async (filter: object, by = client) => {
    const { body } = await by.graphql(totals, { ...filter });
    return body.data?.fiscalDocumentTotals ?? body.errors[0].extensions;
  };
  const all = { count: 4, net: '20000', tax: '4000', total: '24000', hasMore: false };
  const some = { count: 2, net: '20000', tax: '3000', total: '23000', hasMore: false };
  const none = { count: 0, net: '0', tax: '0', total: '0', hasMore: false };
  for (const search of [null, 'atlas']) {
    if (search) for (const id of [...accepted, rejected, note]) await client.found(id, id);
    const only = search === null ? { ...all } : { ...all, count: 3, net: '10000', tax: '2000', total: '12000' };
    expect([search, await totalsOf({ search })]).toEqual([search, only]);
    expect(await totalsOf({ search, kind: 'invoice', status: 'accepted', from: today, through: today })).toEqual(some);
    expect(await totalsOf({ search, from: addDays(today, 1) })).toEqual(none);
    expect(await totalsOf({ search, through: addDays(today, -1) })).toEqual(none);
    expect(await totalsOf({ search }, other)).toEqual(none);
  }
  expect(await totalsOf({ from: '2026-11-31' })).toMatchObject({ code: 'invalid_request', param: 'from' });
  expect(await totalsOf({ search: 'x'.repeat(500) })).toMatchObject({ code: 'invalid_request', param: 'search' });
  expect((await read(other)).data.period.period.invoices.accepted.count).toBe(0);
  expect((await read(client, next)).data.period.period.invoices.accepted.count).toBe(0);
  expect((await read(client, `${month}x`)).errors[0].extensions).toMatchObject({
    code: 'invalid_request',
    param: 'period',
  });
  const faults = await Array.fromAsync(findInconsistencies(app.store.db));
  expect(faults.filter((text) => text.includes(tenantId) || text.includes(note))).toEqual([]);
});
