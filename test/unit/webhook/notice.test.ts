import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMailer } from '../../../src/adapters/email/mailer.ts';

it('the mail about a failing endpoint states which one, since when and what to do; without a server it goes to the outbox', async () => {
  const outbox = await mkdtemp(join(tmpdir(), 'notices-'));
  try {
    const mailer = createMailer({ smtpUrl: null, from: null, testAllow: [], outbox });
    await mailer.endpointFails({
      to: 'compta@example.com',
      tenantName: 'Atlas',
      environment: 'test',
      endpointId: 'we_1',
      url: 'https://example.com/hook\r\nBcc: everybody@example.com',
      failingSince: new Date('2026-11-20T10:00:00Z'),
      ...COUNTED,
    });
    const [file = ''] = await readdir(outbox);
    const mail = (await readFile(join(outbox, file), 'utf8')).replaceAll('=\r\n', '');
    expect(mail).toMatch(/^To: compta@example\.com\r$/m);
    expect(mail).toMatch(/^X-Webhook-Endpoint-Id: we_1\r$/im);
    expect(mail).toContain('depuis le 20 novembre 2026 =C3=A0 10:00:00 (UTC+0).');
    expect(mail).toContain('since 20 November 2026 at 10:00:00 (UTC+0).');
    expect(mail).toContain('9 of 10 attempts');
    expect(mail).toContain('9 envois sur 10');
    expect(mail).not.toMatch(/^Bcc:/m);
    await expect(mailer.endpointFails({ ...NOTICE, to: 'nobody' })).rejects.toThrow('nobody');
  } finally {
    await rm(outbox, { recursive: true, force: true });
  }
});

const COUNTED = { failed: 9, attempts: 10, share: 90, at: new Date('2026-11-21T10:00:00Z') } as const;
const NOTICE = {
  ...COUNTED,
  tenantName: 'Atlas',
  environment: 'live',
  endpointId: 'we_1',
  url: 'https://example.com/',
  failingSince: new Date(),
} as const;
