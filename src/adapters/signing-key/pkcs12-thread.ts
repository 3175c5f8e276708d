import { parentPort, workerData } from 'node:worker_threads';
import { openPkcs12, type Pkcs12Contents, Pkcs12Fault } from './pkcs12-contents.ts';

/** What the thread of `loadPkcs12` is given. */
export interface Pkcs12Task {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly passphrase: string;
}

/** Its answer. An error would lose its class between threads. */
export type Pkcs12Answer = Pkcs12Contents | { readonly fault: string };

function answer({ file, passphrase }: Pkcs12Task): Pkcs12Answer {
  try {
    return openPkcs12(file, passphrase);
  } catch (error) {
    // What its parser says of a file that is damaged tells operators nothing.
    return { fault: error instanceof Pkcs12Fault ? error.message : 'It is damaged.' };
  }
}

parentPort?.postMessage(answer(workerData as Pkcs12Task));
