/**
 * Returns a `fetch` whose answer fails after `silenceMs` milliseconds without a byte, including its headers. An idle
 * NAT or a sleeping machine can drop a connection without notifying either side, so only missing heartbeats of the
 * server show it. Time in which the reader is busy with data does not count.
 */
export function watchedFetch(silenceMs: number, send: typeof fetch = fetch): typeof fetch {
  return async (input, init = {}) => {
    const control = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, control.signal]) : control.signal;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => clearTimeout(timer);
    const listen = () => {
      stop();
      timer = setTimeout(() => control.abort(new Error('the connection is silent')), silenceMs);
    };
    signal.addEventListener('abort', stop, { once: true });
    listen();
    const response = await send(input, { ...init, signal }).finally(stop);
    const reader = response.body?.getReader();
    if (!reader) return response;
    const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start(controller) {
          signal.addEventListener('abort', () => {
            controller.error(signal.reason);
            void reader.cancel(signal.reason).catch(() => undefined);
          });
        },
        async pull(controller) {
          listen();
          const { done, value } = await reader.read().finally(stop);
          if (signal.aborted) return;
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel(reason) {
          stop();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    const { status, statusText, headers } = response;
    return new Response(bytes, { status, statusText, headers });
  };
}
