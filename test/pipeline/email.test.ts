import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let mailServer: MailServer;

beforeAll(async () => {
  mailServer = await startMailServer();
  service = await startService({
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'factures@example.net',
    TEST_MAIL_ALLOW: '@allowed.example.com',
  });
});
afterAll(async () => {
  await service.close();
  await mailServer.close();
});

const EMAIL = 'query ($id: ID!) { invoice(id: $id) { email { status attempts lastError sentAt } } }';

async function created(email?: string): Promise<{ client: Client; id: string; clientSecret: string }> {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const customer = { ice: '001234567000089', name: 'Atlas', ...(email !== undefined && { email }) };
  const { body } = await client.post('/v1/invoices', invoiceBody({ customer }));
  return { client, id: body.id, clientSecret: body.client_secret };
}

async function emailOf(client: Client, id: string) {
  return (await client.graphql(EMAIL, { id })).body.data.invoice.email;
}

const settled = { status: 'sent', attempts: 1, lastError: null, sentAt: expect.any(String) };
const outbox = () => readdir(join(service.dataDir, 'outbox')).catch(() => []);

describe('an accepted invoice', () => {
  it('is mailed once, with both documents as served', async () => {
    const { client, id } = await created('Compta@allowed.example.com');
    await expect.poll(() => emailOf(client, id)).toEqual(settled);
    const mails = mailServer.mails.filter(({ message }) => message.includes(id));
    expect(mails).toHaveLength(1);
    const { xml_url, pdf_url } = (await client.get(`/v1/invoices/${id}`)).body;
    for (const url of [xml_url, pdf_url]) {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64');
      expect(mails[0]?.message.replaceAll('\r\n', '')).toContain(bytes);
    }
    expect(await outbox()).not.toContain(`${id}.eml`);
  });

  it('of a test key is written to the outbox and not sent', async () => {
    const { client, id } = await created('real.customer@example.org');
    await expect.poll(() => emailOf(client, id)).toEqual(settled);
    expect(mailServer.mails.filter(({ message }) => message.includes(id))).toEqual([]);
    expect(await readFile(join(service.dataDir, 'outbox', `${id}.eml`), 'utf8')).toContain('real.customer@example.org');
  });

  it('shows its mail only to a secret key', async () => {
    const { id, clientSecret } = await created('real.customer@example.org');
    const answer = await new Client(service.url, clientSecret).graphql(EMAIL, { id });
    expect(answer.body).toEqual({ data: { invoice: { email: null } } });
  });

  it('without an e-mail address is not mailed; neither is a rejected invoice', async () => {
    const { client, id } = await created();
    await client.settled(id);
    expect(await emailOf(client, id)).toBeNull();
    const customer = { ice: '999000000000102', name: 'Atlas', email: 'a@example.org' };
    const { body } = await client.post('/v1/invoices', invoiceBody({ customer }));
    expect((await client.settled(body.id)).status).toBe('rejected');
    expect(await emailOf(client, body.id)).toBeNull();
  });
});

it('a failed mail shows its error and does not change the invoice', async () => {
  mailServer.behaviour = { rcptTo: '550 5.1.1 no such user' };
  try {
    const refused = await created('nobody@allowed.example.com');
    await expect
      .poll(() => emailOf(refused.client, refused.id))
      .toMatchObject({
        status: 'refused',
        attempts: 1,
        lastError: expect.stringContaining('no such user'),
        sentAt: null,
      });
    mailServer.behaviour = { end: 'drop' };
    const dropped = await created('later@allowed.example.com');
    await expect
      .poll(() => emailOf(dropped.client, dropped.id))
      .toMatchObject({ status: 'waiting', attempts: 1, lastError: expect.any(String) });
    for (const { client, id } of [refused, dropped]) {
      const { body } = await client.get(`/v1/invoices/${id}`);
      expect(body).toMatchObject({ status: 'accepted', pdf_url: expect.any(String), rejection_reason: null });
    }
  } finally {
    mailServer.behaviour = {};
  }
});

describe('resendInvoiceEmail', () => {
  const RESEND =
    'mutation ($id: ID!, $to: String) { resendInvoiceEmail(id: $id, to: $to) { ... on ResendInvoiceEmailPayload { invoice { email { status to attempts } } } ... on Error { code message param status } } }';
  const problemOf = async (client: Client, id: string, to: string | null = null) => {
    const { status, param } = (await client.graphql(RESEND, { id, to })).body.data.resendInvoiceEmail;
    return [status, param];
  };

  it('sends the documents again as a new mail, also to another recipient', async () => {
    const { client, id } = await created('compta@allowed.example.com');
    await expect.poll(() => emailOf(client, id)).toEqual(settled);
    const answer = await client.graphql(RESEND, { id, to: 'other@allowed.example.com' });
    expect(answer.body.data.resendInvoiceEmail.invoice.email).toEqual({
      status: 'waiting',
      to: 'other@allowed.example.com',
      attempts: 0,
    });
    await expect.poll(() => emailOf(client, id)).toEqual(settled);
    const mails = mailServer.mails.filter(({ message }) => message.includes(id));
    expect(mails.map(({ to }) => to[0])).toEqual(['compta@allowed.example.com', 'other@allowed.example.com']);
    const ids = mails.map(({ message }) => /^Message-ID: (.*)\r$/m.exec(message)?.[1]);
    expect(ids).toEqual([`<${id}@example.net>`, `<${id}.2@example.net>`]);
  });

  it('is refused without documents to mail, and after ten mails', async () => {
    const stranger = new Client(service.url, (await service.tenant()).secretKey);
    const { client, id } = await created();
    await client.settled(id);
    expect(await problemOf(stranger, id, 'x@example.org')).toEqual([404, 'id']);
    await expect.poll(() => problemOf(client, id)).toEqual([422, 'to']);
    expect(await problemOf(client, id, 'a@b.ma\r\nBcc: c@d.ma')).toEqual([400, 'to']);
    for (let sending = 1; sending <= 10; sending++) {
      await expect
        .poll(async () => (await client.graphql(RESEND, { id, to: 'x@example.org' })).body.data.resendInvoiceEmail)
        .toHaveProperty('invoice.email');
    }
    await expect.poll(() => emailOf(client, id)).toEqual(settled);
    expect(await problemOf(client, id, 'x@example.org')).toEqual([422, 'id']);
    expect((await outbox()).filter((name) => name.startsWith(id))).toHaveLength(10);
  });
});

it.each(['nobody', 'a@b', 'a@b.ma,c@d.ma', 'a@b.ma\r\nBcc: c@d.ma', 'x@[127.0.0.1]', `${'a'.repeat(65)}@b.ma`])(
  'an invalid address is refused at creation: %j',
  async (email) => {
    const { secretKey } = await service.tenant();
    const customer = { ice: '001234567000089', name: 'Atlas', email };
    const answer = await new Client(service.url, secretKey).post('/v1/invoices', invoiceBody({ customer }));
    expect([answer.status, answer.body.error]).toMatchObject([
      400,
      { code: 'invalid_request', param: 'customer.email' },
    ]);
  },
);

// The restart needs a store that keeps its data when the service ends.
const isEmbedded = !process.env.TEST_MONGODB_URL && !process.env.TEST_MONGODB;

it.skipIf(!isEmbedded)(
  'a mail interrupted by a stop is sent again after the start, byte for byte',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'restart-'));
    const settings = {
      DATA_DIR: folder,
      PUBLIC_URL: 'https://factures.example.net',
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'factures@example.net',
      TEST_MAIL_ALLOW: '@allowed.example.com',
    };
    const copies = (id: string) =>
      mailServer.mails.filter(({ message }) => message.includes(id)).map(({ message }) => message);
    try {
      // The server accepts the mail, but its reply never arrives.
      mailServer.behaviour = { end: 'hang' };
      const before = await startService(settings);
      const { secretKey } = await before.tenant();
      const customer = { ice: '001234567000089', name: 'Atlas', email: 'x@allowed.example.com' };
      const { body } = await new Client(before.url, secretKey).post('/v1/invoices', invoiceBody({ customer }));
      await expect.poll(() => copies(body.id)).toHaveLength(1);
      await before.close();
      mailServer.behaviour = {};
      const after = await startService(settings);
      try {
        await expect.poll(() => copies(body.id), { timeout: 60_000 }).toHaveLength(2);
        expect(new Set(copies(body.id)).size).toBe(1);
        const client = new Client(after.url, secretKey);
        await expect.poll(() => emailOf(client, body.id)).toMatchObject({ status: 'sent', attempts: 2 });
      } finally {
        await after.close();
      }
    } finally {
      mailServer.behaviour = {};
      await rm(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
