import { connect } from 'node:net';
import { readNote } from './store/note.ts';

/**
 * The `mongodb://` URI of the engine that serves `dataDir` at this moment, in whatever process, or null when none does: the note of an
 * engine that was killed is not believed, its address has to take a connection.
 */
export async function runningEngine(dataDir: string): Promise<string | null> {
  const uri = readNote(dataDir)?.uri;
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
