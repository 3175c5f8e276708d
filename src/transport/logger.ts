import { type DestinationStream, type Logger, pino } from 'pino';
import { currentActivity } from '../domain/activity.ts';
import { isObject, readableLines } from './log-lines.ts';

/**
 * Names whose values are never logged, at the top level of an entry and in the objects directly in it. The service does
 * not log them, but errors of libraries may contain them.
 */
const SECRETS = [
  'authorization',
  'cookie',
  'password',
  'passphrase',
  'secret',
  'secretKey',
  'clientSecret',
  'client_secret',
  'token',
  'accessToken',
  'access_token',
  'apiKey',
  'masterKey',
  'previousMasterKey',
  'privateKey',
];

/** The number of pino's level `error`. */
const ERROR_LEVEL = 50;

/**
 * Creates the log of the service: JSON lines, or readable lines on a terminal. Each entry has the ids of its request,
 * tenant, invoice and trace as far as they are known. In entries below the level `error`, an expected error (a refusal,
 * a lost reply, an outage of the store) is logged with its message and code, without its stack. Defects are logged with
 * their stack at every level.
 * @param level a level of pino
 * @param destination default: standard output
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const mixin = () => {
    const { requestId, tenantId, invoiceId, traceId } = currentActivity() ?? {};
    return {
      ...(requestId !== undefined && { requestId }),
      ...(tenantId !== undefined && { tenantId }),
      ...(invoiceId !== undefined && { invoiceId }),
      ...(traceId !== undefined && { traceId }),
    };
  };
  return pino(
    {
      level,
      mixin,
      redact: {
        paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.headers.${name}`]),
        censor: '…',
      },
      // The default serializer treats every object with a message as an error.
      serializers: { err: (err: unknown) => (err instanceof Error ? pino.stdSerializers.err(err) : err) },
      hooks: {
        logMethod(args, method, lineLevel) {
          const [fields] = args as [unknown];
          if (lineLevel < ERROR_LEVEL && isObject(fields) && fields.err instanceof Error && !isDefect(fields.err))
            args[0] = { ...fields, err: brief(fields.err) } as never;
          method.apply(this, args);
        },
      },
    },
    destination ?? outputTo(process.stdout),
  );
}

/** Returns standard error, for the log of a command whose results go to standard output. */
export function errorOutput(): DestinationStream {
  return outputTo(process.stderr);
}

/** Creates a synchronous output, so that the last entries of an ending process are written. */
function outputTo(stream: NodeJS.WriteStream & { readonly fd: number }): DestinationStream {
  const output = pino.destination({ fd: stream.fd, sync: true });
  return stream.isTTY ? readableLines(output, stream.hasColors()) : output;
}

/**
 * Whether an error indicates a defect: a built-in error class without a code. Expected errors have their own class or a
 * code.
 */
function isDefect(error: Error & { code?: unknown }): boolean {
  return Object.hasOwn(globalThis, error.name) && error.code === undefined;
}

interface Brief {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  /** Present for a defect, which may also be the cause of an expected error. */
  readonly stack?: string | undefined;
  readonly cause?: Brief;
}

function brief(error: Error & { code?: unknown }): Brief {
  return {
    type: error.name,
    message: error.message,
    ...(error.code !== undefined && { code: error.code }),
    ...(isDefect(error) && { stack: error.stack }),
    ...(error.cause instanceof Error && { cause: brief(error.cause) }),
  };
}
