import { afterEach, describe, expect, it } from 'vitest';
import { createSmtp, type Smtp, type SmtpTimes } from '../../../src/adapters/email/smtp.ts';
import { type MailServer, type MailServerBehaviour, startMailServer } from '../../support/mail-server.ts';
import { holdSilentPort } from '../../support/silent-port.ts';

/** Limits that only a hanging server exceeds, and short ones for tests with such a server. */
const TIMES = { connect: 50_000, silence: 50_000, total: 50_000 };
const SHORT = { connect: 400, silence: 400, total: 50_000 };
const MESSAGE = Buffer.from('Subject: x\r\n\r\n.a line with a dot\r\n');
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(behaviour: MailServerBehaviour, times = TIMES): Promise<{ server: MailServer; smtp: Smtp }> {
  const server = await startMailServer(behaviour);
  closers.push(() => server.close());
  return { server, smtp: connectTo(server.url, times) };
}

function connectTo(url: string, times = TIMES): Smtp {
  const smtp = createSmtp(url, times);
  closers.push(() => smtp.close());
  return smtp;
}

const send = (smtp: Smtp) => smtp.send('from@example.net', 'to@example.com', MESSAGE);

it('sends a mail unchanged, and keeps the connection for the next one', async () => {
  const { server, smtp } = await start({});
  await send(smtp);
  await send(smtp);
  expect(server.mails).toEqual([
    { from: 'from@example.net', to: ['to@example.com'], parameters: '', message: MESSAGE.toString() },
    { from: 'from@example.net', to: ['to@example.com'], parameters: '', message: MESSAGE.toString() },
  ]);
  expect(server.connections).toBe(1);
});

describe('a non-ASCII address', () => {
  const [ours, theirs] = ['from@example.net', 'é@exemple.ma'];
  const message = Buffer.from(`To: ${theirs}\r\nSubject: x\r\n\r\nx\r\n`);

  it('is sent with the SMTPUTF8 parameter to a server that offers it', async () => {
    const { server, smtp } = await start({ utf8: true });
    await smtp.send(ours, theirs, message);
    const [{ to, parameters, message: taken } = { to: [], parameters: '', message: '' }] = server.mails;
    expect(to.map((each) => Buffer.from(each, 'latin1').toString())).toEqual([theirs]);
    expect(parameters.split(' ').sort()).toEqual(['BODY=8BITMIME', 'SMTPUTF8']);
    expect(Buffer.from(taken, 'latin1')).toEqual(message);
    await send(smtp);
    expect(server.mails[1]?.parameters).toBe('');
  });

  it('is refused permanently when the server does not offer it, and nothing is sent', async () => {
    const { server, smtp } = await start({});
    await expect(smtp.send(ours, theirs, message)).rejects.toMatchObject({
      name: 'MailNotSent',
      permanent: true,
      message: `the mail server does not accept non-ASCII addresses such as ${theirs} (it does not offer SMTPUTF8)`,
    });
    expect(server.mails).toEqual([]);
    await smtp.send(ours, 'x@xn--mgbh0fb.xn--mgbc0a9azcg', MESSAGE);
    expect(server.mails).toHaveLength(1);
  });

  it.each([
    ['refuses connections', { greeting: '554 go away' }],
    ['hangs up', { greeting: 'drop' }],
  ])('is retried when the server %s', async (_what, behaviour) => {
    const { smtp } = await start(behaviour);
    await expect(smtp.send(ours, theirs, message)).rejects.toMatchObject({ name: 'MailNotSent', permanent: false });
  });
});

describe('a refusal', () => {
  const cases: [string, MailServerBehaviour, boolean][] = [
    ['of the receiver', { rcptTo: '550 5.1.1 no such user' }, true],
    ['of the content', { end: '554 5.6.0 looks like spam' }, true],
    ['of the content, before it is sent', { data: '554 no' }, true],
    ['of the size', { mailFrom: '552 5.3.4 too big' }, true],
    ['of the sender, which the operator can fix', { mailFrom: '550 5.7.1 who are you' }, false],
    ['of all connections', { greeting: '554 go away' }, false],
    ['temporary, of the receiver', { rcptTo: '450 4.2.1 greylisted' }, false],
    ['temporary, of the content', { end: '451 4.3.0 later' }, false],
    ['temporary, of the service', { mailFrom: '421 4.3.2 shutting down' }, false],
  ];
  it.each(cases)('%s', async (_what, behaviour, permanent) => {
    const { server, smtp } = await start(behaviour);
    const answer = Object.values(behaviour)[0]!;
    await expect(send(smtp)).rejects.toMatchObject({
      name: 'MailNotSent',
      permanent,
      message: expect.stringContaining(answer),
    });
    expect(server.mails).toEqual([]);
    server.behaviour = {};
    await send(smtp);
    expect(server.mails).toHaveLength(1);
  });

  it('of the log-in is for the operator to fix, and does not show the password', async () => {
    const server = await startMailServer({ auth: '535 5.7.8 wrong' });
    closers.push(() => server.close());
    const smtp = connectTo(server.url.replace('smtp://', 'smtp://user:hunter2@'));
    const error = await send(smtp).catch((error: unknown) => error);
    expect(error).toMatchObject({ permanent: false, message: expect.stringContaining('535') });
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
    await expect(smtp.verify()).rejects.toThrow('535');
  });
});

describe('a failing server', () => {
  it.each([
    ['that never greets', { greeting: 'hang' }, SHORT],
    ['that stops answering', { mailFrom: 'hang' }, SHORT],
    ['that stops answering after the mail', { end: 'hang' }, SHORT],
    ['that drops the connection', { rcptTo: 'drop' }, TIMES],
    ['that drops the connection after the mail', { end: 'drop' }, TIMES],
  ] as [string, MailServerBehaviour, SmtpTimes][])(
    '%s: the mail counts as not sent',
    async (_what, behaviour, times) => {
      const { server, smtp } = await start(behaviour, times);
      await expect(send(smtp)).rejects.toMatchObject({ name: 'MailNotSent', permanent: false });
      // The library must not send it again by itself: the server may have accepted it.
      expect(server.mails.length).toBeLessThanOrEqual(1);
    },
  );

  it('that answers in an endless trickle is given up', async () => {
    const { smtp } = await start({ greeting: 'hang' }, { connect: 60_000, silence: 60_000, total: 300 });
    await expect(send(smtp)).rejects.toMatchObject({ name: 'MailNotSent', permanent: false });
  });

  it('that does not listen', async () => {
    const silent = await holdSilentPort();
    closers.push(() => silent.release());
    const smtp = connectTo(`smtp://127.0.0.1:${silent.port}`);
    await expect(send(smtp)).rejects.toMatchObject({
      permanent: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await expect(smtp.verify()).rejects.toThrow('ECONNREFUSED');
  });
});

it('closing aborts mails in progress and leaves no connection', async () => {
  const { server, smtp } = await start({ end: 'hang' });
  const sending = send(smtp);
  sending.catch(() => undefined);
  await expect.poll(() => server.mails).toHaveLength(1);
  smtp.close();
  await expect(sending).rejects.toMatchObject({ name: 'MailInterrupted' });
  await expect(send(smtp)).rejects.toMatchObject({ name: 'MailInterrupted' });
});

it('sends no password in clear text over a network', async () => {
  const { server } = await start({});
  // The same machine, by an address that is not recognized as loopback.
  const smtp = connectTo(server.url.replace('smtp://127.0.0.1', 'smtp://user:hunter2@0.0.0.0'));
  await expect(send(smtp)).rejects.toMatchObject({ permanent: false, message: expect.stringContaining('STARTTLS') });
  expect(server.mails).toEqual([]);
});
