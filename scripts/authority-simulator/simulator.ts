import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { lockFile } from '../../src/app/file-lock.ts';
import { createAuthority } from './authority.ts';
import { createCallbacks } from './callbacks.ts';
import { createClock } from './clock.ts';
import { type Control, type ControlParts, createControl } from './control.ts';
import { commandsOf } from './control-commands.ts';
import { createControlServer } from './control-server.ts';
import { createCounters } from './counters.ts';
import { createCarelessExaminer, createExaminer } from './examiner.ts';
import { createFaults } from './faults.ts';
import { type Identity, openIdentity } from './identity.ts';
import { openLedger } from './ledger.ts';
import { type Configuration, type SimulatorOptions, withDefaults } from './options.ts';
import { TOKEN_PATH } from './routes.ts';
import { createAuthorityServer, tlsOf } from './server.ts';
import { createTokens } from './tokens.ts';

/** Settings with which the service uses the simulator, by their names in the environment. */
export type SimulatorSettings = Readonly<Record<SettingName, string>>;
type SettingName =
  | 'DGI_URL'
  | 'DGI_CA'
  | 'DGI_CLIENT_P12'
  | 'DGI_CLIENT_P12_PASSPHRASE'
  | 'DGI_TOKEN_URL'
  | 'DGI_CLIENT_ID'
  | 'DGI_CLIENT_KEY'
  | 'DGI_CALLBACK_SECRET'
  | 'SIGNING_P12'
  | 'SIGNING_P12_PASSPHRASE';

export interface Simulator {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** Of the control port. */
  readonly controlUrl: string;
  readonly settings: SimulatorSettings;
  readonly control: Control;
  /** Ends connections and finishes pending writes. A temporary data folder is removed. */
  close(): Promise<void>;
}

/**
 * Starts an authority on this machine, which speaks the protocol of the live adapter (docs/simulator.md).
 * @throws when a port is taken, or another simulator uses the data folder
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const config = withDefaults(options);
  const isTemporary = config.dataDir === null;
  const folder = resolve(config.dataDir ?? (await mkdtemp(join(tmpdir(), 'authority-simulator-'))));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unlock = lockFile(join(folder, 'simulator.lock'), 'exclusive', 0, `${folder} is in use by another simulator.`);
  try {
    const running = await start(config, folder);
    return {
      ...running,
      async close() {
        await running.close();
        unlock();
        if (isTemporary) await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function start(config: Configuration, folder: string): Promise<Simulator> {
  const clock = createClock(config.clock);
  const identity = await openIdentity(join(folder, 'identity'), config);
  const ledger = await openLedger(folder);
  const counters = createCounters();
  const faults = createFaults(config.seed, config.faults);
  const callbacks = createCallbacks({
    url: config.callbackUrl,
    secret: identity.secrets.callbackSecret,
    clock,
    counters,
    faults,
  });
  const examiner = config.verify === 'full' ? createExaminer() : createCarelessExaminer();
  const authority = createAuthority({
    config,
    clock,
    ledger,
    counters,
    identity,
    examiner,
    onDecided({ received: { id } }, { status, dgiId }) {
      if (config.profile === 'callback') callbacks.announce(id, status);
      config.onDecision({ id, status, dgiId });
    },
  });
  let url = '';
  const tokens = createTokens({
    clientId: identity.secrets.clientId,
    tokenUrl: () => `${url}${TOKEN_PATH}`,
    publicKey: () => identity.clientPublicKey,
    life: config.tokenLife,
    clock,
  });
  const server = createAuthorityServer({ config, clock, identity, tokens, faults, counters, ledger, authority });
  const shut = closerOf(server);
  const port = await listen(server, config.port, config.host);
  url = `https://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  const parts: ControlParts = {
    clock,
    ledger,
    faults,
    counters,
    authority,
    callbacks,
    revokeTokens: tokens.revoke,
    async rotate(what) {
      await identity.rotate(what);
      const isServer = what === 'server' || what === 'foreign-server';
      if (isServer) server.setSecureContext(tlsOf(identity));
      // The next connection of a client needs its new certificate.
      if (what === 'client' || isServer) server.closeAllConnections();
    },
    async setListening(listening) {
      if (listening === server.listening) return;
      if (listening) await listen(server, port, config.host);
      else await shut();
    },
  };
  const control = createControl(parts);
  const controlServer = createControlServer(commandsOf(control, parts), control);
  const shutControl = closerOf(controlServer);
  const controlPort = await listen(controlServer, config.controlPort, '127.0.0.1');
  return {
    url,
    controlUrl: `http://127.0.0.1:${controlPort}`,
    settings: settingsOf(url, identity),
    control,
    async close() {
      await Promise.all([shut(), shutControl(), callbacks.close()]);
      await authority.decisions.close();
      await examiner.close();
      await ledger.close();
    },
  };
}

function settingsOf(url: string, { files, secrets }: Identity): SimulatorSettings {
  return {
    DGI_URL: url,
    DGI_CA: files.ca,
    DGI_CLIENT_P12: files.clientP12,
    DGI_CLIENT_P12_PASSPHRASE: secrets.clientP12Passphrase,
    DGI_TOKEN_URL: `${url}${TOKEN_PATH}`,
    DGI_CLIENT_ID: secrets.clientId,
    DGI_CLIENT_KEY: files.clientKey,
    DGI_CALLBACK_SECRET: secrets.callbackSecret,
    SIGNING_P12: files.signingP12,
    SIGNING_P12_PASSPHRASE: secrets.signingP12Passphrase,
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      done();
    });
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Returns a function that ends a server with all of its connections. Connections whose TLS handshake is not over are
 * unknown to `closeAllConnections` and would keep the server open.
 */
function closerOf(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  // On top of the TCP connection a TLS server has a socket of its own, which learns of its end only later.
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  return async () => {
    if (!server.listening) return;
    const closed = new Promise((done) => server.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}
