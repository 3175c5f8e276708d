// Checks whether the local service is ready. Exits with code 0, or with 1 and the reason. For containers, which have no curl.
// Workers answer at METRICS_PORT.
const port = process.env.METRICS_PORT || process.env.PORT || '3000';
try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4000) });
  console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.log(String((error as Error).cause ?? error));
  process.exitCode = 1;
}
