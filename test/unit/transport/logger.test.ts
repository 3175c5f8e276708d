import { MongoNetworkError } from 'mongodb';
import { expect, it } from 'vitest';
import { MailInterrupted, MailNotSent } from '../../../src/domain/invoice/email.ts';
import { createLogger } from '../../../src/transport/logger.ts';

/** What is logged of an error. */
function logged(level: 'info' | 'warn' | 'error' | 'fatal', err: Error): Record<string, unknown> {
  let line = '';
  createLogger('info', {
    write(text) {
      line += text;
    },
  })[level]({ err, invoiceId: 'inv_1' }, 'said');
  const { err: shown, invoiceId, msg } = JSON.parse(line);
  expect([invoiceId, msg]).toEqual(['inv_1', 'said']);
  return shown;
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

it.each([
  ['a refused mail', new MailNotSent('550', false), { type: 'MailNotSent', message: '550' }],
  ['an interrupted mail', new MailInterrupted('stopping'), { type: 'MailInterrupted', message: 'stopping' }],
  ['the store is away', new MongoNetworkError('gone'), { type: 'MongoNetworkError', message: 'gone' }],
  ['a server is away', refused(), { type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }],
  [
    'a cause of these',
    new MailNotSent('503', false, refused()),
    {
      type: 'MailNotSent',
      message: '503',
      cause: { type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
    },
  ],
])('a warning of what the service reckons with has message and code, no stack: %s', (_, error, shown) => {
  expect(logged('warn', error)).toEqual(shown);
});

it('a defect keeps its stack, at any level, also as a cause', () => {
  const stack = expect.stringContaining('logger.test.ts');
  expect(logged('warn', new TypeError('x is undefined'))).toMatchObject({ stack });
  expect(logged('info', new Error('that can not be'))).toMatchObject({ stack });
  expect(logged('error', new MailNotSent('503', false))).toMatchObject({ stack });
  expect(logged('fatal', refused())).toMatchObject({ stack });
  expect(logged('warn', new MailNotSent('503', false, new TypeError('x')))).toMatchObject({ cause: { stack } });
});

it('a secret that an error or a field carries is not shown', () => {
  let line = '';
  const log = createLogger('info', {
    write(text) {
      line += text;
    },
  });
  const err = Object.assign(new Error('refused'), {
    token: 'hidden-1',
    headers: { authorization: 'hidden-2', accept: 'shown' },
    status: 401,
  });
  log.error({ err, request: { cookie: 'hidden-3' }, password: 'hidden-4', invoiceId: 'inv_1' }, 'said');
  expect(line).not.toContain('hidden');
  expect(JSON.parse(line)).toMatchObject({
    password: '…',
    invoiceId: 'inv_1',
    request: { cookie: '…' },
    err: { message: 'refused', token: '…', status: 401, headers: { authorization: '…', accept: 'shown' } },
  });
  expect(err.token).toBe('hidden-1');
});
