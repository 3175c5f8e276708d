import { parentPort, workerData } from 'node:worker_threads';
import { openPkcs12, type Pkcs12Contents, Pkcs12Fault } from './pkcs12-contents.ts';

/** The task of the thread of `loadPkcs12`. */
export interface Pkcs12Task {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly passphrase: string;
}

/** The result of the thread. A fault is returned, not thrown, because an error loses its class between threads. */
export type Pkcs12Answer = Pkcs12Contents | { readonly fault: string };

function answer({ file, passphrase }: Pkcs12Task): Pkcs12Answer {
  try {
    return openPkcs12(file, passphrase);
  } catch (error) {
    // The parser's message about a damaged file would not help operators.
    return { fault: error instanceof Pkcs12Fault ? error.message : 'It is damaged.' };
  }
}

parentPort?.postMessage(answer(workerData as Pkcs12Task));
