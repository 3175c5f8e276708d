import { connect } from 'node:net';
import { readInstanceFile } from './store/instance-file.ts';

/**
 * Returns the `mongodb://` URI of the engine that uses `dataDir` now, in any process; null if there is none. The
 * address in `engine.json` counts only if it accepts a connection, because a killed engine leaves the file behind, and
 * only if the file was written for this folder ({@link readInstanceFile}).
 */
export async function runningEngine(dataDir: string): Promise<string | null> {
  const uri = readInstanceFile(dataDir)?.uri;
  return uri !== undefined && (await takesConnections(uri)) ? uri : null;
}

function takesConnections(uri: string): Promise<boolean> {
  const host = decodeURIComponent(/^mongodb:\/\/([^/?]+)/.exec(uri)?.[1] ?? '');
  const [, name, port] = /^([^/]+):(\d+)$/.exec(host) ?? [];
  return new Promise((resolve) => {
    const socket = connect(name === undefined ? { path: host } : { host: name, port: Number(port) });
    const answer = (takes: boolean) => {
      socket.destroy();
      resolve(takes);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}
