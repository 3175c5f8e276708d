/** The connection of a request. */
export interface Arrival {
  /** Whether it came over HTTPS, to this process or to a trusted proxy. */
  readonly encrypted: boolean;
  /** The client's address; that of the proxy if `forwarded`. */
  readonly address: string;
  /** Whether it came through a proxy that is not trusted to tell how the client reached it. */
  readonly forwarded: boolean;
  /** The requested host, with its port. */
  readonly host: string;
}

/** Whether others between the client and the service may have read the request. */
export function isExposed({ encrypted, forwarded, address }: Arrival): boolean {
  return !encrypted && (forwarded || !isLoopback(address));
}

/** Whether an address is one of this machine's own. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/i.test(address);
}
