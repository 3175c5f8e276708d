import { expect, it } from 'vitest';
import { composeConditions } from '../../../src/adapters/email/conditions-notice.ts';
import { ofState, ofSubjects } from '../../../src/domain/conditions/condition.ts';
import { CONDITIONS } from '../../../src/domain/conditions/condition-table.ts';
import { parts, split } from './mime.ts';

const AT = new Date('2026-11-30T08:00:00Z');

it('the mail to owners has each condition with its advice in three languages, and no line of a client’s', async () => {
  const conditions = [
    ...ofSubjects('invoices_rejected', [{ id: 'inv_1', name: '2026-000001', since: AT }]),
    ...ofSubjects('endpoints_failing', [{ id: 'we_1', name: 'a.example.com\r\nBcc: x@example.com', since: null }]),
    ...ofState('authority_paused', true, null),
  ];
  const notice = {
    to: 'a@example.com',
    tenantId: 'ten_1',
    tenantName: 'Atlas\r\nBcc: y@example.com',
    conditions,
    at: AT,
  };
  const message = (await composeConditions(notice, 'from@example.com', 'a@example.com')).toString('latin1');
  const { headers } = split(message);
  expect(headers).toMatchObject({ to: 'a@example.com', 'auto-submitted': 'auto-generated' });
  expect(headers).not.toHaveProperty('bcc');
  const text = parts(message)[0]?.body.toString('utf8') ?? '';
  for (const { code } of conditions)
    for (const language of ['fr', 'ar', 'en'] as const)
      for (const shown of [CONDITIONS[code].says, CONDITIONS[code].advice]) expect(text).toContain(shown[language]);
  expect(text).toContain('2026-000001');
  expect(text).not.toMatch(/^Bcc:/m);
});
