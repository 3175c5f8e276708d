import { once } from 'node:events';
import { createServer } from 'node:net';

/** A range below the ports that systems assign to outgoing connections and to servers that listen on port 0. */
const [FIRST, LAST] = [20_000, 30_000];

/** Returns different ports of 127.0.0.1 on which nothing listens now, and that the system does not assign. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** Returns one of {@link freePorts}. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
