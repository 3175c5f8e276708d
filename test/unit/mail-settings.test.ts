import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';

it('mails go to the outbox unless there is a server, which needs a sender', () => {
  expect(readConfig({}).mail).toEqual({ smtpUrl: null, from: null, testAllow: [] });
  const settings = { SMTP_URL: 'smtps://u:p@mail.example.net', MAIL_FROM: ' factures@مثال.المغرب ' };
  expect(readConfig(settings).mail).toMatchObject({
    smtpUrl: 'smtps://u:p@mail.example.net',
    from: 'factures@xn--mgbh0fb.xn--mgbc0a9azcg',
  });
  expect(() => readConfig({ SMTP_URL: 'smtp://mail.example.net' })).toThrow('MAIL_FROM is required');
});

it('test mails are allowed to addresses and to domains', () => {
  expect(readConfig({ TEST_MAIL_ALLOW: 'QA@Example.com, @atlas.ma' }).mail.testAllow).toEqual([
    'qa@example.com',
    '@atlas.ma',
  ]);
});

it.each([
  { SMTP_URL: 'http://mail.example.net', MAIL_FROM: 'a@b.ma' },
  { SMTP_URL: 'mail.example.net', MAIL_FROM: 'a@b.ma' },
  { MAIL_FROM: 'Atlas <a@b.ma>' },
  { MAIL_FROM: 'a@b.ma\r\nBcc: c@d.ma' },
  { TEST_MAIL_ALLOW: 'everybody' },
  { TEST_MAIL_ALLOW: '@' },
])('%j is refused', (settings) => {
  expect(() => readConfig(settings)).toThrow(ConfigError);
});
