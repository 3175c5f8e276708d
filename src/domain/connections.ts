/**
 * Maximum number of connections of a process, unless MAX_CONNECTIONS says otherwise. It bounds the memory for clients
 * that only connect, some 10 KB each; a process is measured with 19,500 open streams.
 */
const USUAL_CONNECTIONS = 32_768;
/**
 * Without a proxy, an address has at most the connections of the process divided by this, unless
 * MAX_CONNECTIONS_PER_ADDRESS says otherwise.
 */
const SHARES = 4;
/** Number of open files that suffices for the connections of an ordinary load. */
const ENOUGH_FILES = 8192;

/**
 * Returns the number of files, sockets included, that clients never get: threads, browsers, the store and deliveries
 * need them.
 */
export function reservedFiles(openFiles: number): number {
  return Math.min(Math.floor(openFiles / 2), Math.max(256, Math.min(1024, Math.floor(openFiles / 100))));
}

/** Maximum numbers of connections that a process accepts. */
export interface MostConnections {
  readonly total: number;
  /** Of one address; null: no limit, because the proxies in front hold the connections of all clients. */
  readonly perAddress: number | null;
}

/** The settings, null where they are not set. */
export interface ConnectionSettings {
  readonly total: number | null;
  readonly perAddress: number | null;
}

/** @param openFiles how many files the system lets this process open; null: it is not known, or there is no limit */
export function mostConnections(
  openFiles: number | null,
  set: ConnectionSettings,
  behindProxy: boolean,
): MostConnections {
  const wanted = set.total ?? USUAL_CONNECTIONS;
  const total = openFiles === null ? wanted : Math.max(1, Math.min(wanted, openFiles - reservedFiles(openFiles)));
  return { total, perAddress: behindProxy ? null : (set.perAddress ?? Math.ceil(total / SHARES)) };
}

/** Whether the limit of open files is lower than an ordinary load, or the setting, needs. */
export function isLowLimit(openFiles: number, { total }: ConnectionSettings): boolean {
  return openFiles < ENOUGH_FILES || (total !== null && openFiles - reservedFiles(openFiles) < total);
}
