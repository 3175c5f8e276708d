import { renameSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Resolve } from '../../../src/adapters/authority/http/shared-resolver.ts';
import type { SubmitAnswer } from '../../../src/domain/authority/ports.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';
import { type OpenHttpAuthority, type OpenOptions, openHttpAuthority } from '../../support/http-authority.ts';
import {
  type ScriptedAuthority,
  sha256,
  shownSubmission,
  startScriptedAuthority,
} from '../../support/scripted-authority.ts';

const document = Buffer.from('<Invoice/>');
const submission = { submissionId: 'inv_1', customerIce: '001234567000062', sha256: sha256(document), document };
const SHOWN = JSON.stringify(shownSubmission('inv_1', document));

let ca: CertificateAuthority;
let strangers: CertificateAuthority;
let clients: CertificateAuthority;
let server: ScriptedAuthority;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  [ca, strangers, clients] = (await Promise.all(
    ['Authority of connections', 'Strangers', 'Clients'].map(createCertificateAuthority),
  )) as [CertificateAuthority, CertificateAuthority, CertificateAuthority];
});
beforeEach(async () => {
  server = await startScriptedAuthority(ca);
  server.script = () => ({ text: SHOWN });
  opened.push(server);
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function open(options?: OpenOptions, to: { url: string } = server, trusted = ca): Promise<OpenHttpAuthority> {
  const one = await openHttpAuthority(to, trusted, options);
  opened.push(one);
  return one;
}

const SHORT = { connectTimeoutMs: 40_000, answerTimeoutMs: 300 };

describe('nothing was sent: not held', () => {
  const unreachable = { kind: 'not_held', reason: 'unreachable', retryAfterMs: null };

  it('the connection is refused', async () => {
    const { authority } = await open();
    await server.close();
    opened.splice(opened.indexOf(server), 1);
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the connection is refused after an earlier submission', async () => {
    const { authority } = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    await server.close();
    opened.splice(opened.indexOf(server), 1);
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the name does not resolve', async () => {
    const { authority } = await open({}, { url: 'https://authority.invalid' });
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the name server never answers, which gets one query at a time, however many calls wait', async () => {
    const queries: string[] = [];
    const resolve: Resolve = (host) => void queries.push(host);
    const parts = { connection: { connectTimeoutMs: 50, resolve } };
    const { authority } = await open({ parts }, { url: 'https://authority.invalid' });
    for (let i = 0; i < 3; i++) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => authority.submit(submission)));
      expect(answers[0]).toMatchObject(unreachable);
    }
    // Also after the time-outs: the first query still occupies its thread.
    expect(queries).toEqual(['authority.invalid']);
  });

  it('TLS is never begun by the other side', async () => {
    const sockets: Socket[] = [];
    const tcp = createTcpServer((socket) => void sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    opened.push({
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => tcp.close(resolve));
      },
    });
    const { port } = tcp.address() as { port: number };
    const parts = { connection: { connectTimeoutMs: 300 } };
    const { authority } = await open({ parts }, { url: `https://127.0.0.1:${port}` });
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the certificate was issued by a stranger', async () => {
    const { authority } = await open({}, server, strangers);
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the certificate is for another host', async () => {
    const { authority } = await open({}, { url: server.url.replace('localhost', '127.0.0.1') });
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });

  it('the certificate has expired', async () => {
    server.use(await ca.issue('localhost', true));
    const { authority } = await open();
    expect(await authority.submit(submission)).toMatchObject(unreachable);
  });
});

describe('something was sent: the outcome is unknown', () => {
  const faults: [string, (response: ServerResponse, socket: Socket) => void][] = [
    ['closed without an answer', (_response, socket) => socket.end()],
    ['reset without an answer', () => server.reset()],
    ['silent', () => undefined],
    ['closed in the status line', (_response, socket) => socket.end('HTTP/1.1 2')],
    ['not HTTP', (_response, socket) => socket.end('+OK ready\r\n')],
    [
      'closed in the body',
      (response, socket) => {
        response.writeHead(200, { 'authority-protocol': '1', 'content-length': SHOWN.length });
        response.write(SHOWN.slice(0, 40), () => socket.end());
      },
    ],
    [
      'reset after the whole body, without its end',
      (response, socket) => {
        response.writeHead(200, { 'authority-protocol': '1' });
        response.write(SHOWN, () => socket.destroy());
      },
    ],
    [
      'silent in the body',
      (response) => {
        response.writeHead(200, { 'authority-protocol': '1', 'content-length': SHOWN.length });
        response.write(SHOWN.slice(0, 40));
      },
    ],
    [
      'a trickle without end',
      (response, socket) => {
        response.writeHead(200, { 'authority-protocol': '1' });
        const timer = setInterval(() => response.write(' '), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
    [
      'only provisional answers',
      (response, socket) => {
        const timer = setInterval(() => response.writeProcessing(), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ];
  it.each(faults)('%s', async (_name, act) => {
    const { authority } = await open({ parts: { connection: SHORT } });
    // The short limit holds for the capabilities too.
    while ((await authority.probe()) !== null);
    server.script = () => ({ act });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'unknown', retryAfterMs: null });
    await expect.poll(() => server.received.length).toBe(1);
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'unknown' });
  });

  it('an idle connection that the server closes when the next request arrives: sent once', async () => {
    const { authority } = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    const connections = server.connections();
    server.script = () => ({ act: (_response, socket) => socket.destroy() });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'unknown' });
    expect(server.received).toHaveLength(2);
    expect(server.connections()).toBe(connections);
  });

  it('an idle connection that the server has closed is replaced', async () => {
    const { authority } = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    server.cut();
    // The end of the connection arrives in the same turn of the loop or a later one; either way nothing is sent twice.
    const answer: SubmitAnswer = await authority.submit(submission);
    expect(['held', 'unknown']).toContain(answer.kind);
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.received.length).toBeLessThanOrEqual(3);
  });
});

it('a request that waits when the service stops is not sent', async () => {
  const one = await openHttpAuthority(server, ca);
  expect(await one.authority.submit(submission)).toMatchObject({ kind: 'held' });
  await one.close();
  expect(await one.authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'unreachable' });
  expect(server.received).toHaveLength(1);
});

it('closing ends a request that hangs on a connection of earlier certificates', async () => {
  const one = await openHttpAuthority(server, ca);
  expect(await one.authority.submit(submission)).toMatchObject({ kind: 'held' });
  let arrived = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  server.script = () => ({ act: () => arrived() });
  const hanging = one.authority.submit(submission);
  await waiting;
  writeFileSync(one.files.ca, `${ca.certificate}\n`);
  server.script = () => ({ text: SHOWN });
  expect(await one.authority.submit(submission)).toMatchObject({ kind: 'held' });
  expect(server.connections()).toBe(2);
  await one.close();
  expect(await hanging).toMatchObject({ kind: 'unknown' });
});

it('names its program and what it accepts, without which firewalls answer 403', async () => {
  const { authority } = await open();
  const seen: unknown[] = [];
  server.script = ({ headers }) => {
    seen.push([headers['user-agent'], headers.accept]);
    return { text: SHOWN };
  };
  await authority.submit(submission);
  expect(seen).toEqual([['Fatoura/1', 'application/json']]);
});

it('headers of 40 KB do not make an answer a lost one', async () => {
  const { authority } = await open();
  server.script = () => ({ text: SHOWN, headers: { 'set-cookie': `a=${'x'.repeat(40_000)}` } });
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
});

it('connections are kept alive', async () => {
  const { authority } = await open();
  for (let each = 0; each < 5; each++) expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  expect(server.connections()).toBe(1);
});

describe('mutual TLS', () => {
  async function identity(name: string, of = clients): Promise<string> {
    const { key, cert } = await of.issue(name, false, 'client');
    return `${key}${cert}`;
  }

  beforeEach(async () => {
    server = await startScriptedAuthority(ca, { clients });
    server.script = () => ({ text: SHOWN });
    opened.push(server);
  });

  it('shows the certificate of DGI_CLIENT_P12', async () => {
    const { authority } = await open({ client: await identity('fatoura') });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.received[0]?.client).toBe('fatoura');
  });

  it.each(['none', "a stranger's"])('with %s certificate nothing is submitted', async (which) => {
    const { authority } = await open(which === 'none' ? {} : { client: await identity('fatoura', strangers) });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held' });
    expect(await authority.probe()).not.toBeNull();
    expect(server.received).toHaveLength(0);
  });

  it('takes a rotated certificate without a restart, and keeps the old one while a file is half-written', async () => {
    const { authority, files, log } = await open({ client: await identity('first') });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    const second = await identity('second');
    writeFileSync(files.client, second.slice(0, second.length / 2));
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(log.filter(({ message }) => message.includes('the old one stays'))).toHaveLength(1);
    writeFileSync(files.client, second);
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.received.map(({ client }) => client)).toEqual(['first', 'first', 'first', 'second']);
  });
});

it('a rotated DGI_CA is taken without a restart; a half-written one changes nothing', async () => {
  const { authority, files } = await open();
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  const both = ca.certificate + strangers.certificate;
  writeFileSync(files.ca, both.slice(0, both.length - 100));
  server.use(await strangers.issue('localhost'));
  server.cut();
  expect(await until(() => authority.submit(submission))).toMatchObject({ kind: 'not_held', reason: 'unreachable' });
  writeFileSync(`${files.ca}.new`, both);
  renameSync(`${files.ca}.new`, files.ca);
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
});

/** The first answer that is not unknown: a connection that was just cut may take one request with it. */
async function until(submit: () => Promise<SubmitAnswer>): Promise<SubmitAnswer> {
  const answer = await submit();
  return answer.kind === 'unknown' ? submit() : answer;
}
