import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMailer, type MailerOptions } from '../../../src/adapters/email/mailer.ts';
import { invoiceMail } from '../../support/mail.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';

let server: MailServer;
let folder: string;
const closers: (() => void)[] = [];

beforeEach(async () => {
  server = await startMailServer();
  folder = await mkdtemp(join(tmpdir(), 'outbox-'));
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function mailer(options: Partial<MailerOptions> = {}) {
  const outbox = join(folder, 'outbox');
  const made = createMailer({ smtpUrl: server.url, from: 'f@example.net', testAllow: [], outbox, ...options });
  closers.push(() => made.close());
  return made;
}

const outbox = () => readdir(join(folder, 'outbox')).catch(() => []);
const live = { ...invoiceMail().invoice, environment: 'live' as const };

it('sends live invoices over SMTP', async () => {
  await mailer().send(invoiceMail({ invoice: live }));
  expect(server.mails).toMatchObject([{ from: 'f@example.net', to: ['client@example.com'] }]);
  expect(await outbox()).toEqual([]);
});

it('writes test invoices to the outbox unless the receiver is allowed', async () => {
  await mailer().send(invoiceMail());
  expect(server.mails).toEqual([]);
  expect(await outbox()).toEqual([`${live.id}.eml`]);
  for (const [testAllow, to] of [
    ['client@example.com', 'Client@Example.com'],
    ['@example.com', 'anybody@example.com'],
  ] as const) {
    await mailer({ testAllow: [testAllow] }).send(invoiceMail({ to }));
  }
  await mailer({ testAllow: ['@example.com'] }).send(invoiceMail({ to: 'x@sub.example.com' }));
  expect(server.mails.map(({ to }) => to[0])).toEqual(['Client@example.com', 'anybody@example.com']);
});

it('without a server every mail goes to the outbox: one complete, private file per invoice, also when written again', async () => {
  const made = mailer({ smtpUrl: null, from: null });
  await Promise.all([made.send(invoiceMail({ invoice: live })), made.send(invoiceMail({ invoice: live }))]);
  await made.send(invoiceMail({ invoice: live }));
  expect(await outbox()).toEqual([`${live.id}.eml`]);
  const file = join(folder, 'outbox', `${live.id}.eml`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toMatch(/^From: [^:]*<no-reply@fatoura\.invalid>\r$/m);
});

it('reaches an internationalized domain by its ASCII form', async () => {
  await mailer().send(invoiceMail({ invoice: live, to: 'client@مثال.المغرب' }));
  expect(server.mails[0]?.to).toEqual(['client@xn--mgbh0fb.xn--mgbc0a9azcg']);
  expect(server.mails[0]?.message).toMatch(/^To: client@xn--mgbh0fb\.xn--mgbc0a9azcg\r$/m);
});

it('reaches a non-ASCII receiver over a server with SMTPUTF8, including non-ASCII headers', async () => {
  server.behaviour = { utf8: true };
  const seller = { ...live.seller, email: 'façades@exemple.ma' };
  const mail = { invoice: { ...live, specimen: false, seller } };
  await mailer().send(invoiceMail({ ...mail, to: 'compta.é@مثال.المغرب' }));
  const [taken] = server.mails;
  expect(taken?.parameters).toContain('SMTPUTF8');
  const text = (octets = '') => Buffer.from(octets, 'latin1').toString();
  expect(text(taken?.to[0])).toMatch(/^compta\.é@/);
  expect(text(taken?.message)).toMatch(/^To: compta\.é@مثال\.المغرب\r$/m);
  expect(text(taken?.message)).toMatch(/^Reply-To: [^:]*<façades@exemple\.ma>\r$/m);
  // For an ASCII receiver the mail has no non-ASCII header, so that any server accepts it.
  await mailer().send(invoiceMail(mail));
  expect(server.mails[1]).toMatchObject({ parameters: '', message: expect.not.stringContaining('Reply-To') });
  expect(server.mails[1]?.message).toMatch(/^[\0-\x7f]*$/);
});

it('refuses an invalid address permanently, and sends nothing', async () => {
  for (const to of ['nobody', 'a@b.ma, c@d.ma', 'a@b.ma\r\nBcc: c@d.ma', '<a@b.ma>']) {
    await expect(mailer().send(invoiceMail({ invoice: live, to }))).rejects.toMatchObject({ permanent: true });
  }
  expect(server.mails).toEqual([]);
});

it('a failure to write to the outbox is not permanent', async () => {
  await writeFile(join(folder, 'file'), '');
  const made = mailer({ smtpUrl: null, outbox: join(folder, 'file', 'outbox') });
  await expect(made.send(invoiceMail())).rejects.toMatchObject({ name: 'MailNotSent', permanent: false });
});
