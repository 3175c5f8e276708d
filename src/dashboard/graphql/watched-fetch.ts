/**
 * A `fetch` whose answer fails after `silenceMs` milliseconds without a byte, its headers included. An idle NAT or a
 * sleeping machine can end a connection without telling either side: only the absence of the server's heartbeats shows it.
 */
export function watchedFetch(silenceMs: number, send: typeof fetch = fetch): typeof fetch {
  return async (input, init = {}) => {
    const control = new AbortController();
    const silence = () => control.abort(new Error('the connection is silent'));
    let timer = setTimeout(silence, silenceMs);
    const stop = () => clearTimeout(timer);
    const heard = () => {
      stop();
      timer = setTimeout(silence, silenceMs);
    };
    const signal = init.signal ? AbortSignal.any([init.signal, control.signal]) : control.signal;
    signal.addEventListener('abort', stop, { once: true });
    try {
      const response = await send(input, { ...init, signal });
      if (!response.body) {
        stop();
        return response;
      }
      heard();
      const bytes = response.body.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(chunk, controller) {
            heard();
            controller.enqueue(chunk);
          },
          flush: stop,
        }),
        { signal },
      );
      const { status, statusText, headers } = response;
      return new Response(bytes, { status, statusText, headers });
    } catch (error) {
      stop();
      throw error;
    }
  };
}
