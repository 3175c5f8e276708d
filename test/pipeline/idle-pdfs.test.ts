import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { STAND_IN_PDF, startService, type TestService } from '../support/service.ts';

interface StoredInvoice {
  _id: string;
  pdf: object | null;
  work?: { stage: string; idle?: true; token: string | null };
}

let service: TestService;
let client: Client;
/** The invoices that were drawn, in order. */
const drawn: string[] = [];
/** The running drawings wait for it. */
let held = Promise.resolve();
/** The drawing of this invoice waits for its end. */
let longest: { readonly id: string; readonly end: Promise<void> } | null = null;

beforeAll(async () => {
  const renderer = {
    async render({ verifyUrl }: { verifyUrl: string }): Promise<Uint8Array> {
      const id = verifyUrl.split('/').at(-1)!;
      drawn.push(id);
      await (id === longest?.id ? longest.end : held);
      return STAND_IN_PDF;
    },
    draw: async () => STAND_IN_PDF,
    warm: async () => {},
    close: async () => {},
  };
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' }, renderer);
  client = new Client(service.url, (await service.tenant()).secretKey);
});
afterAll(() => service.close());

const collection = () => service.app.store.db.collection<StoredInvoice>('invoices');
const storedOf = (id: string) => collection().findOne({ _id: id });
const isDrawn = async (id: string) => Boolean((await storedOf(id))?.pdf);
const timesDrawn = (id: string) => drawn.filter((each) => each === id).length;

/** Creates an invoice and waits until its PDF is left for idle time, which may have come on a machine that is slow. */
async function leftForLater(owner = client): Promise<{ id: string; pdf_url: string }> {
  const settled = await owner.settled((await owner.post('/v1/invoices', invoiceBody())).body.id);
  const isLeft = async () => (await storedOf(settled.id))?.work?.idle ?? drawn.includes(settled.id);
  await expect.poll(isLeft, { interval: 5 }).toBe(true);
  return settled;
}

/** Creates invoices all the time, so that the process is rarely idle. */
async function underLoad<Result>(work: () => Promise<Result>): Promise<Result> {
  let over = false;
  const creating = (async () => {
    while (!over) {
      await client.post('/v1/invoices', invoiceBody());
      await sleep(150);
    }
  })();
  try {
    return await work();
  } finally {
    over = true;
    await creating;
  }
}

/** Draws a PDF all the time, so that the process is never idle. */
async function whileDrawing<Result>(work: () => Promise<Result>): Promise<Result> {
  const { id, pdf_url } = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  const gate = Promise.withResolvers<void>();
  longest = { id, end: gate.promise };
  // Whoever asks waits for 10 s at most.
  const asked = fetch(pdf_url).then((answer) => answer.arrayBuffer());
  try {
    await expect.poll(() => drawn).toContain(id);
    return await work();
  } finally {
    gate.resolve();
    await asked;
  }
}

describe('a PDF that nobody waits for', () => {
  it('is not drawn while the process has other work, and is drawn when it is idle', async () => {
    const first = await whileDrawing(async () => {
      const invoice = await leftForLater();
      const before = drawn.length;
      await sleep(4000);
      expect([drawn.length - before, await isDrawn(invoice.id)]).toEqual([0, false]);
      return invoice;
    });
    // It is no longer idle while it is drawn.
    await expect.poll(() => isDrawn(first.id)).toBe(true);
    await expect.poll(() => collection().countDocuments({ 'work.idle': true })).toBe(0);
    expect(timesDrawn(first.id)).toBe(1);
    expect(await (await fetch(first.pdf_url)).text()).toBe(STAND_IN_PDF.toString());
  });

  it('is drawn at once, and once, for all who ask for it', async () => {
    await underLoad(async () => {
      const { id, pdf_url } = await leftForLater();
      const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(pdf_url)));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(timesDrawn(id)).toBe(1);
    });
  });

  it('is drawn for a mail that is requested later', async () => {
    await underLoad(async () => {
      const { id } = await leftForLater();
      const { body } = await client.graphql(
        'mutation ($id: ID!) { resendInvoiceEmail(id: $id, to: "a@example.org") { ... on ResendInvoiceEmailPayload { invoice { email { to } } } ... on Error { message } } }',
        { id },
      );
      expect(body.data.resendInvoiceEmail.invoice.email.to).toBe('a@example.org');
      await expect.poll(async () => (await storedOf(id))?.work ?? null).toBeNull();
    });
  });

  it('is drawn by another worker if the one that drew it died', async () => {
    const { id } = await underLoad(async () => {
      const invoice = await leftForLater();
      // What a killed process leaves: a claim whose lease ends.
      const lease = new Date(Date.now() + 500);
      await collection().updateOne(
        { _id: invoice.id, 'work.idle': true },
        {
          $set: { 'work.token': 'dead', 'work.dueAt': lease, 'work.lane': 'documents' } as never,
          $unset: { 'work.idle': '' },
        },
      );
      await expect.poll(() => isDrawn(invoice.id)).toBe(true);
      return invoice;
    });
    expect(timesDrawn(id)).toBe(1);
  });

  it('is drawn after ten minutes although the process is never idle', async () => {
    await whileDrawing(async () => {
      const { id } = await leftForLater();
      const since = new Date(Date.now() - 10 * 60_000);
      await collection().updateOne({ _id: id, 'work.idle': true }, { $set: { 'work.dueAt': since } as never });
      await expect.poll(() => isDrawn(id)).toBe(true);
    });
  });
});

it('a PDF that a mail waits for is drawn at once, under load too', async () => {
  await underLoad(async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('001525713000085', 'x@example.org'));
    await expect
      .poll(async () => (await client.graphql(`{ invoice(id: "${body.id}") { email { status } } }`)).body.data.invoice)
      .toEqual({ email: { status: 'sent' } });
    expect(timesDrawn(body.id)).toBe(1);
  });
});

it('a client that asks for many PDFs at once delays those of another tenant by few', async () => {
  const other = new Client(service.url, (await service.tenant()).secretKey);
  const gate = Promise.withResolvers<void>();
  await underLoad(async () => {
    // From now on, so that idle work draws one of them at most.
    held = gate.promise;
    const many = await Promise.all(Array.from({ length: 20 }, () => leftForLater()));
    const one = await leftForLater(other);
    const before = drawn.length;
    const answers = many.map(({ pdf_url }) => fetch(pdf_url));
    // The places of PDFs that somebody waits for; one of idle work may have begun before.
    await expect.poll(() => drawn.length - before).toBeGreaterThanOrEqual(4);
    expect(drawn.length - before).toBeLessThanOrEqual(5);
    const answer = fetch(one.pdf_url);
    await expect.poll(async () => (await storedOf(one.id))?.work?.idle ?? false).toBe(false);
    // Slower than usual, so that the order is seen.
    held = sleep(20);
    gate.resolve();
    expect((await answer).status).toBe(200);
    expect(drawn.indexOf(one.id, before) - before).toBeLessThanOrEqual(8 + 5);
    const statuses = await Promise.all(answers.map(async (each) => (await each).status));
    expect(statuses).toEqual(Array(20).fill(200));
  });
}, 120_000);

it('the metrics have the number of PDFs that wait for idle time', async () => {
  await underLoad(async () => {
    await leftForLater();
    const credential = Buffer.from(`operator:${service.app.firstStart.operatorPassword}`).toString('base64');
    const headers = { Authorization: `Basic ${credential}` };
    const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
    expect(Number(/^fatoura_pdfs_waiting_for_idle_time (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  });
});
