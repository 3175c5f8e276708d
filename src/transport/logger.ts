import { type DestinationStream, type Logger, pino } from 'pino';
import { currentRequestId } from './middleware/request.ts';

/** pino's number of its level `error`. */
const ERROR_LEVEL = 50;

/**
 * The service's log: JSON lines, each with the id of the request that it belongs to. Below the level of errors an error is what the service
 * reckons with (a refusal, a lost reply, a store that is away): its message and code are written, no stack. Defects keep theirs at any level.
 * @param level of pino @param destination stdout unless given
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const mixin = () => {
    const requestId = currentRequestId();
    return requestId === undefined ? {} : { requestId };
  };
  return pino(
    {
      level,
      mixin,
      // pino's own takes whatever has a message for an error, and looks for its stack.
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
    destination ?? pino.destination(1),
  );
}

/** What the service reckons with has a class or a code of its own; Node's classes without a code are what its mistakes throw. */
function isDefect(error: Error & { code?: unknown }): boolean {
  return Object.hasOwn(globalThis, error.name) && error.code === undefined;
}

interface Brief {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  /** Of a defect that an expected failure was caused by. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
