/**
 * Returns the address at which people on this machine reach a server that listens on `host`: `localhost` for all
 * addresses, and an IPv6 address in brackets.
 */
export function localAddress(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
