import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A mail as the server took it. */
export interface TakenMail {
  readonly from: string;
  /** Octets, each as a character, like the message. */
  readonly to: readonly string[];
  /** What followed the sender: `BODY=8BITMIME` and such. */
  readonly parameters: string;
  /** With CRLF line ends and without the dots that SMTP adds. */
  readonly message: string;
}

/** What the server answers at a step; `drop` cuts the connection, `hang` says nothing at all. Absent: it accepts. */
export interface MailServerBehaviour {
  greeting?: string;
  auth?: string;
  mailFrom?: string;
  rcptTo?: string;
  data?: string;
  /** After the mail's end. The mail counts as taken unless this is a 4yz or 5yz. */
  end?: string;
  /** Before the answer to the mail's end, milliseconds; the mail is taken all the same. */
  delayMs?: number;
  /** Offers SMTPUTF8; otherwise addresses beyond ASCII are taken all the same, as no server should. */
  utf8?: boolean;
}

export interface MailServer {
  readonly url: string;
  readonly mails: TakenMail[];
  /** How many connections there have been. */
  readonly connections: number;
  /** May be changed at any time. */
  behaviour: MailServerBehaviour;
  close(): Promise<void>;
}

/** A mail server (RFC 5321) on a loopback port, for tests: it takes what it is told to take. */
export async function startMailServer(behaviour: MailServerBehaviour = {}): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    result.connections++;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    converse(socket, result);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const result = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails: [] as TakenMail[],
    connections: 0,
    behaviour,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return result;
}

function converse(socket: Socket, server: Omit<MailServer, 'connections'>): void {
  let received = '';
  let from = '';
  let parameters = '';
  let to: string[] = [];
  let inData = false;
  const say = (line: string) => {
    if (line === 'drop') socket.destroy();
    else if (line !== 'hang') socket.write(`${line}\r\n`);
  };

  function command(line: string): void {
    const { behaviour } = server;
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') say(`250-test\r\n250-AUTH PLAIN\r\n${behaviour.utf8 ? '250-SMTPUTF8\r\n' : ''}250 8BITMIME`);
    else if (verb === 'STAR') say('502 no TLS here');
    else if (verb === 'AUTH') say(behaviour.auth ?? '235 welcome');
    else if (verb === 'MAIL') {
      from = addressIn(line);
      parameters = line.slice(line.indexOf('>') + 1).trim();
      to = [];
      say(behaviour.mailFrom ?? '250 ok');
    } else if (verb === 'RCPT') {
      to.push(addressIn(line));
      say(behaviour.rcptTo ?? '250 ok');
    } else if (verb === 'DATA') {
      inData = (behaviour.data ?? '354').startsWith('354');
      say(behaviour.data ?? '354 go on');
    } else say(verb === 'QUIT' ? '221 bye' : '250 ok');
  }

  function mail(message: string): void {
    const answer = server.behaviour.end ?? '250 taken';
    if (!/^[45]/.test(answer)) server.mails.push({ from, to, parameters, message: message.replaceAll(/^\./gm, '') });
    setTimeout(say, server.behaviour.delayMs ?? 0, answer);
  }

  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const end = received.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const text = received.slice(0, end);
      received = received.slice(end + (inData ? 5 : 2));
      if (inData) {
        inData = false;
        mail(`${text}\r\n`);
      } else command(text);
    }
  });
  say(server.behaviour.greeting ?? '220 test');
}

function addressIn(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? '';
}
