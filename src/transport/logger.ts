import { type DestinationStream, type Logger, pino } from 'pino';
import { currentRequestId } from './middleware/request.ts';

/** The service's log: JSON lines, each with the id of the request that it belongs to. @param level of pino @param destination stdout unless given */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const mixin = () => {
    const requestId = currentRequestId();
    return requestId === undefined ? {} : { requestId };
  };
  return pino({ level, mixin }, destination ?? pino.destination(1));
}
