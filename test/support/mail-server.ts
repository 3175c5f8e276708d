import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A mail that the server has accepted. */
export interface TakenMail {
  readonly from: string;
  /** Addresses in latin1, one character per octet, like the message. */
  readonly to: readonly string[];
  /** Parameters of MAIL FROM: `BODY=8BITMIME` and others. */
  readonly parameters: string;
  /** The mail with CRLF line ends, without SMTP's dot stuffing. */
  readonly message: string;
}

/** The server's reply at each step; `drop` closes the connection, `hang` never replies. Default: it accepts. */
export interface MailServerBehaviour {
  greeting?: string;
  auth?: string;
  mailFrom?: string;
  rcptTo?: string;
  data?: string;
  /** Reply after the end of the mail. The mail counts as accepted unless this is 4yz or 5yz. */
  end?: string;
  /** Delay before the reply to the end of the mail, in milliseconds; the mail is accepted anyway. */
  delayMs?: number;
  /** Whether the server offers SMTPUTF8. Without it, it accepts non-ASCII addresses too, unlike a correct server. */
  utf8?: boolean;
}

export interface MailServer {
  readonly url: string;
  readonly mails: TakenMail[];
  /** Number of connections so far. */
  readonly connections: number;
  /** The reply at each step, which tests may change at any time. */
  behaviour: MailServerBehaviour;
  close(): Promise<void>;
}

/** A mail server for tests (RFC 5321) on a loopback port, with configurable behaviour. */
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
